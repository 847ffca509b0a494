/* Conversion of filled columns to finished ones: adjacent children, and zeros for columns without values. */
#include "builder.h"

static const char *const formats[] = {FIXED_KINDS(ARROW_FORMAT) "u", "z", "+s", "+l", "+m"};

typedef struct {
    Decoding *decoding;
    Column *columns;
    uint32_t *fields;            /* source field of each column */
    int count;
    void **owned;
    int owned_count;
    const uint8_t *zeros;
} Maker;

static const void *keep(Maker *maker, void *buffer)
{
    if (buffer == NULL) return maker->zeros;
    if (!is_inside(maker->decoding->block, buffer)) maker->owned[maker->owned_count++] = buffer;
    return buffer;
}

static void set_buffers(Maker *maker, const Field *field, ColumnBuilder *builder, Column *column, int is_live)
{
    if (!is_live) {
        column->nulls = column->length;
        column->buffers[0] = column->length > 0 ? maker->zeros : NULL;
    } else {
        column->nulls = builder->nulls;
        column->buffers[0] = builder->valid == NULL ? NULL : keep(maker, builder->valid);
    }
    column->buffer_count = 1;
    if (field->kind == KIND_STRUCT) return;
    column->buffer_count = field->kind < KIND_UUID || field->kind > KIND_BYTES ? 2 : 3;
    column->buffers[1] = keep(maker, field->kind < KIND_UUID ? builder->data : (void *)builder->offsets);
    if (column->buffer_count == 3) column->buffers[2] = keep(maker, builder->data);
}

static void add_column(Maker *maker, uint32_t number, const char *name)
{
    const Plan *plan = maker->decoding->plan;
    const Field *field = &plan->fields[number];
    Column *column = &maker->columns[maker->count];
    maker->fields[maker->count++] = number;
    *column = (Column){.format = formats[field->kind], .name = name, .flags = ARROW_FLAG_NULLABLE};
    column->length = maker->decoding->extents[field->domain].length;
    set_buffers(maker, field, &maker->decoding->builders[number], column, maker->decoding->is_live[number]);
}

static void add_children(Maker *maker, int parent, const char *trailing, const char *corrupt)
{
    const Plan *plan = maker->decoding->plan;
    uint32_t number = maker->fields[parent];
    const Field *field = &plan->fields[number];
    int first = maker->count;
    if (field->kind == KIND_LIST || field->kind == KIND_MAP) {
        uint32_t element = element_of(plan, number);
        add_column(maker, element, plan->fields[element].name);
        if (field->kind == KIND_MAP) maker->columns[first].flags = 0;
    } else if (field->kind == KIND_STRUCT) {
        int is_entry = strcmp(plan->fields[number].name, "entries") == 0 && maker->columns[parent].flags == 0;
        for (uint32_t kid = number + 1; kid < number + field->span; kid += plan->fields[kid].span) {
            add_column(maker, kid, plan->fields[kid].name);
            if (is_entry && kid == number + 1) maker->columns[maker->count - 1].flags = 0;
        }
        if (number == 0 && trailing != NULL) add_column(maker, plan->trailing, trailing);
        if (number == 0 && corrupt != NULL) add_column(maker, plan->corrupt, corrupt);
    }
    maker->columns[parent].first_child = first;
    maker->columns[parent].child_count = maker->count - first;
}

/* Returns the size of the shared zero buffer, which must fit the longest column without values. */
static int64_t zeros_of(const Decoding *decoding)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < decoding->plan->field_count; i++) {
        int64_t length = decoding->extents[decoding->plan->fields[i].domain].length;
        if (!decoding->is_live[i] && length > most) most = length;
    }
    return 8 * most + 64;
}

/* Returns the filled columns as capsules, which own them; on failure they are freed. */
PyObject *columns_of(Decoding *decoding, const char *trailing, const char *corrupt)
{
    int64_t count = decoding->plan->field_count;
    Maker maker = {.decoding = decoding};
    PyObject *result = NULL;
    void *zeros = get_zeros(zeros_of(decoding));
    char *memory = get_memory(count * (int64_t)(sizeof(Column) + 3 * sizeof(void *) + sizeof(uint32_t)) + (int64_t)sizeof(void *));
    if (zeros == NULL || memory == NULL) {
        free_memory(zeros);
        drop_builders(decoding);
        PyErr_NoMemory();
    } else {
        maker.zeros = zeros;
        maker.columns = (Column *)memory;
        maker.owned = (void **)(maker.columns + count);
        maker.fields = (uint32_t *)(maker.owned + 3 * count + 1);
        maker.owned[maker.owned_count++] = zeros;
        add_column(&maker, 0, "");
        for (int i = 0; i < maker.count; i++) add_children(&maker, i, trailing, corrupt);
        result = handed_over(maker.columns, maker.count, decoding->block, maker.owned, maker.owned_count);
        free_memory(decoding->builders);
        free_memory(decoding->extents);
    }
    free_memory(memory);
    return result;
}
