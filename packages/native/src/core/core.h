/* Types of the core: package, plans, structs and layouts, and creation of objects.
 *
 * The core reports no errors in messages: unsupported or invalid input is declined (NULL or -1, often with an exception
 * that the caller at the top clears), and the Python code runs on the same input and reports the error. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "../library/library.h"

/* Free-threaded builds, where other threads may change any shared object. Reading creates objects that no other thread
 * sees, so it needs no locks. Writing, constructors and the release of objects are left to Python there, and nothing is
 * kept between calls. */
#ifdef Py_GIL_DISABLED
#define IS_FREE_THREADED 1
#else
#define IS_FREE_THREADED 0
#endif

#define LOWEST_INT -256          /* integers from here to HIGHEST_INT are cached */
#define HIGHEST_INT 1023
#define CACHED_INTS (HIGHEST_INT - LOWEST_INT + 1)
#define LONGEST_MEMO 255         /* up to this length, a text equal to the last one of its field is the same object */

#define SLOT(object, offset) (*(PyObject **)((char *)(object) + (offset)))

/* Defines traversal and release of a type by its references. It has no tp_clear: modules, plans and classes break cycles. */
#define DEFINE_RELEASE(Type, prefix, REFERENCES)                        \
    static int prefix##_traverse(Type *self, visitproc visit, void *arg) \
    {                                                                   \
        Py_VISIT(Py_TYPE(self));                                        \
        REFERENCES(Py_VISIT)                                            \
        return 0;                                                       \
    }                                                                   \
    static void prefix##_dealloc(Type *self)                            \
    {                                                                   \
        PyTypeObject *type = Py_TYPE(self);                             \
        PyObject_GC_UnTrack(self);                                      \
        REFERENCES(Py_XDECREF)                                          \
        type->tp_free(self);                                            \
        Py_DECREF(type);                                                \
    }

typedef struct {
    PyObject_HEAD
    PyTypeObject *raw;                       /* RawTaggedField */
    uint32_t raw_tag, raw_data;
    PyTypeObject *uuid;                      /* uuid.UUID */
    uint32_t uuid_int, uuid_is_safe;
    PyObject *is_safe;                       /* value of UUID.is_safe */
    PyObject *zero_uuid, *nulled, *unset;    /* values compared by identity */
    PyObject *empty_tuple;
    PyObject *as_derived, *make_plan;        /* package functions: conversion to a subclass, plan of a class */
    PyTypeObject *plan_type, *reader_type;   /* from the module, which the collector may clear before the package */
    PyObject *init_name, *plan_name;         /* likewise */
    PyObject *small[CACHED_INTS];
} Package;

/* How the default of a field arises; GIVEN: it is the object `value`. */
typedef enum { GIVEN, NEW_LIST, NEW_STRUCT, MADE_LATE } Default;

typedef struct {
    PyObject_HEAD
    Package *package;
    Arena arena;                 /* of the text */
    Text text;                   /* with classes, slots and defaults, see plan.c */
    PyObject *readers[2];        /* `read` and `read_from` bound to the message class, not to subclasses; set on first use */
    Py_ssize_t hint;             /* size estimate of the next message */
    Py_ssize_t declined;         /* number of calls passed on to the Python methods */
} Plan;

/* State of the module, of which each interpreter has one. There is no other state, and interpreters share no object. */
enum { PACKAGE, PLAN, MAKER, READER, READ_METHOD, WRITE_METHOD, TYPES };
enum { MAKER_NAME, INIT_NAME, PLAN_NAME, NAMES };
typedef struct {
    PyTypeObject *types[TYPES];
    PyObject *names[NAMES];      /* interned */
} State;

/* objects.c */
PyObject *name_of(const char *start, const char *end);
int find_slot(PyTypeObject *type, const char *prefix, const char *name, uint32_t *offset);
int own_release(PyTypeObject *type);
int is_plain_class(PyTypeObject *type);
int is_list_class(PyTypeObject *type);
PyObject *new_default(const Package *package, const TextField *field);
PyObject *new_uuid(const Package *package, const uint8_t *bytes);

/* package.c, plan.c */
extern PyType_Spec package_spec, plan_spec;

/* read.c, write.c */
PyObject *read_message(const Plan *plan, const TextLayout *layout, const uint8_t *data, Py_ssize_t size, Py_ssize_t *end);
PyObject *write_message(Plan *plan, const TextLayout *layout, PyObject *message);
PyObject *write_chunks(const Plan *plan, const TextLayout *layout, PyObject *message);
int is_default(const Package *package, const TextField *field, PyObject *value);

/* make.c, calls.c */
extern PyType_Spec maker_spec, reader_spec, read_method_spec, write_method_spec;
PyObject *use_maker(PyObject *module, PyObject *cls);
PyObject *filled(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* Creates an object with empty slots, not tracked by the collector. */
INLINE PyObject *new_object(PyTypeObject *cls)
{
    PyObject *object = (PyObject *)PyObject_GC_New(PyObject, cls);
    if (LIKELY(object != NULL)) memset((char *)object + sizeof(PyObject), 0, cls->tp_basicsize - sizeof(PyObject));
    return object;
}

/* Releases an object or list that is not tracked by the collector. */
static inline void drop_untracked(PyObject *object)
{
    PyObject_GC_Track(object);
    Py_DECREF(object);
}

/* Creates a list of `count` empty items, not tracked by the collector; `cls` is list or accepted by is_list_class(). In
 * free-threaded builds lists have another layout, and those of a subclass must be empty. */
INLINE PyObject *new_list(PyTypeObject *cls, Py_ssize_t count)
{
#ifdef Py_GIL_DISABLED
    PyObject *list = cls == &PyList_Type ? PyList_New(count) : PyObject_CallNoArgs((PyObject *)cls);
    if (list != NULL) PyObject_GC_UnTrack(list);
    return list;
#else
    PyListObject *list = (PyListObject *)PyObject_GC_New(PyListObject, cls);
    if (UNLIKELY(list == NULL)) return NULL;
    memset((char *)list + sizeof(PyVarObject), 0, cls->tp_basicsize - sizeof(PyVarObject));
    Py_SET_SIZE(list, 0);
    if (count > 0) {                                     /* bounded by the input size, so the product cannot overflow */
        list->ob_item = PyMem_Calloc(count, sizeof(PyObject *));
        if (UNLIKELY(list->ob_item == NULL)) { drop_untracked((PyObject *)list); return PyErr_NoMemory(); }
        list->allocated = count;
        Py_SET_SIZE(list, count);
    }
    return (PyObject *)list;
#endif
}

/* Returns a new reference to an attribute of a class, as stored, or NULL. */
INLINE PyObject *attribute_of(PyTypeObject *cls, PyObject *name)
{
#ifdef Py_GIL_DISABLED
    return _PyType_LookupRef(cls, name);
#else
    return Py_XNewRef(_PyType_Lookup(cls, name));
#endif
}

INLINE PyObject *new_int(const Package *package, int64_t value)
{
    if (LIKELY((uint64_t)value - (uint64_t)LOWEST_INT < CACHED_INTS)) {
        return Py_NewRef(package->small[value - LOWEST_INT]);
    }
    return PyLong_FromLongLong(value);
}

/* Gets the value of an exact int that fits into int64; -1 without an exception otherwise. */
INLINE int int_of(PyObject *object, int64_t *value)
{
    if (UNLIKELY(!PyLong_CheckExact(object))) return -1;
#if PY_VERSION_HEX >= 0x030C0000
    if (LIKELY(PyUnstable_Long_IsCompact((PyLongObject *)object))) {
        *value = PyUnstable_Long_CompactValue((PyLongObject *)object);
        return 0;
    }
#else
    const digit *digits = ((PyLongObject *)object)->ob_digit;
    switch (Py_SIZE(object)) {
    case 0: *value = 0; return 0;
    case 1: *value = digits[0]; return 0;
    case -1: *value = -(int64_t)digits[0]; return 0;
    case 2: *value = (int64_t)digits[0] | (int64_t)digits[1] << PyLong_SHIFT; return 0;
    }
#endif
    int overflow;
    *value = PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow ? -1 : 0;
}

/* The class of the message: that of the last struct. */
INLINE PyTypeObject *message_of(const Plan *plan) { return plan->text.structs[plan->text.struct_count - 1].cls; }

/* The layout of a version, or NULL if it is missing or unsupported. */
INLINE TextLayout *layout_at(const Plan *plan, PyObject *version)
{
    int64_t value;
    int number = LIKELY(int_of(version, &value) == 0) ? layout_of(&plan->text, value) : -1;
    return UNLIKELY(number < 0) ? NULL : &plan->text.layouts[number];
}
