/* The Python functions of the columns extension: arguments, buffers, capsules and exceptions around the library.
 *
 * Only the limited API of Python 3.11 is used. No Python object is touched without the GIL. Invalid data is declined;
 * the package's Python code reports the error. */
#pragma once

#if !defined(Py_LIMITED_API) && !defined(Py_GIL_DISABLED)       /* which has no limited API before 3.15 */
#define Py_LIMITED_API 0x030B0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "../library/batches.h"
#include "../library/builder.h"
#include "../library/writing.h"

/* batches.c: adds its functions and constants to the module; -1 with an exception */
int add_batches(PyObject *module);
