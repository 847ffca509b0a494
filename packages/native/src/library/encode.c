/* Encoder of a struct array to a binary array of messages of one version. */
#include "writing.h"

#define LEAST 4096               /* minimum size of a block */

/* Allocates the output buffers: a block for the maximum size of all messages, or, if memory is short, a small one that
 * grows. */
static int allocate_output(Writing *writing, ColumnBuilder *output, int64_t rows)
{
    int64_t most = writing->estimate + (int64_t)(writing->programs->rows->most + 2 + SLACK) * (rows + 2) + LEAST;
    if (most > INT32_MAX) most = INT32_MAX;
    output->offsets = get_memory(4 * (rows + 1));
    output->valid = writing->inputs[0].valid == NULL ? NULL : get_memory((rows + 7) / 8);
    writing->block = new_block(most + 64);
    if (writing->block == NULL) writing->block = new_block((most = LEAST) + 64);
    if (output->offsets == NULL || writing->block == NULL || (output->valid == NULL && writing->inputs[0].valid != NULL)) return -1;
    if (output->valid != NULL) memset(output->valid, 0xff, (size_t)((rows + 7) / 8));
    writing->start = cut(writing->block, most);
    writing->limit = writing->start + most;
    return 0;
}

static Outcome encode_rows(Writing *writing, const Rows *rows, struct ArrowSchema *schema, struct ArrowArray *array, int64_t *bad)
{
    ColumnBuilder output = {0};
    Result result;
    writing->why = NO_MEMORY;
    if (allocate_output(writing, &output, rows->array->length) == 0 && write_rows(writing, rows, &output, bad) != NULL &&
        start_result(&result, 1, 8, 1) == 0) {
        if (output.nulls == 0) { free_memory(output.valid); output.valid = NULL; }
        add_column(&result, KIND_BYTES, "", rows->array->length, output.nulls, output.valid, output.offsets, writing->start);
        hand_over(&result, writing->block, schema, array);
        return SUCCEEDED;
    }
    free_memory(output.offsets);
    free_memory(output.valid);
    drop_block(writing->block);
    return writing->why;
}

Outcome encode_messages(const Plan *plan, const Rows *rows, struct ArrowSchema *schema, struct ArrowArray *array, int64_t *bad)
{
    int layout = layout_of(&plan->text, rows->version);
    if (!is_supported(plan, layout) || plan->has_unknown || !is_format(rows->schema, "+s")) return DECLINED;
    if (rows->sizes != NULL && rows->size_count != buffers_of(rows->schema, rows->array)) return DECLINED;
    if (rows->array->length > (int64_t)1 << 40) return NO_MEMORY;               /* products with it cannot overflow */
    Writing writing = {.plan = plan, .programs = programs_of(plan, layout, WRITING), .sizes = rows->sizes};
    writing.inputs = writing.programs == NULL ? NULL : get_zeros(plan->field_count * (int64_t)sizeof(Input));
    if (writing.inputs == NULL) return NO_MEMORY;
    Source source = {rows->schema, rows->array, 0};
    Span all = {.count = rows->array->length, .used = rows->array->length};
    Outcome outcome = DECLINED;
    if (bind_columns(&writing, 0, &source, all) == 0) outcome = encode_rows(&writing, rows, schema, array, bad);
    free_memory(writing.inputs);
    return outcome;
}
