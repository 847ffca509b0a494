/* Columns during decoding. */
#pragma once

#include "plan.h"

/* A column with its buffers. Texts and bytes use `used` of `capacity` bytes. */
typedef struct {
    uint8_t *data;
    int32_t *offsets;
    uint8_t *valid;              /* NULL without nulls */
    int64_t used, capacity, nulls;
    int64_t spare[2];            /* pads to 64 bytes */
} ColumnBuilder;

typedef struct { int64_t length, capacity; } Extent;             /* of all columns of a domain */

typedef struct {
    const Plan *plan;
    const uint8_t *is_live;      /* the other columns have no buffers */
    ColumnBuilder *builders;
    Extent *extents;
    Block *block;                /* NULL until the first rows are read */
    const uint8_t *safe;         /* below this position, SLACK bytes can be read */
    int checks_texts;            /* with VALIDATE_UTF8: validate each text when read, else whole columns */
    Outcome why;                 /* reason of a failure */
} Decoding;

/* builder.c; -1 with `why` */
int start_builders(Decoding *decoding, const Plan *plan, const uint8_t *is_live);
void drop_builders(Decoding *decoding);
int reserve(Decoding *decoding, uint32_t domain, int64_t count);
int reserve_bytes(Decoding *decoding, ColumnBuilder *builder, int64_t count);
void make_block(Decoding *decoding, int64_t rows, double factor, int64_t most);
int set_null(Decoding *decoding, uint32_t field, int64_t i);
int fill_null(Decoding *decoding, uint32_t field, int64_t i);        /* with all nested columns */
int fill_default(Decoding *decoding, uint32_t field, int64_t i);
void roll_back(Decoding *decoding, uint32_t domain, int64_t length);

/* rows.c: reads elements according to `ops`; returns the position after them, or NULL with `why` */
const uint8_t *read_elements(Decoding *decoding, const Op *ops, uint32_t count, int64_t first, int64_t elements,
                             const uint8_t *p, const uint8_t *end);

/* decode.c: arguments of decode_messages() */
enum { EMIT_DEFAULTS = 1, VALIDATE_UTF8 = 2, IGNORE_REST = 4, PERMISSIVE = 8 };
typedef struct {
    const struct ArrowArray *array;          /* of type binary or large_binary, with three buffers */
    int is_large;
    int64_t size;                            /* of the data buffer */
    int has_prefix;                          /* each message follows its version */
    int64_t version;                         /* of all rows */
    const struct ArrowArray *versions;       /* int64 by row, as many as rows; or NULL */
    int options;
    const char *trailing, *corrupt;          /* names of optional columns, or NULL */
} Messages;
Outcome decode_messages(const Plan *plan, const Messages *messages, struct ArrowSchema *schema, struct ArrowArray *array,
                        int64_t *bad);       /* MALFORMED: `bad` is the first bad row */

/* result.c: collects finished columns, and exports them as an Arrow schema and array */
typedef struct {
    struct Held *held;
    int count;
} Result;
int start_result(Result *result, int64_t columns, int64_t zeros, int64_t names);     /* -1 if out of memory */
void add_column(Result *result, int kind, const char *name, int64_t length, int64_t nulls, const void *valid,
                const void *offsets, const void *data);
void hand_over(Result *result, Block *block, struct ArrowSchema *schema, struct ArrowArray *array);   /* owns the buffers */
Outcome export_columns(Decoding *decoding, const char *trailing, const char *corrupt, struct ArrowSchema *schema,
                       struct ArrowArray *array);    /* consumes the columns */

/* Bytes of `count` values of a kind in a column. */
INLINE int64_t bytes_of(int kind, int64_t count)
{
    static const uint8_t widths[] = {FIXED_KINDS(COLUMN_WIDTH)};
    return kind == KIND_BOOL ? (count + 7) / 8 : count * widths[kind];
}

INLINE int has_data(int kind) { return kind < KIND_UUID; }
INLINE int has_bytes(int kind) { return kind >= KIND_UUID && kind <= KIND_BYTES; }
INLINE int has_elements(int kind) { return kind == KIND_LIST || kind == KIND_MAP; }

/* Returns -1 and sets `why`, for a Decoding or a Writing. */
#define refuse(owner, reason) ((owner)->why = (reason), -1)

/* Appends a text. reserve_bytes() keeps SLACK bytes behind the buffer's used part, so a short text, which is usual,
 * is copied with a fixed size if the input also has so many bytes. */
INLINE int append(Decoding *decoding, ColumnBuilder *builder, int64_t i, const uint8_t *p, int64_t size)
{
    if (UNLIKELY(builder->used + size + SLACK > builder->capacity) && reserve_bytes(decoding, builder, size) < 0) return -1;
    if (LIKELY(size <= SLACK && p < decoding->safe)) memcpy(builder->data + builder->used, p, SLACK);
    else if (size > 0) memcpy(builder->data + builder->used, p, (size_t)size);
    builder->used += size;
    builder->offsets[i + 1] = (int32_t)builder->used;
    return 0;
}
