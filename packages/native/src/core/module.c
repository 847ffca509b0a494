/* The module with its types, for one interpreter. */
#include "core.h"

static int exec_module(PyObject *module)
{
    State *state = PyModule_GetState(module);
#if PY_VERSION_HEX < 0x030C0000
    if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
        PyErr_SetString(PyExc_ImportError, "the native core requires CPython 3.12 or newer in subinterpreters");
        return -1;
    }
#endif
    static const char *const names[] = {"_maker", "__init__", "_native"};
    for (int i = 0; i < NAMES; i++) if ((state->names[i] = PyUnicode_InternFromString(names[i])) == NULL) return -1;
    static PyType_Spec *const specs[] = {&package_spec, &plan_spec, &maker_spec, &reader_spec, &read_method_spec, &write_method_spec};
    for (int i = 0; i < TYPES; i++) {
        state->types[i] = (PyTypeObject *)PyType_FromModuleAndSpec(module, specs[i], NULL);
        if (state->types[i] == NULL || PyModule_AddType(module, state->types[i]) < 0) return -1;
    }
    return PyModule_AddIntConstant(module, "FORMAT", FORMAT);
}

static int traverse_module(PyObject *module, visitproc visit, void *arg)
{
    State *state = PyModule_GetState(module);
    for (int i = 0; i < TYPES; i++) Py_VISIT(state->types[i]);
    return 0;
}

static int clear_module(PyObject *module)
{
    State *state = PyModule_GetState(module);
    for (int i = 0; i < TYPES; i++) Py_CLEAR(state->types[i]);
    return 0;
}

static void free_module(void *module)
{
    State *state = PyModule_GetState(module);
    clear_module(module);
    for (int i = 0; i < NAMES; i++) Py_CLEAR(state->names[i]);
}

static PyMethodDef functions[] = {
    {"use_maker", use_maker, METH_O, "use_maker(cls, /)\n--\n\nRoute calls of a class to the Maker in its attribute _maker."},
    {"filled", (PyCFunction)(void (*)(void))filled, METH_FASTCALL,
     "filled(cls, /, *values)\n--\n\nCreate an object of a class with only __slots__, and set its first slots, ordered by name."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, exec_module},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_core", "Reads and writes messages according to the plans of generated packages.", sizeof(State),
    functions, slots, traverse_module, clear_module, free_module,
};

PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&definition); }
