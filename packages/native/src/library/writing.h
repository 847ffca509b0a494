/* Columns during encoding. */
#pragma once

#include "builder.h"

/* An input column of `count` values; its value i is at index `base` + i. */
typedef struct {
    const uint8_t *valid, *data;
    const void *offsets;         /* int32 */
    int64_t base, count;
    int64_t bytes;               /* text columns: last offset of the array, at most the size of the data buffer */
    uint8_t width;               /* bytes of an integer, possibly not the field's width; else 0 */
    uint8_t is_unsent;           /* missing, or of Arrow's type null: null everywhere */
} Input;

/* Part of an array used as a column: `count` values from `start` on, of which the rows use `used` from `first` on. */
typedef struct { int64_t start, count, first, used; } Span;

typedef struct {
    const Plan *plan;
    const Programs *programs;
    Input *inputs;
    const int64_t *sizes;        /* as in Rows */
    int64_t estimate;            /* upper bound of the bytes of all messages, from the lengths of texts and lists */
    Block *block;
    uint8_t *start, *limit;      /* output buffer */
    Outcome why;
} Writing;

/* An array to bind; `place` is the number of its first buffer. */
typedef struct { const struct ArrowSchema *schema; const struct ArrowArray *array; int64_t place; } Source;

/* inputs.c: finds the columns of a field and of its contents; -1 if declined */
int bind_columns(Writing *writing, uint32_t field, const Source *source, Span span);
int64_t buffers_of(const struct ArrowSchema *schema, const struct ArrowArray *array);    /* in pyarrow's list, with those of children */

/* defaults.c; -1 with `why` */
int is_at_default(Writing *writing, const Op *ops, uint32_t count, int64_t i);
int may_be_left_out(Writing *writing, const Op *op, int64_t i);                     /* for fields that the version lacks */

/* encode.c: encodes a struct array of `rows` values to a binary array of messages; MALFORMED: `bad` is the first bad row */
typedef struct {
    const struct ArrowSchema *schema;
    const struct ArrowArray *array;
    const int64_t *sizes;        /* of the array's buffers, depth first; NULL to trust the offsets */
    int64_t size_count;
    int version, has_prefix;     /* has_prefix: the version precedes each message */
} Rows;
Outcome encode_messages(const Plan *plan, const Rows *rows, struct ArrowSchema *schema, struct ArrowArray *array, int64_t *bad);

/* write.c: writes all messages; returns the position after them, or NULL with `why` and the first bad row */
const uint8_t *write_rows(Writing *writing, const Rows *rows, ColumnBuilder *output, int64_t *bad);

INLINE int is_null_at(const Input *input, int64_t i)
{
    return input->is_unsent || !is_set(input->valid, input->base + i);
}

INLINE int64_t integer_at(const Input *input, int64_t i)
{
    int64_t at = input->base + i;
    int16_t half;
    switch (input->width) {
    case 1: return (int8_t)input->data[at];
    case 2: memcpy(&half, input->data + 2 * at, 2); return half;
    case 4: return int32_in(input->data, at);
    default: return int64_in(input->data, at);
    }
}

/* Returns the size of a value and its position; -1 for invalid offsets. */
INLINE int64_t run_at(const Input *input, int64_t i, int64_t limit, int64_t *start)
{
    int64_t at = input->base + i, from = int32_in(input->offsets, at), to = int32_in(input->offsets, at + 1);
    *start = from;
    return from < 0 || to < from || to > limit ? -1 : to - from;
}
