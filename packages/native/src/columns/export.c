/* Export of finished columns as two capsules, in one allocation.
 *
 * Consumers may move a child out of an array and keep it alone, so each child holds a reference, and the last one frees
 * the memory. That may happen in any thread, without the GIL, and after the interpreter has ended. */
#include "columns.h"

typedef struct {
    volatile long references;
    Block *block;
    int owned_count;
    void **owned;
} Held;

typedef struct { volatile long references; } Described;

static void release_array(struct ArrowArray *array)
{
    Held *held = array->private_data;
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release != NULL) array->children[i]->release(array->children[i]);
    }
    array->release = NULL;
    if (ADD_AND_FETCH(&held->references, -1) > 0) return;
    for (int i = 0; i < held->owned_count; i++) free_memory(held->owned[i]);
    drop_block(held->block);
    free_memory(held);
}

static void release_schema(struct ArrowSchema *schema)
{
    Described *described = schema->private_data;
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->release != NULL) schema->children[i]->release(schema->children[i]);
    }
    schema->release = NULL;
    if (ADD_AND_FETCH(&described->references, -1) == 0) free_memory(described);
}

static void free_array(PyObject *capsule)
{
    if (!PyCapsule_IsValid(capsule, "arrow_array")) return;  /* renamed by a consumer, who owns the contents */
    struct ArrowArray *array = PyCapsule_GetPointer(capsule, "arrow_array");
    if (array->release != NULL) array->release(array);
    free_memory(array);
}

static void free_schema(PyObject *capsule)
{
    if (!PyCapsule_IsValid(capsule, "arrow_schema")) return;
    struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");
    if (schema->release != NULL) schema->release(schema);
    free_memory(schema);
}

/* Creates the arrays of all columns; on failure the caller keeps the block and the buffers. */
static int arrays_of(const Column *columns, int count, Block *block, void *const *owned, int owned_count,
                     struct ArrowArray *root)
{
    int64_t size = sizeof(Held) + count * (sizeof(struct ArrowArray) + sizeof(void *) + sizeof columns->buffers);
    Held *held = get_zeros(size + (int64_t)owned_count * sizeof(void *));
    if (held == NULL) return -1;
    struct ArrowArray *arrays = (struct ArrowArray *)(held + 1), **pointers = (struct ArrowArray **)(arrays + count);
    const void **buffers = (const void **)(pointers + count);
    held->references = count;
    held->block = block;
    held->owned = (void **)(buffers + 3 * count);
    held->owned_count = owned_count;
    if (owned_count > 0) memcpy(held->owned, owned, owned_count * sizeof(void *));
    for (int i = 0; i < count; i++) {
        const Column *column = &columns[i];
        struct ArrowArray *array = i == 0 ? root : &arrays[i];
        pointers[i] = array;
        memcpy(buffers + 3 * i, column->buffers, sizeof column->buffers);
        memset(array, 0, sizeof *array);
        array->length = column->length;
        array->null_count = column->nulls;
        array->n_buffers = column->buffer_count;
        array->buffers = buffers + 3 * i;
        array->n_children = column->child_count;
        array->children = column->child_count > 0 ? pointers + column->first_child : NULL;
        array->release = release_array;
        array->private_data = held;
    }
    return 0;
}

static int schemas_of(const Column *columns, int count, struct ArrowSchema *root)
{
    int64_t names = 0;
    for (int i = 0; i < count; i++) names += (int64_t)strlen(columns[i].name) + 1;
    Described *described = get_zeros(sizeof(void *) + count * (sizeof(struct ArrowSchema) + sizeof(void *)) + names);
    if (described == NULL) return -1;
    struct ArrowSchema *schemas = (struct ArrowSchema *)((char *)described + sizeof(void *));
    struct ArrowSchema **pointers = (struct ArrowSchema **)(schemas + count);
    char *name = (char *)(pointers + count);
    described->references = count;
    for (int i = 0; i < count; i++) {
        const Column *column = &columns[i];
        struct ArrowSchema *schema = i == 0 ? root : &schemas[i];
        pointers[i] = schema;
        memset(schema, 0, sizeof *schema);
        schema->format = column->format;
        schema->name = strcpy(name, column->name);
        name += strlen(name) + 1;
        schema->flags = column->flags;
        schema->n_children = column->child_count;
        schema->children = column->child_count > 0 ? pointers + column->first_child : NULL;
        schema->release = release_schema;
        schema->private_data = described;
    }
    return 0;
}

/* Creates two structs with their owning capsules; the structs count as released until they are filled. */
static PyObject *capsules(struct ArrowSchema **schema, struct ArrowArray **array)
{
    PyObject *schemas = NULL, *arrays = NULL, *result = NULL;
    *schema = get_zeros(sizeof **schema);
    *array = get_zeros(sizeof **array);
    if (*schema != NULL && *array != NULL) {
        schemas = PyCapsule_New(*schema, "arrow_schema", free_schema);
        arrays = PyCapsule_New(*array, "arrow_array", free_array);
        if (schemas != NULL && arrays != NULL) result = PyTuple_Pack(2, schemas, arrays);
    } else {
        PyErr_NoMemory();
    }
    if (schemas == NULL) free_memory(*schema);
    if (arrays == NULL) free_memory(*array);
    Py_XDECREF(schemas);
    Py_XDECREF(arrays);
    return result;
}

PyObject *handed_over(const Column *columns, int count, Block *block, void *const *owned, int owned_count)
{
    struct ArrowSchema *schema;
    struct ArrowArray *array;
    PyObject *result = capsules(&schema, &array);
    if (result != NULL && schemas_of(columns, count, schema) == 0 &&
        arrays_of(columns, count, block, owned, owned_count, array) == 0) {
        return result;
    }
    if (result != NULL) PyErr_NoMemory();
    Py_XDECREF(result);
    for (int i = 0; i < owned_count; i++) free_memory(owned[i]);
    drop_block(block);
    return NULL;
}
