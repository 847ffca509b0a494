/* Decoding loop: one operation after the other, element after element.
 *
 * With computed gotos each operation has its own jump, which the processor predicts better than a common one. */
#include "builder.h"

#if (defined(__GNUC__) || defined(__clang__)) && !defined(HAS_COMPUTED_JUMPS)
#define HAS_COMPUTED_JUMPS 1
#endif

#define FAIL do { decoding->why = MALFORMED; return NULL; } while (0)
#define GIVE_UP return NULL                                  /* `why` is set */
#define NEED(size) if (UNLIKELY(end - p < (int64_t)(size))) FAIL

typedef struct { uint32_t tag, size; const uint8_t *data; } Unknown;

static int by_tag(const void *one, const void *other)
{
    uint32_t a = ((const Unknown *)one)->tag, b = ((const Unknown *)other)->tag;
    return a < b ? -1 : a > b;
}

/* Rejects duplicate unknown tags, and fills the map of them, if any, in the order of tags. */
static int put_unknown(Decoding *decoding, const Op *op, int64_t row, Unknown *all, uint32_t count)
{
    Extent *extent = &decoding->extents[op->domain];
    if (count > 1) qsort(all, count, sizeof *all, by_tag);
    for (uint32_t k = 1; k < count; k++) if (all[k].tag == all[k - 1].tag) return refuse(decoding, MALFORMED);
    if (!(op->flags & UNKNOWN)) return 0;
    if (extent->length + count > extent->capacity && count > 0 && reserve(decoding, op->domain, count) < 0) return -1;
    ColumnBuilder *entry = decoding->builders + element_of(decoding->plan, op->field);
    for (uint32_t k = 0; k < count; k++) {
        int64_t tag = all[k].tag, i = extent->length++;
        memcpy(entry[1].data + 8 * i, &tag, 8);
        entry[2].offsets[i + 1] = (int32_t)entry[2].used;    /* keeps the offset valid if append() fails */
        if (append(decoding, &entry[2], i, all[k].data, all[k].size) < 0) return -1;
    }
    decoding->builders[op->field].offsets[row + 1] = (int32_t)extent->length;
    return 0;
}

/* Reads the fields of a tag section. A known one must use exactly its size, and no tag may occur twice. Unknown ones are
 * stored in `all`, which is allocated for those left, bounded by the input. */
static const uint8_t *read_fields(Decoding *decoding, const Op *op, int64_t i, uint32_t left, const uint8_t *p,
                                  const uint8_t *end, Unknown **all, uint32_t *found)
{
    const TextLayout *layout = op->layout;
    uint64_t seen = 0;
    uint32_t tag, size;
    NEED(2 * (int64_t)left);
    for (; left > 0; left--, p += size) {
        if ((p = get_varint32(p, end, &tag)) == NULL || (p = get_varint32(p, end, &size)) == NULL || (int64_t)size > end - p) FAIL;
        int k = find_tag(layout, tag);
        if (k >= 0) {
            if (seen >> k & 1) FAIL;
            seen |= (uint64_t)1 << k;
            const uint8_t *behind = read_elements(decoding, op + 1 + op->tags[k].first, op->tags[k].span, i, 1, p, p + size);
            if (behind == NULL) GIVE_UP;
            if (behind != p + size) FAIL;
        } else {
            if (is_foreign(layout, tag)) FAIL;
            decoding->why = NO_MEMORY;
            if (*all == NULL && (*all = get_memory(left * (int64_t)sizeof **all)) == NULL) GIVE_UP;
            (*all)[(*found)++] = (Unknown){tag, size, p};
        }
    }
    for (int k = 0; k < layout->tag_count; k++) {
        if (!(seen >> k & 1) && fill_default(decoding, op->tags[k].field, i) < 0) GIVE_UP;
    }
    return p;
}

static NOINLINE const uint8_t *read_tags(Decoding *decoding, const Op *op, int64_t i, uint32_t count, const uint8_t *p, const uint8_t *end)
{
    Unknown *all = NULL;
    uint32_t found = 0;
    p = read_fields(decoding, op, i, count, p, end, &all, &found);
    if (p != NULL && put_unknown(decoding, op, i, all, found) < 0) p = NULL;
    free_memory(all);
    return p;
}

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

/* Operations, and the places of their code; OP_STRUCT and OP_ABSENT, which do nothing, have the same. */
#define PLACE(code) [OP_##code] = &&at_##code,
#define FIXED_PLACE(name, letter, width, column_width, format) PLACE(name) [OP_REST + OP_##name] = &&rest_##name,
#define PLACES                                                                                                        \
    FIXED_KINDS(FIXED_PLACE) PLACE(TEXT) PLACE(COMPACT_TEXT) PLACE(BLOB) PLACE(COMPACT_BLOB) PLACE(LIST) PLACE(NUMBERS)  \
    PLACE(PRESENCE) PLACE(STRUCT) PLACE(TAGS) PLACE(NULL) PLACE(DEFAULT) [OP_ABSENT ... OP_REST - 1] = &&at_STRUCT

#if HAS_COMPUTED_JUMPS
#define JUMP goto *places[op->code]
#define AT(code) at_##code
#define REST(code) rest_##code
#else
#define JUMP goto dispatch
#define AT(code) case OP_##code
#define REST(code) case OP_REST + OP_##code
#endif
#define NEXT do { if (++op == last) goto next_element; builder = builders + op->field; JUMP; } while (0)
#define FIXED(CODE, BODY) AT(CODE): NEED(op->need); REST(CODE): BODY; NEXT
#define PUT(type, value) do { type x = (type)(value); memcpy(builder->data + i * (int64_t)sizeof(type), &x, sizeof x); } while (0)
#define COMPACT_LENGTH do { uint32_t u; if (UNLIKELY((p = get_varint32(p, end, &u)) == NULL)) FAIL; n = (int64_t)u - 1; } while (0)
#define FIXED_LENGTH(bits) do { NEED(bits / 8); n = (int##bits##_t)get##bits(p); p += bits / 8; } while (0)

const uint8_t *read_elements(Decoding *decoding, const Op *ops, uint32_t count, int64_t first, int64_t elements,
                             const uint8_t *p, const uint8_t *end)
{
#if HAS_COMPUTED_JUMPS
    static const void *const places[] = {PLACES};
#endif
    if (count == 0) return p;                                /* `ops` may be NULL */
    const Op *op, *last = ops + count;
    ColumnBuilder *builders = decoding->builders, *builder;
    int64_t n, i = first - 1, stop = first + elements;
next_element:
    if (++i == stop) return p;
    op = ops - 1;
    NEXT;
#if !HAS_COMPUTED_JUMPS
dispatch:
    switch (op->code) {
#else
    {
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
AT(COMPACT_TEXT):
    COMPACT_LENGTH;
    if (UNLIKELY(n > MAX_STRING)) FAIL;
    goto sized;
AT(TEXT):
    FIXED_LENGTH(16);
    goto sized;
AT(COMPACT_BLOB):
    COMPACT_LENGTH;
    goto sized;
AT(BLOB):
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
AT(NUMBERS):
AT(LIST): {
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
AT(PRESENCE):
    if (op->flags & TAGGED) {
        uint32_t u;
        if ((p = get_varint32(p, end, &u)) == NULL) FAIL;
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
AT(TAGS): {
    uint32_t u;
    if (UNLIKELY((p = get_varint32(p, end, &u)) == NULL)) FAIL;
    if (u > 0 || op->span > 0 || op->flags & UNKNOWN) {
        if (UNLIKELY((p = read_tags(decoding, op, i, u, p, end)) == NULL)) GIVE_UP;
        op += op->span;
    }
    NEXT;
}
AT(NULL):
    if (fill_null(decoding, op->field, i) < 0) GIVE_UP;
    NEXT;
AT(DEFAULT):
    if (fill_default(decoding, op->field, i) < 0) GIVE_UP;
    NEXT;
AT(STRUCT):
#if !HAS_COMPUTED_JUMPS
    default:
#endif
    NEXT;
    }
}
