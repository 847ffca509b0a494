/* Checks of values: UTF-8 of decoded texts; defaults and uuid texts before encoding. */
#include "writing.h"

static int is_continuation(uint8_t byte) { return (byte & 0xc0) == 0x80; }

/* Checks bytes against the table of well-formed UTF-8 in chapter 3 of the Unicode standard. */
int is_utf8(const uint8_t *p, const uint8_t *end)
{
    while (p < end) {
        uint64_t eight;
        while (end - p >= 8 && (memcpy(&eight, p, 8), (eight & 0x8080808080808080u) == 0)) p += 8;
        if (p == end) return 1;
        uint8_t lead = *p++;
        if (lead < 0x80) continue;
        uint8_t lowest = 0x80, highest = 0xbf;
        int more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
        if (lead < 0xc2 || lead > 0xf4 || end - p < more) return 0;
        if (lead == 0xe0) lowest = 0xa0;                     /* no overlong form */
        if (lead == 0xed) highest = 0x9f;                    /* no surrogates */
        if (lead == 0xf0) lowest = 0x90;
        if (lead == 0xf4) highest = 0x8f;                    /* not above U+10FFFF */
        if (*p < lowest || *p > highest) return 0;
        for (int i = 1; i < more; i++) if (!is_continuation(p[i])) return 0;
        p += more;
    }
    return 1;
}

/* Validates all texts of a column: valid if the whole is and none starts inside a character. */
int are_utf8(const uint8_t *data, const int32_t *offsets, int64_t count)
{
    int64_t size = count == 0 || offsets == NULL ? 0 : offsets[count];
    uint8_t any = 0;
    for (int64_t i = 0; i < size; i++) any |= data[i];
    if (any < 0x80) return 1;
    if (!is_utf8(data, data + size)) return 0;
    for (int64_t i = 0; i < count; i++) if (offsets[i] < size && is_continuation(data[offsets[i]])) return 0;
    return 1;
}

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

/* Checks whether all values of some operations are at their default. */
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

static uint8_t sextet_of(uint8_t letter)
{
    if (letter >= 'A' && letter <= 'Z') return letter - 'A';
    if (letter >= 'a' && letter <= 'z') return letter - 'a' + 26;
    if (letter >= '0' && letter <= '9') return letter - '0' + 52;
    return letter == '-' ? 62 : letter == '_' ? 63 : 255;
}

/* Decodes 22 characters of URL-safe base64 to 16 bytes; -1 for other characters. */
int uuid_of(uint8_t *to, const uint8_t *text)
{
    uint32_t bits = 0, count = 0, at = 0;
    for (int i = 0; i < 22; i++) {
        uint8_t sextet = sextet_of(text[i]);
        if (sextet > 63) return -1;
        bits = bits << 6 | sextet;
        count += 6;
        if (count >= 8 && at < 16) { count -= 8; to[at++] = (uint8_t)(bits >> count); }
    }
    return 0;
}
