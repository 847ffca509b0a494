/* The module with its functions; it has no state and no types. */
#include "columns.h"

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
