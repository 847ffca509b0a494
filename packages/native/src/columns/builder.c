/* Memory of columns, null and default values, and rollback of bad rows. */
#include "builder.h"

#define FIRST_CAPACITY 32            /* elements of a new column; enough for most lists of small arrays */
#define FIRST_BYTES 256

int start_builders(Decoding *decoding, const Plan *plan, const uint8_t *is_live)
{
    *decoding = (Decoding){.plan = plan, .is_live = is_live};
    decoding->builders = get_zeros(plan->field_count * (int64_t)sizeof(ColumnBuilder));
    decoding->extents = get_zeros(plan->domain_count * (int64_t)sizeof(Extent));
    if (decoding->builders != NULL && decoding->extents != NULL) return 0;
    free_memory(decoding->builders);
    free_memory(decoding->extents);
    return -1;
}

void drop_builders(Decoding *decoding)
{
    for (uint32_t i = 0; i < decoding->plan->field_count; i++) {
        ColumnBuilder *builder = &decoding->builders[i];
        free_buffer(decoding->block, builder->data);
        free_buffer(decoding->block, builder->offsets);
        free_buffer(decoding->block, builder->valid);
    }
    drop_block(decoding->block);
    free_memory(decoding->builders);
    free_memory(decoding->extents);
}

static int has_data(int kind) { return kind < KIND_UUID; }
static int has_offsets(int kind) { return kind >= KIND_UUID && kind != KIND_STRUCT; }

/* Moves the buffers of a column to larger ones. */
static int grow(Decoding *decoding, int kind, ColumnBuilder *builder, int64_t from, int64_t to)
{
    const Block *block = decoding->block;
    if (has_data(kind)) {
        int64_t old = bytes_of(kind, from), size = bytes_of(kind, to);
        uint8_t *data = moved(block, builder->data, old, size + SLACK);
        if (data == NULL) return refuse(decoding, NO_MEMORY);
        if (kind == KIND_BOOL) memset(data + old, 0, (size_t)(size - old));
        builder->data = data;
    } else if (has_offsets(kind)) {
        int is_first = builder->offsets == NULL;
        int32_t *offsets = moved(block, builder->offsets, 4 * (from + 1), 4 * (to + 1));
        if (offsets == NULL) return refuse(decoding, NO_MEMORY);
        if (is_first) offsets[0] = 0;
        builder->offsets = offsets;
    }
    if (builder->valid != NULL) {
        uint8_t *valid = moved(block, builder->valid, (from + 7) / 8, (to + 7) / 8);
        if (valid == NULL) return refuse(decoding, NO_MEMORY);
        memset(valid + (from + 7) / 8, 0xff, (size_t)((to + 7) / 8 - (from + 7) / 8));
        builder->valid = valid;
    }
    return 0;
}

NOINLINE int reserve(Decoding *decoding, uint32_t domain, int64_t count)
{
    Extent *extent = &decoding->extents[domain];
    const Domain *fields = &decoding->plan->domains[domain];
    int64_t wanted = extent->length + count, capacity = extent->capacity * 2;
    if (wanted > INT32_MAX - 1) return refuse(decoding, DECLINED);
    if (capacity < wanted) capacity = wanted;
    if (capacity < FIRST_CAPACITY && domain > 0) capacity = FIRST_CAPACITY;
    if (capacity > INT32_MAX - 1) capacity = INT32_MAX - 1;
    for (uint32_t i = fields->first; i < fields->first + fields->count; i++) {
        if (!decoding->is_live[i]) continue;
        if (grow(decoding, decoding->plan->fields[i].kind, &decoding->builders[i], extent->capacity, capacity) < 0) return -1;
    }
    extent->capacity = capacity;
    return 0;
}

NOINLINE int reserve_bytes(Decoding *decoding, ColumnBuilder *builder, int64_t count)
{
    int64_t wanted = builder->used + count + SLACK, capacity = builder->capacity * 2;
    if (builder->used + count > INT32_MAX) return refuse(decoding, DECLINED);
    if (capacity < wanted) capacity = wanted;
    if (capacity < FIRST_BYTES) capacity = FIRST_BYTES;
    uint8_t *data = moved(decoding->block, builder->data, builder->used, capacity);
    if (data == NULL) return refuse(decoding, NO_MEMORY);
    builder->data = data;
    builder->capacity = capacity;
    return 0;
}

/* ---- one block for all columns, after the first rows */

/* Moves a buffer into the block; with `sum`, only adds the required size to it. */
static void *move_to_block(Decoding *decoding, void *buffer, int64_t used, int64_t size, int64_t *sum)
{
    if (sum != NULL) { *sum += size + 64; return buffer; }
    void *place = cut(decoding->block, size);
    if (buffer != NULL) memcpy(place, buffer, (size_t)used);
    free_memory(buffer);
    return place;
}

static void spread(Decoding *decoding, uint32_t i, int64_t rows, double factor, int64_t *sum)
{
    const Field *field = &decoding->plan->fields[i];
    ColumnBuilder *builder = &decoding->builders[i];
    Extent *extent = &decoding->extents[field->domain];
    int64_t from = extent->capacity, to = field->domain == 0 ? rows : (int64_t)((double)extent->length * factor) + 64;
    if (to < from) to = from;
    if (has_data(field->kind)) {
        int64_t old = bytes_of(field->kind, from), size = bytes_of(field->kind, to);
        builder->data = move_to_block(decoding, builder->data, old, size + SLACK, sum);
        if (sum == NULL && field->kind == KIND_BOOL) memset(builder->data + old, 0, (size_t)(size - old));
    } else if (has_offsets(field->kind)) {
        int is_first = builder->offsets == NULL;
        builder->offsets = move_to_block(decoding, builder->offsets, 4 * (from + 1), 4 * (to + 1), sum);
        if (sum == NULL && is_first) builder->offsets[0] = 0;
    }
    if (builder->valid != NULL) {
        builder->valid = move_to_block(decoding, builder->valid, (from + 7) / 8, (to + 7) / 8, sum);
        if (sum == NULL) memset(builder->valid + (from + 7) / 8, 0xff, (size_t)((to + 7) / 8 - (from + 7) / 8));
    }
    if (field->kind < KIND_UUID || field->kind > KIND_BYTES || builder->data == NULL) return;
    int64_t capacity = (int64_t)((double)builder->used * factor) + 64 + SLACK;
    if (capacity < builder->capacity) capacity = builder->capacity;
    builder->data = move_to_block(decoding, builder->data, builder->used, capacity, sum);
    if (sum == NULL) builder->capacity = capacity;
}

/* Allocates one block for all columns. Its size is that of the rows so far, multiplied by `factor`. Without a block,
 * because it would exceed `most` bytes or memory is short, each column grows by itself. */
int make_block(Decoding *decoding, int64_t rows, double factor, int64_t most)
{
    const Plan *plan = decoding->plan;
    int64_t size = 64;
    for (uint32_t i = 0; i < plan->domain_count; i++) {
        if ((double)decoding->extents[i].length * factor > INT32_MAX - 100) return 0;
    }
    for (uint32_t i = 0; i < plan->field_count && size <= most; i++) {
        if (decoding->is_live[i]) spread(decoding, i, rows, factor, &size);
    }
    if (size > most || (decoding->block = new_block(size)) == NULL) return 0;
    for (uint32_t i = 0; i < plan->field_count; i++) {
        if (decoding->is_live[i]) spread(decoding, i, rows, factor, NULL);
    }
    for (uint32_t i = 0; i < plan->domain_count; i++) {
        Extent *extent = &decoding->extents[i];
        int64_t capacity = i == 0 ? rows : (int64_t)((double)extent->length * factor) + 64;
        if (capacity > extent->capacity) extent->capacity = capacity;
    }
    return 0;
}

/* ---- nulls and defaults */

int set_null(Decoding *decoding, uint32_t field, int64_t i)
{
    ColumnBuilder *builder = &decoding->builders[field];
    if (UNLIKELY(builder->valid == NULL)) {
        int64_t size = (decoding->extents[decoding->plan->fields[field].domain].capacity + 7) / 8;
        builder->valid = get_memory(size);
        if (builder->valid == NULL) return refuse(decoding, NO_MEMORY);
        memset(builder->valid, 0xff, (size_t)size);
    }
    builder->nulls += builder->valid[i >> 3] >> (i & 7) & 1;
    builder->valid[i >> 3] &= (uint8_t)~(1 << (i & 7));
    return 0;
}

static void put_number(uint8_t *data, int kind, int64_t i, int64_t value)
{
    int8_t small = (int8_t)value;
    int16_t half = (int16_t)value;
    int32_t word = (int32_t)value;
    switch (kind) {
    case KIND_BOOL: if (value) data[i >> 3] |= (uint8_t)(1 << (i & 7)); break;
    case KIND_INT8: memcpy(data + i, &small, 1); break;
    case KIND_INT16: memcpy(data + 2 * i, &half, 2); break;
    case KIND_UINT16: case KIND_INT32: memcpy(data + 4 * i, &word, 4); break;
    default: memcpy(data + 8 * i, &value, 8);
    }
}

/* Stores a missing value: a zero, or no bytes or elements. */
static void put_nothing(Decoding *decoding, const Field *field, ColumnBuilder *builder, int64_t i)
{
    if (has_data(field->kind)) put_number(builder->data, field->kind, i, 0);
    else if (field->kind == KIND_LIST || field->kind == KIND_MAP) {
        builder->offsets[i + 1] = (int32_t)decoding->extents[field->inner].length;
    } else if (field->kind != KIND_STRUCT) builder->offsets[i + 1] = (int32_t)builder->used;
}

static int put_text(Decoding *decoding, ColumnBuilder *builder, int64_t i, const Field *field)
{
    int64_t size = field->text_size;
    if (builder->used + size + SLACK > builder->capacity && reserve_bytes(decoding, builder, size) < 0) return -1;
    memcpy(builder->data + builder->used, field->text, (size_t)size);
    builder->used += size;
    builder->offsets[i + 1] = (int32_t)builder->used;
    return 0;
}

int fill_null(Decoding *decoding, uint32_t field, int64_t i)
{
    uint32_t end = field + decoding->plan->fields[field].span;
    for (; field < end; field++) {
        if (!decoding->is_live[field]) continue;
        put_nothing(decoding, &decoding->plan->fields[field], &decoding->builders[field], i);
        if (set_null(decoding, field, i) < 0) return -1;
    }
    return 0;
}

int fill_default(Decoding *decoding, uint32_t first, int64_t i)
{
    uint32_t end = first + decoding->plan->fields[first].span, step;
    for (; first < end; first += step) {
        const Field *field = &decoding->plan->fields[first];
        ColumnBuilder *builder = &decoding->builders[first];
        step = 1;
        if (field->is_null) {
            step = field->span;
            if (fill_null(decoding, first, i) < 0) return -1;
        } else if (field->kind < KIND_UUID) {
            put_number(builder->data, field->kind, i, field->bits);
        } else if (field->text_size > 0) {
            if (put_text(decoding, builder, i, field) < 0) return -1;
        } else {
            put_nothing(decoding, field, builder, i);
        }
    }
    return 0;
}

/* Removes the elements of a domain from position `length` on, with their bytes and nested elements. */
void roll_back(Decoding *decoding, uint32_t domain, int64_t length)
{
    Extent *extent = &decoding->extents[domain];
    const Domain *fields = &decoding->plan->domains[domain];
    if (extent->capacity == 0) return;                           /* nothing stored */
    for (uint32_t k = fields->first; k < fields->first + fields->count; k++) {
        const Field *field = &decoding->plan->fields[k];
        ColumnBuilder *builder = &decoding->builders[k];
        if (!decoding->is_live[k]) continue;
        for (int64_t i = length; builder->valid != NULL && i < extent->length; i++) {
            builder->nulls -= !(builder->valid[i >> 3] >> (i & 7) & 1);
            builder->valid[i >> 3] |= (uint8_t)(1 << (i & 7));
        }
        if (field->kind == KIND_BOOL) {
            for (int64_t i = length; i < extent->length; i++) builder->data[i >> 3] &= (uint8_t)~(1 << (i & 7));
        } else if (field->kind == KIND_LIST || field->kind == KIND_MAP) {
            roll_back(decoding, field->inner, builder->offsets[length]);
        } else if (has_offsets(field->kind)) {
            builder->used = builder->offsets[length];
        }
    }
    extent->length = length;
}
