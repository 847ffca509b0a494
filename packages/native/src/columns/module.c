/* The module with its functions; it has no state and no types. */
#include "batches.h"
#include "builder.h"

static PyObject *fail_allocation_at(PyObject *module, PyObject *number)
{
    long value = PyLong_AsLong(number);
    if (value == -1 && PyErr_Occurred()) return NULL;
    fail_allocation(value);
    Py_RETURN_NONE;
}

/* Returns the address of the struct in an array capsule, for consumers that need no schema. */
static PyObject *address_of(PyObject *module, PyObject *capsule)
{
    void *array = PyCapsule_GetPointer(capsule, "arrow_array");
    return array == NULL ? NULL : PyLong_FromVoidPtr(array);
}

static PyMethodDef functions[] = {
    {"plan", new_plan, METH_VARARGS,
     "plan(text, has_unknown, /)\n--\n\nThe columns of a message, out of its plan; with a map of unknown tags in every struct."},
    {"decode", decode, METH_VARARGS,
     "decode(plan, schema, array, version, options, trailing, corrupt, /)\n--\n\nTwo capsules of columns, the number of the "
     "first bad row, or None for what is declined."},
    {"encode", encode, METH_VARARGS,
     "encode(plan, schema, array, version, prefix, /)\n--\n\nTwo capsules of a binary array, the number of the first row that "
     "cannot be written, or None for what is declined."},
    {"address", address_of, METH_O,
     "address(array, /)\n--\n\nWhere the ArrowArray of a capsule is, as an integer; it stays the capsule's."},
    {"fail_allocation", fail_allocation_at, METH_O,
     "fail_allocation(number, /)\n--\n\nFor tests: after how many allocations one fails; -1 for never."},
    {NULL, NULL, 0, NULL},
};

static int exec_module(PyObject *module)
{
    return PyModule_AddIntConstant(module, "FORMAT", FORMAT) < 0 ? -1 : add_batches(module);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, exec_module}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_columns", "Makes Arrow columns of encoded messages, and the reverse.", 0,
    functions, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__columns(void) { return PyModuleDef_Init(&definition); }
