/* Encoder of a struct array to a binary array of messages of one version: the function `encode`. */
#include "writing.h"

typedef struct {
    int32_t *offsets;
    uint8_t *valid;              /* NULL without nulls */
    int64_t nulls, bad;
} Result;

static const uint8_t *messages(Writing *writing, Result *result, int64_t rows, int prefix, int version)
{
    const Program *program = writing->programs->rows;
    const Input *root = &writing->inputs[0];
    uint8_t *q = writing->start;
    result->offsets[0] = 0;
    for (int64_t i = 0; i < rows; i++) {
        if (is_null_at(root, i)) {
            result->valid[i >> 3] &= (uint8_t)~(1 << (i & 7));
            result->nulls++;
        } else {
            result->bad = i;
            if (prefix && (q = write_version(writing, version, q)) == NULL) return NULL;
            if ((q = write_elements(writing, program->ops, program->count, program->most, i, i + 1, q)) == NULL) return NULL;
            if (UNLIKELY(q - writing->start > INT32_MAX)) { writing->why = DECLINED; return NULL; }
        }
        result->offsets[i + 1] = (int32_t)(q - writing->start);
    }
    return q;
}

#define LEAST 4096               /* minimum size of a block */

/* Allocates the output buffers: a block for the maximum size of all messages, or, if memory is short, a small one that
 * grows. */
static int allocate_output(Writing *writing, Result *result, int64_t rows)
{
    int64_t most = writing->estimate + (int64_t)(writing->programs->rows->most + 2 + SLACK) * (rows + 2) + LEAST;
    if (most > INT32_MAX) most = INT32_MAX;
    result->offsets = get_memory(4 * (rows + 1));
    result->valid = writing->inputs[0].valid == NULL ? NULL : get_memory((rows + 7) / 8);
    writing->block = new_block(most + 64);
    if (writing->block == NULL) writing->block = new_block((most = LEAST) + 64);
    if (result->offsets == NULL || writing->block == NULL || (result->valid == NULL && writing->inputs[0].valid != NULL)) return -1;
    if (result->valid != NULL) memset(result->valid, 0xff, (size_t)((rows + 7) / 8));
    writing->start = cut(writing->block, most);
    writing->limit = writing->start + most;
    return 0;
}

static PyObject *binary_array(Writing *writing, Result *result, int64_t rows)
{
    Column column = {.format = "z", .name = "", .flags = ARROW_FLAG_NULLABLE, .length = rows, .nulls = result->nulls, .buffer_count = 3};
    column.buffers[0] = result->nulls > 0 ? result->valid : NULL;
    column.buffers[1] = result->offsets;
    column.buffers[2] = writing->start;
    void *owned[] = {result->offsets, result->valid};
    return handed_over(&column, 1, writing->block, owned, 2);
}

static PyObject *encoded(Writing *writing, int64_t rows, int prefix, int version)
{
    Result result = {0};
    const uint8_t *end = NULL;
    Py_BEGIN_ALLOW_THREADS
    if (allocate_output(writing, &result, rows) < 0) writing->why = NO_MEMORY;
    else end = messages(writing, &result, rows, prefix, version);
    Py_END_ALLOW_THREADS
    if (end != NULL) return binary_array(writing, &result, rows);
    free_memory(result.offsets);
    free_memory(result.valid);
    drop_block(writing->block);
    if (writing->why == MALFORMED) return PyLong_FromLongLong(result.bad);
    if (writing->why == NO_MEMORY) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

PyObject *encode(PyObject *module, PyObject *args)
{
    PyObject *capsule, *schemas, *arrays, *buffers = NULL, *result = NULL;
    int version, prefix;
    if (!PyArg_ParseTuple(args, "OOOip|O!", &capsule, &schemas, &arrays, &version, &prefix, &PyList_Type, &buffers)) return NULL;
    const struct ArrowSchema *schema = PyCapsule_GetPointer(schemas, "arrow_schema");
    const struct ArrowArray *array = schema == NULL ? NULL : PyCapsule_GetPointer(arrays, "arrow_array");
    Writing writing = {.plan = array == NULL ? NULL : plan_in(capsule)};
    if (writing.plan == NULL) return NULL;
    const TextLayout *layout = layout_of(writing.plan, version);
    int is_declined = layout == NULL || layout->is_unsupported || layout->has_wire_types || writing.plan->has_unknown;
    is_declined = is_declined || (buffers != NULL && PyList_Size(buffers) != buffers_of(array));
    if (is_declined || schema->format == NULL || strcmp(schema->format, "+s") != 0) Py_RETURN_NONE;
    if ((writing.programs = version_programs((Plan *)writing.plan, version, WRITING)) == NULL) return NULL;
    writing.buffers = buffers;
    writing.inputs = get_zeros(writing.plan->field_count * (int64_t)sizeof(Input));
    if (writing.inputs == NULL) return PyErr_NoMemory();
    Span all = {.count = array->length, .used = array->length};
    if (bind_columns(&writing, 0, schema, array, all, 0) == 0) {
        result = encoded(&writing, array->length, prefix, version);
    } else {
        result = Py_NewRef(Py_None);
    }
    free_memory(writing.inputs);
    return result;
}
