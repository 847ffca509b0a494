/* Encoding loop: writes what the decoding loop (rows.c) reads.
 *
 * Space is reserved for the maximum size of an element, and again for each text and list, so invalid offsets cause
 * neither writes beyond the limit nor reads outside a column. */
#include "writing.h"

#define FAIL do { writing->why = MALFORMED; return NULL; } while (0)
#define DECLINE do { writing->why = DECLINED; return NULL; } while (0)
#define RESERVE(size) if (UNLIKELY(writing->limit - q < (int64_t)(size)) && (q = grow_output(writing, q, (size))) == NULL) return NULL

static NOINLINE uint8_t *grow_output(Writing *writing, uint8_t *q, int64_t size)
{
    int64_t used = q - writing->start, capacity = 2 * (used + size) + 64;
    if (used + size > INT32_MAX) DECLINE;            /* more than int32 offsets can address; Python encodes the array */
    Block *block = new_block(capacity);
    uint8_t *start = block == NULL ? NULL : cut(block, capacity - 64);
    if (start == NULL) { drop_block(block); writing->why = NO_MEMORY; return NULL; }
    memcpy(start, writing->start, (size_t)used);
    drop_block(writing->block);
    writing->block = block;
    writing->start = start;
    writing->limit = start + capacity - 64;
    return start + used;
}

#define MOST(letter, width) (INT64_MAX >> ((width) < 8 ? 64 - 8 * (width) - ((letter) < 'a') : 0))
#define LOWEST(name, letter, width, column_width, format) (letter) < 'a' ? 0 : -MOST(letter, width) - 1,
#define HIGHEST(name, letter, width, column_width, format) MOST(letter, width),

static int fits(int kind, int64_t value)
{
    static const int64_t lowest[] = {FIXED_KINDS(LOWEST)}, highest[] = {FIXED_KINDS(HIGHEST)};
    return value >= lowest[kind] && value <= highest[kind];
}

INLINE uint8_t *put_integer(uint8_t *q, int code, int64_t value)
{
    switch (code) {
    case OP_INT8: *q = (uint8_t)value; return q + 1;
    case OP_INT16: case OP_UINT16: put16(q, (uint16_t)value); return q + 2;
    case OP_INT32: case OP_UINT32: put32(q, (uint32_t)value); return q + 4;
    default: put64(q, (uint64_t)value); return q + 8;
    }
}

/* Writes the length of a text or list, or null. */
INLINE uint8_t *put_length(uint8_t *q, const Op *op, int64_t length)
{
    if (op->flags & COMPACT) return put_varint(q, (uint32_t)(length + 1));
    if (op->code == OP_TEXT) { put16(q, (uint16_t)length); return q + 2; }
    put32(q, (uint32_t)length);
    return q + 4;
}

static uint8_t *write_elements(Writing *writing, const Op *ops, uint32_t count, uint32_t most, int64_t first, int64_t stop, uint8_t *q);

static uint8_t *write_sized(Writing *writing, const Op *op, const Input *input, int64_t i, uint32_t most, uint8_t *q)
{
    int64_t start, limit = input->bytes, size = run_at(input, i, limit, &start);
    if (size < 0) DECLINE;
    if (op->kind == KIND_STRING && size > MAX_STRING) FAIL;
    q = put_length(q, op, size);
    RESERVE(size + SLACK + most);
    if (LIKELY(size <= SLACK && start + SLACK <= limit)) memcpy(q, input->data + start, SLACK);
    else if (size > 0) memcpy(q, input->data + start, (size_t)size);
    return q + size;
}

/* Writes adjacent numbers of the wire type, without nulls. */
static uint8_t *write_numbers(const Op *op, const Input *numbers, int64_t start, int64_t count, uint8_t *q)
{
    int64_t i, first = numbers->base + start;
    const uint8_t *from = numbers->data + first * numbers->width;
    uint16_t half;
    uint32_t word;
    uint64_t wide;
    switch (op->element) {
    case KIND_INT8: memcpy(q, from, (size_t)count); return q + count;
    case KIND_INT16: for (i = 0; i < count; i++, q += 2) { memcpy(&half, from + 2 * i, 2); put16(q, half); } return q;
    case KIND_INT32: for (i = 0; i < count; i++, q += 4) { memcpy(&word, from + 4 * i, 4); put32(q, word); } return q;
    default: for (i = 0; i < count; i++, q += 8) { memcpy(&wide, from + 8 * i, 8); put64(q, wide); } return q;
    }
}

static uint8_t *write_list(Writing *writing, const Op *op, const Input *input, int64_t i, uint32_t most, uint8_t *q)
{
    static const uint8_t widths[] = {FIXED_KINDS(WIDTH)}, column_widths[] = {FIXED_KINDS(COLUMN_WIDTH)};
    const Program *program = op->program;
    const Input *elements = &writing->inputs[element_of(writing->plan, op->field)];
    int64_t start, count = run_at(input, i, elements->count, &start);
    if (count < 0) DECLINE;
    q = put_length(q, op, count);
    int width = op->code == OP_NUMBERS && elements->valid == NULL ? elements->width : 0;
    if (count > 0 && width > 0 && width == widths[op->element] && width == column_widths[op->element]) {
        RESERVE(count * (int64_t)op->need + most);
        return write_numbers(op, elements, start, count, q);
    }
    if (count > 0 && (q = write_elements(writing, program->ops, program->count, program->most, start, start + count, q)) == NULL) return NULL;
    RESERVE(most);
    return q;
}

/* Writes a tagged field. Its size is known afterwards: one byte is reserved, and more inserted if necessary. */
static uint8_t *write_tagged(Writing *writing, const Op *op, int k, uint32_t most, int64_t i, uint8_t *q)
{
    const Tag *tag = &op->tags[k];
    q = put_varint(q, op->layout->tags[k].tag);
    int64_t at = q - writing->start;
    if ((q = write_elements(writing, op + 1 + tag->first, tag->span, most, i, i + 1, q + 1)) == NULL) return NULL;
    RESERVE(most + 5);
    uint8_t *body = writing->start + at + 1, head[5];
    int64_t size = q - body, width = put_varint(head, (uint32_t)size) - head;
    if (size > INT32_MAX) DECLINE;
    if (width > 1) memmove(body + width - 1, body, (size_t)size);
    memcpy(body - 1, head, (size_t)width);
    return q + width - 1;
}

static uint8_t *write_tags(Writing *writing, const Op *op, uint32_t most, int64_t i, uint8_t *q)
{
    int tags = op->layout->tag_count;
    uint64_t sent = 0;
    uint32_t count = 0;
    for (int k = 0; k < tags; k++) {
        int same = is_at_default(writing, op + 1 + op->tags[k].first, op->tags[k].span, i);
        if (same < 0) return NULL;
        sent |= (uint64_t)!same << k;
        count += !same;
    }
    q = put_varint(q, count);
    for (int k = 0; k < tags; k++) {
        if (sent >> k & 1 && (q = write_tagged(writing, op, k, most, i, q)) == NULL) return NULL;
    }
    return q;
}

static uint8_t *write_null(Writing *writing, const Op *op, uint8_t *q)
{
    if (!(op->flags & NULLABLE)) FAIL;
    if (op->code != OP_PRESENCE) return put_length(q, op, -1);
    *q++ = op->flags & TAGGED ? 0 : 0xff;
    return q;
}

static uint8_t *write_elements(Writing *writing, const Op *ops, uint32_t count, uint32_t most, int64_t first, int64_t stop, uint8_t *q)
{
    if (count == 0) return q;                                /* `ops` may be NULL */
    const Op *last = ops + count;
    for (int64_t i = first; i < stop; i++) {
        RESERVE(most);
        for (const Op *op = ops; op < last; op++) {
            const Input *input = &writing->inputs[op->field];
            int64_t at = input->base + i, value;
            int same;
            if (UNLIKELY(input->valid != NULL || input->is_unsent) && op->code != OP_TAGS && op->code != OP_ABSENT && is_null_at(input, i)) {
                if ((q = write_null(writing, op, q)) == NULL) return NULL;
                op += op->span;
                continue;
            }
            switch (op->code) {
            case OP_BOOL: *q++ = input->data[at >> 3] >> (at & 7) & 1; break;
            case OP_INT8: case OP_INT16: case OP_UINT16: case OP_INT32: case OP_UINT32: case OP_INT64:
                value = integer_at(input, i);
                if (UNLIKELY(!fits(op->kind, value))) FAIL;
                q = put_integer(q, op->code, value);
                break;
            case OP_FLOAT64: memcpy(&value, input->data + 8 * at, 8); put64(q, (uint64_t)value); q += 8; break;
            case OP_UUID: {
                int64_t start, size = run_at(input, i, input->bytes, &start);
                if (size < 0) DECLINE;
                if (size != 22 || uuid_of(q, input->data + start) < 0) FAIL;
                q += 16;
                break;
            }
            case OP_TEXT: case OP_COMPACT_TEXT: case OP_BLOB: case OP_COMPACT_BLOB:
                if ((q = write_sized(writing, op, input, i, most, q)) == NULL) return NULL;
                break;
            case OP_LIST: case OP_NUMBERS:
                if ((q = write_list(writing, op, input, i, most, q)) == NULL) return NULL;
                break;
            case OP_PRESENCE: *q++ = 1; break;
            case OP_TAGS:
                if ((q = write_tags(writing, op, most, i, q)) == NULL) return NULL;
                op += op->span;
                break;
            case OP_ABSENT:
                same = op->flags & REFUSED ? may_be_left_out(writing, op, i) : 1;
                if (same < 0) return NULL;
                if (!same) FAIL;
                break;
            default: break;
            }
        }
    }
    return q;
}

const uint8_t *write_rows(Writing *writing, const Rows *rows, ColumnBuilder *output, int64_t *bad)
{
    const Program *program = writing->programs->rows;
    const Input *root = &writing->inputs[0];
    uint8_t *q = writing->start;
    output->offsets[0] = 0;
    for (int64_t i = 0; i < rows->array->length; i++) {
        if (is_null_at(root, i)) {
            output->valid[i >> 3] &= (uint8_t)~(1 << (i & 7));
            output->nulls++;
        } else {
            *bad = i;
            RESERVE(2);
            if (rows->has_prefix) { put16(q, (uint16_t)rows->version); q += 2; }
            if ((q = write_elements(writing, program->ops, program->count, program->most, i, i + 1, q)) == NULL) return NULL;
            if (UNLIKELY(q - writing->start > INT32_MAX)) { writing->why = DECLINED; return NULL; }
        }
        output->offsets[i + 1] = (int32_t)(q - writing->start);
    }
    return q;
}
