/* The module; plans in capsules; and the functions `decode` and `encode`, whose arguments and results are Arrow capsules. */
#include "columns.h"

#define NAME "kafka_messages_native.columns"

/* ---- plans */

static void free_plan_in(PyObject *capsule) { free_plan(PyCapsule_GetPointer(capsule, NAME)); }

static double to_double(const char *word, char **end)
{
    double value = PyOS_string_to_double(word, end, NULL);
    PyErr_Clear();                                           /* `end` shows the failure */
    return value;
}

static PyObject *make_plan(PyObject *module, PyObject *args)
{
    const char *text;
    Py_ssize_t size;
    int has_unknown;
    Error error;
    if (!PyArg_ParseTuple(args, "s#p", &text, &size, &has_unknown)) return NULL;
    Plan *plan = new_plan(text, size, has_unknown, to_double, &error);
    if (plan == NULL) {
        if (error.why == NO_MEMORY) return PyErr_NoMemory();
        if (error.line == 0) PyErr_SetString(PyExc_ValueError, error.text);
        else PyErr_Format(PyExc_ValueError, "line %d of the plan: %s", error.line, error.text);
        return NULL;
    }
    PyObject *capsule = PyCapsule_New(plan, NAME, free_plan_in);
    if (capsule == NULL) free_plan(plan);
    return capsule;
}

/* ---- Arrow capsules */

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

/* Returns a capsule of zeroed memory, which counts as released; NULL with an exception. */
static PyObject *new_capsule(int64_t size, const char *name, PyCapsule_Destructor destructor, void *memory)
{
    void *zeros = *(void **)memory = get_zeros(size);
    PyObject *capsule = zeros == NULL ? PyErr_NoMemory() : PyCapsule_New(zeros, name, destructor);
    if (capsule == NULL) free_memory(zeros);
    return capsule;
}

static PyObject *new_capsules(struct ArrowSchema **schema, struct ArrowArray **array)
{
    PyObject *schemas = new_capsule(sizeof **schema, "arrow_schema", free_schema, schema);
    PyObject *arrays = schemas == NULL ? NULL : new_capsule(sizeof **array, "arrow_array", free_array, array);
    PyObject *result = arrays == NULL ? NULL : PyTuple_Pack(2, schemas, arrays);
    Py_XDECREF(schemas);
    Py_XDECREF(arrays);
    return result;
}

/* Returns the filled capsules, the number of the first bad row, or None if the input is declined. */
static PyObject *result_of(Outcome outcome, PyObject *capsules, int64_t bad)
{
    if (outcome == SUCCEEDED) return capsules;
    Py_DECREF(capsules);
    if (outcome == MALFORMED) return PyLong_FromLongLong(bad);
    return outcome == NO_MEMORY ? PyErr_NoMemory() : Py_NewRef(Py_None);
}

/* ---- decoding */

static int take_array(Messages *messages, PyObject *schemas, PyObject *arrays)
{
    const struct ArrowSchema *schema = PyCapsule_GetPointer(schemas, "arrow_schema");
    messages->array = PyCapsule_GetPointer(arrays, "arrow_array");
    if (schema == NULL || messages->array == NULL) return -1;
    messages->is_large = is_format(schema, "Z");
    if ((messages->is_large || is_format(schema, "z")) && messages->array->n_buffers == 3) return 0;
    PyErr_SetString(PyExc_TypeError, "expected encoded messages as a binary or large_binary array");
    return -1;
}

static int take_versions(Messages *messages, PyObject *version)
{
    messages->has_prefix = version == Py_None;
    if (messages->has_prefix) return 0;
    if (!PyTuple_Check(version)) {
        messages->version = PyLong_AsLongLong(version);
        return messages->version == -1 && PyErr_Occurred() ? -1 : 0;
    }
    PyObject *schemas, *arrays;
    if (!PyArg_ParseTuple(version, "OO", &schemas, &arrays)) return -1;
    const struct ArrowSchema *schema = PyCapsule_GetPointer(schemas, "arrow_schema");
    const struct ArrowArray *array = messages->versions = PyCapsule_GetPointer(arrays, "arrow_array");
    if (schema == NULL || array == NULL) return -1;
    if (is_format(schema, "l") && array->n_buffers == 2 && array->length == messages->array->length && array->offset >= 0) return 0;
    PyErr_SetString(PyExc_TypeError, "expected versions as an int64 array with one element per row");
    return -1;
}

static PyObject *decode(PyObject *module, PyObject *args)
{
    PyObject *capsule, *schemas, *arrays, *version, *result;
    Py_ssize_t size = PY_SSIZE_T_MAX;        /* size of the data buffer, if known */
    Messages messages = {0};
    struct ArrowSchema *schema;
    struct ArrowArray *array;
    int64_t bad = 0;
    if (!PyArg_ParseTuple(args, "OOOOizz|n", &capsule, &schemas, &arrays, &version, &messages.options, &messages.trailing,
                          &messages.corrupt, &size)) {
        return NULL;
    }
    messages.size = size;
    const Plan *plan = PyCapsule_GetPointer(capsule, NAME);
    if (plan == NULL || take_array(&messages, schemas, arrays) < 0 || take_versions(&messages, version) < 0) return NULL;
    if ((result = new_capsules(&schema, &array)) == NULL) return NULL;
    Outcome outcome;
    Py_BEGIN_ALLOW_THREADS
    outcome = decode_messages(plan, &messages, schema, array, &bad);
    Py_END_ALLOW_THREADS
    return result_of(outcome, result, bad);
}

/* ---- encoding */

/* Returns the sizes of the buffers in a list, 0 for None; NULL with an exception. */
static int64_t *sizes_of(PyObject *buffers, int64_t count)
{
    int64_t *sizes = get_zeros((count + 1) * (int64_t)sizeof *sizes);
    if (sizes == NULL) PyErr_NoMemory();
    for (int64_t i = 0; i < count && !PyErr_Occurred(); i++) {
        PyObject *buffer = Py_XNewRef(PyList_GetItem(buffers, (Py_ssize_t)i));
        PyObject *size = buffer == NULL || buffer == Py_None ? NULL : PyObject_GetAttrString(buffer, "size");
        if (size != NULL) sizes[i] = PyLong_AsLongLong(size);
        Py_XDECREF(size);
        Py_XDECREF(buffer);
    }
    if (!PyErr_Occurred()) return sizes;
    free_memory(sizes);
    return NULL;
}

static PyObject *encode(PyObject *module, PyObject *args)
{
    PyObject *capsule, *schemas, *arrays, *result, *buffers = NULL;
    Rows rows = {0};
    struct ArrowSchema *schema;
    struct ArrowArray *array;
    int64_t bad = 0;
    if (!PyArg_ParseTuple(args, "OOOip|O!", &capsule, &schemas, &arrays, &rows.version, &rows.has_prefix, &PyList_Type, &buffers)) {
        return NULL;
    }
    const Plan *plan = PyCapsule_GetPointer(capsule, NAME);
    rows.schema = plan == NULL ? NULL : PyCapsule_GetPointer(schemas, "arrow_schema");
    rows.array = rows.schema == NULL ? NULL : PyCapsule_GetPointer(arrays, "arrow_array");
    rows.size_count = buffers == NULL ? 0 : PyList_Size(buffers);
    int64_t *sizes = buffers == NULL ? NULL : sizes_of(buffers, rows.size_count);
    if (rows.array == NULL || PyErr_Occurred() || (result = new_capsules(&schema, &array)) == NULL) { free_memory(sizes); return NULL; }
    rows.sizes = sizes;
    Outcome outcome;
    Py_BEGIN_ALLOW_THREADS
    outcome = encode_messages(plan, &rows, schema, array, &bad);
    Py_END_ALLOW_THREADS
    free_memory(sizes);
    return result_of(outcome, result, bad);
}

/* Returns the address of the struct in an array capsule, for consumers that need no schema. */
static PyObject *address_of(PyObject *module, PyObject *capsule)
{
    void *array = PyCapsule_GetPointer(capsule, "arrow_array");
    return array == NULL ? NULL : PyLong_FromVoidPtr(array);
}

/* ---- the module, without state and types */

static PyObject *fail_allocation_at(PyObject *module, PyObject *number)
{
    long value = PyLong_AsLong(number);
    if (value == -1 && PyErr_Occurred()) return NULL;
    fail_allocation(value);
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"plan", make_plan, METH_VARARGS,
     "plan(text, has_unknown, /)\n--\n\nReturn the column plan of a message; has_unknown adds a map of unknown tags to each struct."},
    {"decode", decode, METH_VARARGS,
     "decode(plan, schema, array, version, options, trailing, corrupt, /)\n--\n\nReturn the columns as two Arrow capsules, "
     "the number of the first bad row, or None if the input is declined."},
    {"encode", encode, METH_VARARGS,
     "encode(plan, schema, array, version, prefix, buffers=None, /)\n--\n\nReturn a binary array as two Arrow capsules, the number "
     "of the first row that cannot be encoded, or None if the input is declined; buffers are those of the array, a list."},
    {"address", address_of, METH_O,
     "address(array, /)\n--\n\nReturn the address of a capsule's ArrowArray, which the capsule still owns."},
    {"fail_allocation", fail_allocation_at, METH_O,
     "fail_allocation(number, /)\n--\n\nFor tests: let one allocation fail after this number of successful ones; -1 for none."},
    {NULL, NULL, 0, NULL},
};

static int exec_module(PyObject *module)
{
    return PyModule_AddIntConstant(module, "FORMAT", FORMAT) < 0 ? -1 : add_batches(module);
}

/* The first slot is Py_mod_multiple_interpreters with Py_MOD_PER_INTERPRETER_GIL_SUPPORTED, new in 3.12. */
static PyModuleDef_Slot slots[] = {{3, (void *)2}, {Py_mod_exec, exec_module}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_columns", "Decodes messages to Arrow columns, encodes columns, and reads record batches.", 0,
    functions, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__columns(void)
{
    if (Py_Version < 0x030C0000) definition.m_slots = slots + 1;
    return PyModuleDef_Init(&definition);
}
