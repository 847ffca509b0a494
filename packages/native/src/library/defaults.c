/* Comparison of column values with the defaults of their fields. */
#include "writing.h"

/* Checks whether a non-null value is the column's default; not for structs. -1 with `why` for invalid offsets. */
static int is_default(Writing *writing, uint32_t number, int64_t i)
{
    const Field *field = &writing->plan->fields[number];
    const Input *input = &writing->inputs[number];
    int64_t at = input->base + i, start, limit;
    double given, wanted;
    switch (field->kind) {
    case KIND_BOOL: return (input->data[at >> 3] >> (at & 7) & 1) == field->bits;
    case KIND_FLOAT64:
        memcpy(&given, input->data + 8 * at, 8);
        memcpy(&wanted, &field->bits, 8);
        return given == wanted;
    case KIND_UUID: case KIND_STRING: case KIND_BYTES: case KIND_LIST: {
        limit = field->kind == KIND_LIST ? INT32_MAX : input->bytes;
        int64_t size = run_at(input, i, limit, &start);
        if (size < 0) return refuse(writing, DECLINED);
        if (field->kind == KIND_LIST) return size == 0;
        if (field->kind == KIND_UUID) {
            uint8_t one[16], other[16];                      /* several texts denote the same uuid */
            return size == 22 && field->text_size == 22 && uuid_of(one, input->data + start) == 0 &&
                   uuid_of(other, (const uint8_t *)field->text) == 0 && memcmp(one, other, 16) == 0;
        }
        return size == field->text_size && (size == 0 || memcmp(input->data + start, field->text, (size_t)size) == 0);
    }
    default: return integer_at(input, i) == field->bits;
    }
}

/* Checks whether the value of a field that the version lacks may be omitted: null or the default. */
int may_be_left_out(Writing *writing, const Op *op, int64_t i)
{
    const Field *field = &writing->plan->fields[op->field];
    if (is_null_at(&writing->inputs[op->field], i)) return 1;
    if (field->is_null) return 0;
    if (field->kind == KIND_STRUCT) return refuse(writing, DECLINED);
    return is_default(writing, op->field, i);
}

int is_at_default(Writing *writing, const Op *ops, uint32_t count, int64_t i)
{
    for (const Op *op = ops, *last = ops + count; op < last; op++) {
        if (op->code == OP_TAGS) continue;
        const Field *field = &writing->plan->fields[op->field];
        int is_null = is_null_at(&writing->inputs[op->field], i), same = 1;
        if (op->code == OP_ABSENT) same = may_be_left_out(writing, op, i);
        else if (is_null != field->is_null) same = 0;
        else if (is_null) op += op->span;
        else if (field->kind != KIND_STRUCT) same = is_default(writing, op->field, i);
        if (same != 1) return same;
    }
    return 1;
}
