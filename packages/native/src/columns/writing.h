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
    const VersionPrograms *programs;
    Input *inputs;
    PyObject *buffers;           /* list of the array's buffers, depth first, None where missing; NULL to trust the offsets */
    int64_t estimate;            /* upper bound of the bytes of all messages, from the lengths of texts and lists */
    Block *block;
    uint8_t *start, *limit;      /* output buffer */
    Why why;
} Writing;

/* inputs.c: finds the columns of a field and of its contents; `place` is the number of the array's first buffer. -1 if
 * declined */
int bind_columns(Writing *writing, uint32_t field, const struct ArrowSchema *schema, const struct ArrowArray *array, Span span,
                 int64_t place);
int64_t buffers_of(const struct ArrowArray *array);                                 /* with those of all children */

/* values.c */
int is_at_default(Writing *writing, const Op *ops, uint32_t count, int64_t i);      /* -1 with `why` */
int may_be_left_out(Writing *writing, const Op *op, int64_t i);                     /* for fields that the version lacks; -1 with `why` */
int uuid_of(uint8_t *to, const uint8_t *text);

/* write.c: return the position after the output, or NULL with `why` */
uint8_t *write_version(Writing *writing, int version, uint8_t *q);
uint8_t *write_elements(Writing *writing, const Op *ops, uint32_t count, uint32_t most, int64_t first, int64_t stop, uint8_t *q);

INLINE int is_null_at(const Input *input, int64_t i)
{
    int64_t at = input->base + i;
    return input->is_unsent || (input->valid != NULL && !(input->valid[at >> 3] >> (at & 7) & 1));
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
