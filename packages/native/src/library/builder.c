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
    drop_builders(decoding);
    return -1;
}

void drop_builders(Decoding *decoding)
{
    for (uint32_t i = 0; decoding->builders != NULL && i < decoding->plan->field_count; i++) {
        ColumnBuilder *builder = &decoding->builders[i];
        free_buffer(decoding->block, builder->data);
        free_buffer(decoding->block, builder->offsets);
        free_buffer(decoding->block, builder->valid);
    }
    drop_block(decoding->block);
    free_memory(decoding->builders);
    free_memory(decoding->extents);
}

/* Moves the buffers of a column, except for its bytes, when its capacity grows. New bits are defined: false or valid. */
static int grow(Decoding *decoding, uint32_t number, int64_t from, int64_t to)
{
    int kind = decoding->plan->fields[number].kind;
    ColumnBuilder *builder = &decoding->builders[number];
    if (has_data(kind)) {
        int64_t old = bytes_of(kind, from), size = bytes_of(kind, to);
        uint8_t *data = moved(decoding->block, builder->data, old, size + SLACK);
        if (data == NULL) return refuse(decoding, NO_MEMORY);
        if (kind == KIND_BOOL) memset(data + old, 0, (size_t)(size - old));
        builder->data = data;
    } else if (kind != KIND_STRUCT) {
        int is_first = builder->offsets == NULL;
        int32_t *offsets = moved(decoding->block, builder->offsets, 4 * (from + 1), 4 * (to + 1));
        if (offsets == NULL) return refuse(decoding, NO_MEMORY);
        if (is_first) offsets[0] = 0;
        builder->offsets = offsets;
    }
    if (builder->valid != NULL) {
        int64_t old = (from + 7) / 8, size = (to + 7) / 8;
        uint8_t *valid = moved(decoding->block, builder->valid, old, size);
        if (valid == NULL) return refuse(decoding, NO_MEMORY);
        memset(valid + old, 0xff, (size_t)(size - old));
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
        if (decoding->is_live[i] && grow(decoding, i, extent->capacity, capacity) < 0) return -1;
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

static int64_t planned(const Decoding *decoding, uint32_t domain, int64_t rows, double factor)
{
    const Extent *extent = &decoding->extents[domain];
    int64_t wanted = domain == 0 ? rows : (int64_t)((double)extent->length * factor) + 64;
    return wanted > extent->capacity ? wanted : extent->capacity;
}

static int64_t planned_bytes(const ColumnBuilder *builder, double factor)
{
    int64_t wanted = (int64_t)((double)builder->used * factor) + 64 + SLACK;
    return wanted > builder->capacity ? wanted : builder->capacity;
}

/* Returns the bytes that a column takes in the block, at most. */
static int64_t size_in_block(const Decoding *decoding, uint32_t number, int64_t count, double factor)
{
    int kind = decoding->plan->fields[number].kind;
    const ColumnBuilder *builder = &decoding->builders[number];
    int64_t size = 3 * 64;                                       /* alignment */
    if (has_data(kind)) size += bytes_of(kind, count) + SLACK;
    else if (kind != KIND_STRUCT) size += 4 * (count + 1);
    if (builder->valid != NULL) size += (count + 7) / 8;
    return has_bytes(kind) && builder->data != NULL ? size + planned_bytes(builder, factor) : size;
}

/* Allocates one block for all columns, of the size of the rows so far, multiplied by `factor`, and moves them into it, which
 * cannot fail. Without a block, because it would exceed `most` bytes or memory is short, each column grows by itself. */
void make_block(Decoding *decoding, int64_t rows, double factor, int64_t most)
{
    const Plan *plan = decoding->plan;
    int64_t size = 64;
    for (uint32_t i = 0; i < plan->domain_count; i++) {
        if ((double)decoding->extents[i].length * factor > INT32_MAX - 100) return;
    }
    for (uint32_t i = 0; i < plan->field_count && size <= most; i++) {
        if (decoding->is_live[i]) size += size_in_block(decoding, i, planned(decoding, plan->fields[i].domain, rows, factor), factor);
    }
    if (size > most || (decoding->block = new_block(size)) == NULL) return;
    for (uint32_t i = 0; i < plan->field_count; i++) {
        const Field *field = &plan->fields[i];
        ColumnBuilder *builder = &decoding->builders[i];
        if (!decoding->is_live[i]) continue;
        grow(decoding, i, decoding->extents[field->domain].capacity, planned(decoding, field->domain, rows, factor));
        if (!has_bytes(field->kind) || builder->data == NULL) continue;
        int64_t capacity = planned_bytes(builder, factor);
        builder->data = moved(decoding->block, builder->data, builder->used, capacity);
        builder->capacity = capacity;
    }
    for (uint32_t i = 0; i < plan->domain_count; i++) decoding->extents[i].capacity = planned(decoding, i, rows, factor);
}

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
    else if (has_elements(field->kind)) builder->offsets[i + 1] = (int32_t)decoding->extents[field->inner].length;
    else if (has_bytes(field->kind)) builder->offsets[i + 1] = (int32_t)builder->used;
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
            if (append(decoding, builder, i, (const uint8_t *)field->text, field->text_size) < 0) return -1;
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
        } else if (has_elements(field->kind)) {
            roll_back(decoding, field->inner, builder->offsets[length]);
        } else if (has_bytes(field->kind)) {
            builder->used = builder->offsets[length];
        }
    }
    extent->length = length;
}
