/* Export of finished columns as an Arrow schema and an Arrow array.
 *
 * Consumers may move a child out of an array and keep it alone. So each array frees its own buffers, and all arrays and
 * schemas hold a reference to the shared memory, which the last one frees. That may happen in any thread, at any time. */
#include "builder.h"

struct Held {
    volatile long references;
    Block *block;
    const void *zeros;                       /* buffer of columns without values */
    struct ArrowArray *arrays, **array_pointers;
    struct ArrowSchema *schemas, **schema_pointers;
    const void **buffers;                    /* three for each array */
    char *names;                             /* place of the next one */
};

static void let_go(struct Held *held)
{
    if (ADD_AND_FETCH(&held->references, -1) > 0) return;
    drop_block(held->block);
    free_memory(held);
}

static void release_array(struct ArrowArray *array)
{
    struct Held *held = array->private_data;
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release != NULL) array->children[i]->release(array->children[i]);
    }
    for (int64_t i = 0; i < array->n_buffers; i++) {
        if (array->buffers[i] != held->zeros) free_buffer(held->block, (void *)array->buffers[i]);
    }
    array->release = NULL;
    let_go(held);
}

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->release != NULL) schema->children[i]->release(schema->children[i]);
    }
    schema->release = NULL;
    let_go(schema->private_data);
}

/* Allocates memory for a number of columns, bytes of zeros and bytes of names. */
int start_result(Result *result, int64_t columns, int64_t zeros, int64_t names)
{
    int64_t of_column = sizeof(struct ArrowArray) + sizeof(struct ArrowSchema) + 5 * sizeof(void *);
    struct Held *held = get_zeros((int64_t)sizeof(struct Held) + columns * of_column + zeros + names);
    *result = (Result){held, 0};
    if (held == NULL) return -1;
    held->arrays = (struct ArrowArray *)(held + 1);
    held->schemas = (struct ArrowSchema *)(held->arrays + columns);
    held->array_pointers = (struct ArrowArray **)(held->schemas + columns);
    held->schema_pointers = (struct ArrowSchema **)(held->array_pointers + columns);
    held->buffers = (const void **)(held->schema_pointers + columns);
    held->zeros = held->buffers + 3 * columns;
    held->names = (char *)held->zeros + zeros;
    return 0;
}

/* Adds a column; missing buffers are zeros, except for `valid`. Formats are static, names are copied. */
void add_column(Result *result, int kind, const char *name, int64_t length, int64_t nulls, const void *valid,
                const void *offsets, const void *data)
{
    static const char *const formats[] = {FIXED_KINDS(ARROW_FORMAT) "u", "z", "+s", "+l", "+m"};
    struct Held *held = result->held;
    struct ArrowArray *array = held->array_pointers[result->count] = &held->arrays[result->count];
    struct ArrowSchema *schema = held->schema_pointers[result->count] = &held->schemas[result->count];
    const void **buffers = held->buffers + 3 * result->count++;
    int64_t buffer_count = 1;
    buffers[0] = valid;
    if (kind >= KIND_UUID && kind != KIND_STRUCT) buffers[buffer_count++] = offsets == NULL ? held->zeros : offsets;
    if (kind <= KIND_BYTES) buffers[buffer_count++] = data == NULL ? held->zeros : data;
    *array = (struct ArrowArray){
        .length = length, .null_count = nulls, .n_buffers = buffer_count, .buffers = buffers, .release = release_array,
        .private_data = held,
    };
    *schema = (struct ArrowSchema){
        .format = formats[kind], .name = strcpy(held->names, name), .flags = ARROW_FLAG_NULLABLE, .release = release_schema,
        .private_data = held,
    };
    held->names += strlen(name) + 1;
}

/* Moves the first column, with its children, to the caller. */
void hand_over(Result *result, Block *block, struct ArrowSchema *schema, struct ArrowArray *array)
{
    result->held->references = 2 * result->count;
    result->held->block = block;
    *schema = result->held->schemas[0];
    *array = result->held->arrays[0];
}

typedef struct {
    const Decoding *decoding;
    Result result;
    uint32_t *fields;                        /* source field of each column */
} Maker;

static void add_field(Maker *maker, uint32_t number, const char *name, int is_nullable)
{
    const Decoding *decoding = maker->decoding;
    const Field *field = &decoding->plan->fields[number];
    const ColumnBuilder *builder = &decoding->builders[number];
    int64_t length = decoding->extents[field->domain].length;
    int is_empty = !decoding->is_live[number];
    const void *valid = is_empty && length > 0 ? maker->result.held->zeros : builder->valid;
    maker->fields[maker->result.count] = number;
    add_column(&maker->result, field->kind, name, length, is_empty ? length : builder->nulls, valid, builder->offsets, builder->data);
    if (!is_nullable) maker->result.held->schemas[maker->result.count - 1].flags = 0;
}

/* Adds the children of a column. They are adjacent, and follow all columns of higher levels. */
static void add_children(Maker *maker, int parent, const char *trailing, const char *corrupt)
{
    const Plan *plan = maker->decoding->plan;
    uint32_t number = maker->fields[parent];
    const Field *field = &plan->fields[number];
    int first = maker->result.count;
    struct ArrowArray *array = &maker->result.held->arrays[parent];
    struct ArrowSchema *schema = &maker->result.held->schemas[parent];
    if (has_elements(field->kind)) {
        uint32_t element = element_of(plan, number);
        add_field(maker, element, plan->fields[element].name, field->kind == KIND_LIST);
    } else if (field->kind == KIND_STRUCT) {
        int is_entry = number > 0 && schema->flags == 0;         /* of a map, whose keys are not nullable */
        for (uint32_t kid = number + 1; kid < number + field->span; kid += plan->fields[kid].span) {
            add_field(maker, kid, plan->fields[kid].name, !is_entry || kid > number + 1);
        }
        if (number == 0 && trailing != NULL) add_field(maker, plan->trailing, trailing, 1);
        if (number == 0 && corrupt != NULL) add_field(maker, plan->corrupt, corrupt, 1);
    }
    array->n_children = schema->n_children = maker->result.count - first;
    if (array->n_children == 0) return;
    array->children = maker->result.held->array_pointers + first;
    schema->children = maker->result.held->schema_pointers + first;
}

Outcome export_columns(Decoding *decoding, const char *trailing, const char *corrupt, struct ArrowSchema *schema,
                       struct ArrowArray *array)
{
    const Plan *plan = decoding->plan;
    Maker maker = {.decoding = decoding};
    int64_t most = 0, names = (trailing == NULL ? 0 : strlen(trailing)) + (corrupt == NULL ? 0 : strlen(corrupt));
    for (uint32_t i = 0; i < plan->field_count; i++) {
        int64_t length = decoding->extents[plan->fields[i].domain].length;
        if (!decoding->is_live[i] && length > most) most = length;
        names += (int64_t)strlen(plan->fields[i].name) + 1;
    }
    maker.fields = get_memory(plan->field_count * (int64_t)sizeof(uint32_t));
    if (maker.fields == NULL || start_result(&maker.result, plan->field_count, 8 * most + 64, names) < 0) {
        free_memory(maker.fields);
        drop_builders(decoding);
        return NO_MEMORY;
    }
    add_field(&maker, 0, "", 1);
    for (int i = 0; i < maker.result.count; i++) add_children(&maker, i, trailing, corrupt);
    free_memory(maker.fields);
    hand_over(&maker.result, decoding->block, schema, array);
    free_memory(decoding->builders);
    free_memory(decoding->extents);
    return SUCCEEDED;
}
