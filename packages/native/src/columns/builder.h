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

typedef enum { MALFORMED, DECLINED, NO_MEMORY } Why;

typedef struct {
    const Plan *plan;
    const uint8_t *is_live;
    ColumnBuilder *builders;
    Extent *extents;
    Block *block;                /* NULL until the first rows are read */
    const uint8_t *safe;         /* below this position, SLACK bytes can be read */
    int checks_texts;            /* with VALIDATE_UTF8: validate each text when read, else whole columns */
    Why why;                     /* reason of a failure */
} Decoding;

/* builder.c; -1 with `why` */
int start_builders(Decoding *decoding, const Plan *plan, const uint8_t *is_live);    /* -1 if out of memory */
void drop_builders(Decoding *decoding);
int reserve(Decoding *decoding, uint32_t domain, int64_t count);
int reserve_bytes(Decoding *decoding, ColumnBuilder *builder, int64_t count);
int make_block(Decoding *decoding, int64_t rows, double factor, int64_t most);
int set_null(Decoding *decoding, uint32_t field, int64_t i);
int fill_null(Decoding *decoding, uint32_t field, int64_t i);        /* with all nested columns */
int fill_default(Decoding *decoding, uint32_t field, int64_t i);
void roll_back(Decoding *decoding, uint32_t domain, int64_t length);

/* values.c */
int is_utf8(const uint8_t *p, const uint8_t *end);
int are_utf8(const uint8_t *data, const int32_t *offsets, int64_t count);

/* rows.c: reads elements according to `ops`; returns the position after them, or NULL with `why` */
const uint8_t *read_elements(Decoding *decoding, const Op *ops, uint32_t count, int64_t first, int64_t elements,
                             const uint8_t *p, const uint8_t *end);

/* Python functions */
PyObject *decode(PyObject *module, PyObject *args);
PyObject *encode(PyObject *module, PyObject *args);
PyObject *columns_of(Decoding *decoding, const char *trailing, const char *corrupt);

/* Bytes of `count` values of a kind in a column. */
INLINE int64_t bytes_of(int kind, int64_t count)
{
    static const uint8_t widths[] = {FIXED_KINDS(COLUMN_WIDTH)};
    return kind == KIND_BOOL ? (count + 7) / 8 : count * widths[kind];
}

/* Returns -1 and sets `why`, for a Decoding or a Writing. */
#define refuse(owner, reason) ((owner)->why = (reason), -1)

INLINE int append(Decoding *decoding, ColumnBuilder *builder, int64_t i, const uint8_t *p, int64_t size)
{
    if (UNLIKELY(builder->used + size + SLACK > builder->capacity) && reserve_bytes(decoding, builder, size) < 0) return -1;
    if (LIKELY(size <= SLACK && p < decoding->safe)) memcpy(builder->data + builder->used, p, SLACK);
    else if (size > 0) memcpy(builder->data + builder->used, p, (size_t)size);
    builder->used += size;
    builder->offsets[i + 1] = (int32_t)builder->used;
    return 0;
}
