/* libFuzzer with an interpreter inside: each input goes to the function `one` of tests/fuzz/target.py.
 *
 * The core is loaded as Python loads it, and clang's counters show which of its branches an input reached.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static PyObject *one;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    Py_InitializeEx(0);
    PyObject *module = PyImport_ImportModule("tests.fuzz.target");
    one = module == NULL ? NULL : PyObject_GetAttrString(module, "one");
    if (one == NULL) { PyErr_Print(); exit(2); }
    return 0;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    PyObject *result = PyObject_CallFunction(one, "y#", (const char *)data, (Py_ssize_t)size);
    if (result == NULL) { PyErr_Print(); abort(); }
    Py_DECREF(result);
    return 0;
}
