/* The module with its types, for one interpreter. */
#include "core.h"

static int add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type)
{
    *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    return *type == NULL ? -1 : PyModule_AddType(module, *type);
}

static int exec_module(PyObject *module)
{
    State *state = PyModule_GetState(module);
    if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
        PyErr_SetString(PyExc_ImportError, "the native core is for the main interpreter; others use the pure code");
        return -1;
    }
    if (maker_name == NULL) maker_name = PyUnicode_InternFromString("_maker");
    if (init_name == NULL) init_name = PyUnicode_InternFromString("__init__");
    if (plan_name == NULL) plan_name = PyUnicode_InternFromString("_native");
    if (maker_name == NULL || init_name == NULL || plan_name == NULL || add_type(module, &package_spec, &state->package) < 0 ||
        add_type(module, &plan_spec, &state->plan) < 0 || add_type(module, &maker_spec, &state->maker) < 0 ||
        add_type(module, &reader_spec, &state->reader) < 0 ||
        add_type(module, &read_method_spec, &state->read_method) < 0 ||
        add_type(module, &write_method_spec, &state->write_method) < 0) {
        return -1;
    }
    return PyModule_AddIntConstant(module, "FORMAT", FORMAT);
}

static int traverse_module(PyObject *module, visitproc visit, void *arg)
{
    State *state = PyModule_GetState(module);
    Py_VISIT(state->package);
    Py_VISIT(state->plan);
    Py_VISIT(state->maker);
    Py_VISIT(state->reader);
    Py_VISIT(state->read_method);
    Py_VISIT(state->write_method);
    return 0;
}

static int clear_module(PyObject *module)
{
    State *state = PyModule_GetState(module);
    Py_CLEAR(state->package);
    Py_CLEAR(state->plan);
    Py_CLEAR(state->maker);
    Py_CLEAR(state->reader);
    Py_CLEAR(state->read_method);
    Py_CLEAR(state->write_method);
    return 0;
}

static void free_module(void *module) { clear_module(module); }

static PyMethodDef functions[] = {
    {"use_maker", use_maker, METH_O, "use_maker(cls, /)\n--\n\nLet a class that has a maker be called by it."},
    {"filled", (PyCFunction)(void (*)(void))filled, METH_FASTCALL,
     "filled(cls, /, *values)\n--\n\nMake an object of a class of slots, with values for the first of them by name."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, exec_module},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_core", "Reads and writes messages by the plans of their packages.", sizeof(State),
    functions, slots, traverse_module, clear_module, free_module,
};

PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&definition); }
