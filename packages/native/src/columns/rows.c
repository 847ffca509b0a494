/* Decoding loop: one operation after the other, element after element.
 *
 * With computed gotos each operation has its own jump, which the processor predicts better than a common one. */
#include "builder.h"

#include <stdlib.h>

#if (defined(__GNUC__) || defined(__clang__)) && !defined(HAS_COMPUTED_JUMPS)
#define HAS_COMPUTED_JUMPS 1
#endif

#define FAIL do { decoding->why = MALFORMED; return NULL; } while (0)
#define GIVE_UP return NULL                                  /* `why` is set */
#define NEED(size) if (UNLIKELY(end - p < (int64_t)(size))) FAIL

/* Reads an unsigned varint of 32 bits, usually one byte; returns the position after it, or NULL. */
INLINE const uint8_t *uvarint(const uint8_t *p, const uint8_t *end, uint32_t *value)
{
    if (LIKELY(p < end && *p < 128)) { *value = *p; return p + 1; }
    uint64_t wide = 0;
    p = get_varint(p, end, 32, &wide);
    *value = (uint32_t)wide;
    return p;
}

/* ---- tagged fields */

typedef struct { uint32_t tag, size; const uint8_t *data; } Unknown;

static int by_tag(const void *one, const void *other)
{
    uint32_t a = ((const Unknown *)one)->tag, b = ((const Unknown *)other)->tag;
    return a < b ? -1 : a > b;
}

/* Appends an entry to the map of unknown tags. */
static int put_unknown(Decoding *decoding, const Op *op, const Unknown *unknown)
{
    Extent *extent = &decoding->extents[op->domain];
    if (extent->length == extent->capacity && reserve(decoding, op->domain, 1) < 0) return -1;
    ColumnBuilder *entry = decoding->builders + element_of(decoding->plan, op->field);
    int64_t tag = unknown->tag, i = extent->length++;
    memcpy(entry[1].data + 8 * i, &tag, 8);
    entry[2].offsets[i + 1] = (int32_t)entry[2].used;        /* keeps the offset valid if append() fails */
    return append(decoding, &entry[2], i, unknown->data, unknown->size);
}

static int is_known(const Tags *tags, uint32_t tag)
{
    for (uint32_t i = 0; i < tags->count; i++) if (tags->tags[i].tag == tag) return 1;
    return 0;
}

/* Handles the unknown tags of a section of `count` fields: rejects duplicates and fills the map. */
static int take_unknown(Decoding *decoding, const Op *op, uint32_t count, uint32_t unknown_count, const uint8_t *p,
                        const uint8_t *end)
{
    Unknown few[16], *all = few;
    uint32_t found = 0;
    int is_sorted = 1, result = 0;
    if (unknown_count > 16 && (all = get_memory(unknown_count * (int64_t)sizeof(Unknown))) == NULL) return refuse(decoding, NO_MEMORY);
    for (; count > 0; count--) {
        Unknown each;
        if ((p = uvarint(p, end, &each.tag)) == NULL || (p = uvarint(p, end, &each.size)) == NULL) break;
        if ((int64_t)each.size > end - p) break;
        each.data = p;
        p += each.size;
        if (is_known(op->tags, each.tag)) continue;
        if (found == unknown_count) break;
        is_sorted = is_sorted && (found == 0 || all[found - 1].tag < each.tag);
        all[found++] = each;
    }
    if (count > 0) result = refuse(decoding, MALFORMED);      /* bytes changed by another thread */
    if (!is_sorted) qsort(all, found, sizeof(Unknown), by_tag);
    for (uint32_t i = 0; result == 0 && i < found; i++) {
        if (i > 0 && all[i].tag == all[i - 1].tag) result = refuse(decoding, MALFORMED);
        else if (op->flags & UNKNOWN) result = put_unknown(decoding, op, &all[i]);
    }
    if (all != few) free_memory(all);
    return result;
}

static const uint8_t *read_tags(Decoding *decoding, const Op *op, int64_t i, uint32_t count, const uint8_t *p, const uint8_t *end)
{
    const Tags *tags = op->tags;
    const uint8_t *start = p;
    uint64_t seen = 0;
    uint32_t unknown = 0, tag, size, k;
    NEED(2 * (int64_t)count);
    for (uint32_t left = count; left > 0; left--) {
        if ((p = uvarint(p, end, &tag)) == NULL || (p = uvarint(p, end, &size)) == NULL || (int64_t)size > end - p) FAIL;
        for (k = 0; k < tags->count && tags->tags[k].tag != tag; k++) {}
        if (k < tags->count) {
            if (seen >> k & 1) FAIL;
            seen |= (uint64_t)1 << k;
            const uint8_t *behind = read_elements(decoding, op + 1 + tags->tags[k].first, tags->tags[k].span, i, 1, p, p + size);
            if (behind == NULL) GIVE_UP;
            if (behind != p + size) FAIL;
        } else {
            for (k = 0; k < tags->foreign_count; k++) if (tags->foreign[k] == tag) FAIL;
            unknown++;
        }
        p += size;
    }
    for (k = 0; k < tags->count; k++) {
        if (!(seen >> k & 1) && fill_default(decoding, tags->tags[k].field, i) < 0) GIVE_UP;
    }
    if (unknown > 0 && take_unknown(decoding, op, count, unknown, start, end) < 0) GIVE_UP;
    if (op->flags & UNKNOWN) {
        decoding->builders[op->field].offsets[i + 1] = (int32_t)decoding->extents[op->domain].length;
    }
    return p;
}

/* ---- arrays of numbers */

static void put_numbers(uint8_t *to, int kind, int64_t count, const uint8_t *p)
{
    int64_t i;
    uint16_t half;
    uint32_t word;
    uint64_t wide;
    switch (kind) {
    case KIND_INT8: memcpy(to, p, (size_t)count); break;
    case KIND_INT16: for (i = 0; i < count; i++) { half = get16(p + 2 * i); memcpy(to + 2 * i, &half, 2); } break;
    case KIND_UINT16: for (i = 0; i < count; i++) { word = get16(p + 2 * i); memcpy(to + 4 * i, &word, 4); } break;
    case KIND_INT32: for (i = 0; i < count; i++) { word = get32(p + 4 * i); memcpy(to + 4 * i, &word, 4); } break;
    case KIND_UINT32: for (i = 0; i < count; i++) { wide = get32(p + 4 * i); memcpy(to + 8 * i, &wide, 8); } break;
    default: for (i = 0; i < count; i++) { wide = get64(p + 8 * i); memcpy(to + 8 * i, &wide, 8); }
    }
}

/* ---- the loop */

/* Operations and their labels; other operations do nothing. */
#define JUMPS(X, FIXED_X)                                                                                             \
    FIXED_KINDS(FIXED_X) X(OP_TEXT, at_TEXT) X(OP_COMPACT_TEXT, at_COMPACT_TEXT) X(OP_BLOB, at_BLOB)                    \
    X(OP_COMPACT_BLOB, at_COMPACT_BLOB) X(OP_LIST, at_LIST) X(OP_NUMBERS, at_NUMBERS) X(OP_PRESENCE, at_PRESENCE)     \
    X(OP_TAGS, at_TAGS) X(OP_NULL, at_NULL) X(OP_DEFAULT, at_DEFAULT)
#define PLACE(code, label) [code] = &&label,
#define FIXED_PLACE(name, letter, width, column_width, format) PLACE(OP_##name, at_##name) PLACE(OP_REST + OP_##name, rest_##name)
#define GAPS [OP_STRUCT] = &&at_STRUCT, [OP_ABSENT ... OP_REST - 1] = &&at_STRUCT
#define CASE(code, label) case code: goto label;
#define FIXED_CASE(name, letter, width, column_width, format) CASE(OP_##name, at_##name) CASE(OP_REST + OP_##name, rest_##name)

#if HAS_COMPUTED_JUMPS
#define JUMP goto *places[op->code]
#else
#define JUMP goto dispatch
#endif
#define NEXT do { if (++op == last) goto next_element; builder = builders + op->field; JUMP; } while (0)
#define FIXED(CODE, BODY) at_##CODE: NEED(op->need); rest_##CODE: BODY; NEXT
#define PUT(type, value) do { type x = (type)(value); memcpy(builder->data + i * (int64_t)sizeof(type), &x, sizeof x); } while (0)
#define COMPACT_LENGTH do { uint32_t u; if (UNLIKELY((p = uvarint(p, end, &u)) == NULL)) FAIL; n = (int64_t)u - 1; } while (0)
#define FIXED_LENGTH(bits) do { NEED(bits / 8); n = (int##bits##_t)get##bits(p); p += bits / 8; } while (0)

const uint8_t *read_elements(Decoding *decoding, const Op *ops, uint32_t count, int64_t first, int64_t elements,
                             const uint8_t *p, const uint8_t *end)
{
#if HAS_COMPUTED_JUMPS
    static const void *const places[] = {JUMPS(PLACE, FIXED_PLACE) GAPS};
#endif
    const Op *op, *last = ops + count;
    ColumnBuilder *builders = decoding->builders, *builder;
    int64_t n, i = first - 1, stop = first + elements;
    if (count == 0) return p;
next_element:
    if (++i == stop) return p;
    op = ops - 1;
    NEXT;
#if !HAS_COMPUTED_JUMPS
dispatch:
    switch (op->code) {
    JUMPS(CASE, FIXED_CASE)
    default: goto at_STRUCT;
    }
#endif
    FIXED(BOOL, if (*p++ != 0) builder->data[i >> 3] |= (uint8_t)(1 << (i & 7)));
    FIXED(INT8, builder->data[i] = *p++);
    FIXED(INT16, PUT(uint16_t, get16(p)); p += 2);
    FIXED(UINT16, PUT(uint32_t, get16(p)); p += 2);
    FIXED(INT32, PUT(uint32_t, get32(p)); p += 4);
    FIXED(UINT32, PUT(uint64_t, get32(p)); p += 4);
    FIXED(INT64, PUT(uint64_t, get64(p)); p += 8);
    FIXED(FLOAT64, PUT(uint64_t, get64(p)); p += 8);
    FIXED(UUID,
        if (UNLIKELY(builder->used + 22 + SLACK > builder->capacity) && reserve_bytes(decoding, builder, 22) < 0) GIVE_UP;
        uuid_text(builder->data + builder->used, p);
        builder->used += 22;
        builder->offsets[i + 1] = (int32_t)builder->used;
        p += 16);
at_COMPACT_TEXT:
    COMPACT_LENGTH;
    if (UNLIKELY(n > MAX_STRING)) FAIL;
    goto sized;
at_TEXT:
    FIXED_LENGTH(16);
    goto sized;
at_COMPACT_BLOB:
    COMPACT_LENGTH;
    goto sized;
at_BLOB:
    FIXED_LENGTH(32);
sized:
    if (UNLIKELY(n < 0)) {
        if (!(op->flags & NULLABLE)) FAIL;
        builder->offsets[i + 1] = (int32_t)builder->used;
        if (set_null(decoding, op->field, i) < 0) GIVE_UP;
        NEXT;
    }
    NEED(n);
    if (UNLIKELY(append(decoding, builder, i, p, n) < 0)) GIVE_UP;
    if (UNLIKELY(decoding->checks_texts) && op->kind == KIND_STRING &&     /* the copy: another thread may change the bytes */
        !is_utf8(builder->data + builder->used - n, builder->data + builder->used)) FAIL;
    p += n;
    NEXT;
at_NUMBERS:
at_LIST: {
    Extent *extent = &decoding->extents[op->domain];
    if (op->flags & COMPACT) COMPACT_LENGTH;
    else FIXED_LENGTH(32);
    builder->offsets[i + 1] = (int32_t)extent->length;
    if (UNLIKELY(n < 0)) {
        if (!(op->flags & NULLABLE)) FAIL;
        if (set_null(decoding, op->field, i) < 0) GIVE_UP;
        NEXT;
    }
    if (UNLIKELY(op->flags & EMPTY ? n > MAX_EMPTY : n * (int64_t)op->need > end - p)) FAIL;
    if (UNLIKELY(extent->length + n > extent->capacity) && n > 0 && reserve(decoding, op->domain, n) < 0) GIVE_UP;
    int64_t from = extent->length;
    extent->length += n;
    builder->offsets[i + 1] = (int32_t)extent->length;
    if (op->code == OP_LIST) {
        if (n > 0 && (p = read_elements(decoding, op->program->ops, op->program->count, from, n, p, end)) == NULL) GIVE_UP;
        NEXT;
    }
    if (n > 0) {
        ColumnBuilder *numbers = builders + op->program->ops->field;
        if (LIKELY(op->element == KIND_INT32 && n <= 4 && p < decoding->safe)) {   /* each column has space for four */
            uint32_t a = get32(p), b = get32(p + 4), c = get32(p + 8), d = get32(p + 12);
            uint8_t *to = numbers->data + 4 * from;
            memcpy(to, &a, 4);
            memcpy(to + 4, &b, 4);
            memcpy(to + 8, &c, 4);
            memcpy(to + 12, &d, 4);
        } else {
            put_numbers(numbers->data + bytes_of(op->element, from), op->element, n, p);
        }
        p += n * (int64_t)op->need;
    }
    NEXT;
}
at_PRESENCE:
    if (op->flags & TAGGED) {
        uint32_t u;
        if ((p = uvarint(p, end, &u)) == NULL) FAIL;
        n = u > 0;
    } else {
        NEED(1);
        n = *p++ < 128;
    }
    if (n == 0) {
        if (fill_null(decoding, op->field, i) < 0) GIVE_UP;
        op += op->span;
    }
    NEXT;
at_TAGS: {
    uint32_t u;
    if (UNLIKELY((p = uvarint(p, end, &u)) == NULL)) FAIL;
    if (u > 0 || op->span > 0 || op->flags & UNKNOWN) {
        if (UNLIKELY((p = read_tags(decoding, op, i, u, p, end)) == NULL)) GIVE_UP;
        op += op->span;
    }
    NEXT;
}
at_NULL:
    if (fill_null(decoding, op->field, i) < 0) GIVE_UP;
    NEXT;
at_DEFAULT:
    if (fill_default(decoding, op->field, i) < 0) GIVE_UP;
    NEXT;
at_STRUCT:
    NEXT;
}
