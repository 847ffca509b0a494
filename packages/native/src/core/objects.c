/* Objects of generated classes: slots, defaults, and release. */
#include "core.h"
#include <structmember.h>

/* Concatenates two texts to an interned name. */
PyObject *name_of(const char *start, const char *end)
{
    PyObject *result = PyUnicode_FromFormat("%s%s", start, end);
    if (result != NULL) PyUnicode_InternInPlace(&result);
    return result;
}

/* Finds the offset of an object slot; -1 with TypeError if the attribute is missing or no such slot. */
int find_slot(PyTypeObject *type, const char *prefix, const char *name, uint32_t *offset)
{
    PyObject *full = name_of(prefix, name);
    if (full == NULL) return -1;
    PyObject *found = attribute_of(type, full);
    Py_DECREF(full);
    if (found == NULL || Py_TYPE(found) != &PyMemberDescr_Type) {
        PyErr_Format(PyExc_TypeError, "%s.%s%s is not a slot", type->tp_name, prefix, name);
        Py_XDECREF(found);
        return -1;
    }
    PyMemberDef *member = ((PyMemberDescrObject *)found)->d_member;      /* of the class */
    Py_DECREF(found);
    Py_ssize_t end = type->tp_basicsize - (Py_ssize_t)sizeof(PyObject *);
    if (member->type != T_OBJECT_EX || member->offset < (Py_ssize_t)sizeof(PyObject) || member->offset > end) {
        PyErr_Format(PyExc_TypeError, "%s.%s%s is not a slot for objects", type->tp_name, prefix, name);
        return -1;
    }
    *offset = (uint32_t)member->offset;
    return 0;
}

static int is_ours(PyTypeObject *type, Py_ssize_t least)
{
    unsigned long wanted = Py_TPFLAGS_HEAPTYPE | Py_TPFLAGS_HAVE_GC;
    if (type->tp_flags & Py_TPFLAGS_MANAGED_DICT) return 0;
#ifdef Py_TPFLAGS_MANAGED_WEAKREF
    if (type->tp_flags & Py_TPFLAGS_MANAGED_WEAKREF) return 0;
#endif
    return (type->tp_flags & wanted) == wanted && type->tp_itemsize == 0 && type->tp_dictoffset == 0 &&
           type->tp_weaklistoffset == 0 && type->tp_basicsize >= least && type->tp_basicsize <= 1 << 16 &&
           type->tp_alloc == PyType_GenericAlloc && type->tp_free == PyObject_GC_Del;
}

static void release_object(PyObject *self);

/* Checks whether instances consist of slots only, as new_object() requires. ht_slots is NULL for classes written in C, whose
 * members may be no objects, and since CPython 3.15 for empty __slots__: these have no members and no release of their own. */
int is_plain_class(PyTypeObject *type)
{
    PyTypeObject *base = type;
    Py_ssize_t slots = 0;
    if (!is_ours(type, sizeof(PyObject))) return 0;
    for (; base != &PyBaseObject_Type; base = base->tp_base) {
        if (base == NULL || !(base->tp_flags & Py_TPFLAGS_HEAPTYPE)) return 0;
        int is_empty = Py_SIZE(base) == 0 && (base->tp_dealloc == type->tp_dealloc || type->tp_dealloc == release_object);
        if (((PyHeapTypeObject *)base)->ht_slots == NULL && !is_empty) return 0;
        slots += Py_SIZE(base);                          /* the slots of a class */
    }
    return type->tp_basicsize == (Py_ssize_t)(sizeof(PyObject) + slots * sizeof(PyObject *));
}

/* Accepts list, and subclasses with one additional slot, which is empty until the index is created. */
int is_list_class(PyTypeObject *type)
{
    if (type == &PyList_Type) return 1;
    return is_ours(type, sizeof(PyListObject)) && PyType_IsSubtype(type, &PyList_Type) &&
           type->tp_basicsize == (Py_ssize_t)(sizeof(PyListObject) + sizeof(PyObject *));
}

/* Releases the last reference to an exact list, like list itself. Uses Py_DECREF() where reference tracers (since
 * 3.13) or debug builds must see the release. */
INLINE void drop_list(PyObject *self)
{
#if PY_VERSION_HEX >= 0x030D0000 || defined(Py_REF_DEBUG)
    Py_DECREF(self);
#else
    PyObject **items = ((PyListObject *)self)->ob_item;
    PyObject_GC_UnTrack(self);
    for (Py_ssize_t i = Py_SIZE(self); --i >= 0;) Py_XDECREF(items[i]);
    PyMem_Free(items);
    PyObject_GC_Del(self);
#endif
}

/* Releases the slots of `cls`, all its words (is_plain_class), each owned or NULL; subclasses have released theirs. */
static void drop_slots(PyObject *self, PyTypeObject *cls)
{
    PyObject **slot = (PyObject **)((char *)self + sizeof(PyObject));
    PyObject **end = (PyObject **)((char *)self + cls->tp_basicsize);
    for (; slot < end; slot++) {
        PyObject *value = *slot;
        if (value == NULL) continue;
        *slot = NULL;
        if (PyList_CheckExact(value) && Py_REFCNT(value) == 1) drop_list(value);
        else Py_DECREF(value);
    }
}

static PER_THREAD int depth = 0; /* of nested releases */

static void release_at_depth(PyObject *self, PyTypeObject *cls)
{
    Py_TRASHCAN_BEGIN(self, release_object)
    PyTypeObject *type = Py_TYPE(self);
    drop_slots(self, cls);
    type->tp_free(self);
    Py_DECREF(type);
    Py_TRASHCAN_END
}

/* tp_dealloc of classes accepted by is_plain_class(): a simplified subtype_dealloc(). */
static void release_object(PyObject *self)
{
    PyTypeObject *cls = Py_TYPE(self);                   /* or the base with our function, for a Python subclass */
    while (cls->tp_dealloc != release_object && cls->tp_base != NULL) cls = cls->tp_base;   /* NULL: its bases were changed */
    if (UNLIKELY(cls->tp_finalize != NULL && Py_TYPE(self) == cls)) {
        if (!PyObject_GC_IsTracked(self)) PyObject_GC_Track(self);
        if (PyObject_CallFinalizerFromDealloc(self) < 0) return;         /* resurrected */
    }
    PyTypeObject *type = Py_TYPE(self);                  /* after the finalizer, which may change __class__ */
    PyObject_GC_UnTrack(self);
    if (UNLIKELY(depth > 50)) { release_at_depth(self, cls); return; }   /* the trashcan unwinds long chains */
    depth++;
    drop_slots(self, cls);
    depth--;
    type->tp_free(self);
    Py_DECREF(type);                                     /* instances of heap types hold a reference */
}

/* Replaces tp_dealloc of a class; -1 with TypeError if is_plain_class() does not accept it. */
int own_release(PyTypeObject *type)
{
    if (type->tp_dealloc != release_object && !is_plain_class(type)) {
        PyErr_Format(PyExc_TypeError, "%s does not have the memory layout of a generated class", type->tp_name);
        return -1;
    }
    if (!IS_FREE_THREADED) type->tp_dealloc = release_object;
    return 0;
}

static PyObject *new_default_struct(const Package *package, const TextStruct *structure)
{
    PyObject *object = new_object(structure->cls);
    if (object == NULL) return NULL;
    SLOT(object, structure->unknown) = Py_NewRef(package->empty_tuple);
    for (const TextField *field = structure->fields; field < structure->fields + structure->count; field++) {
        PyObject *value = new_default(package, field);
        if (value == NULL) { drop_untracked(object); return NULL; }
        SLOT(object, field->slot) = value;
    }
    if (!structure->is_leaf) PyObject_GC_Track(object);
    return object;
}

/* Returns the default of a field: a new object if mutable, or None for a struct that the first access creates. */
PyObject *new_default(const Package *package, const TextField *field)
{
    switch (field->by_default) {
    case NEW_LIST: {
        PyObject *list = new_list(field->list, 0);
        if (list != NULL && !field->is_leaf_list) PyObject_GC_Track(list);
        return list;
    }
    case NEW_STRUCT: return new_default_struct(package, field->structure);
    case MADE_LATE: return Py_NewRef(Py_None);
    default: return Py_NewRef(field->value);
    }
}

/* Creates a UUID without its constructor, not tracked by the collector, since it is in no cycle. */
PyObject *new_uuid(const Package *package, const uint8_t *bytes)
{
    PyObject *object = new_object(package->uuid);
    if (object == NULL) return NULL;
    PyObject *number = _PyLong_FromByteArray(bytes, 16, 0, 0);
    if (number == NULL) { drop_untracked(object); return NULL; }
    SLOT(object, package->uuid_int) = number;
    SLOT(object, package->uuid_is_safe) = Py_NewRef(package->is_safe);
    return object;
}

/* filled(class, *values): creates an object of slots and sets the first ones, in the order of their names. The object
 * is not tracked by the collector, so it must not become part of a cycle. */
PyObject *filled(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    PyTypeObject *cls = count > 0 && PyType_Check(args[0]) ? (PyTypeObject *)args[0] : NULL;
    if (cls == NULL || !is_plain_class(cls) ||
        cls->tp_basicsize < (Py_ssize_t)(sizeof(PyObject) + (count - 1) * sizeof(PyObject *))) {
        PyErr_SetString(PyExc_TypeError, "filled() expects a class that has only __slots__, and at most one value per slot");
        return NULL;
    }
    PyObject *object = new_object(cls);
    if (object == NULL) return NULL;
    for (Py_ssize_t i = 1; i < count; i++) SLOT(object, sizeof(PyObject) + (i - 1) * sizeof(PyObject *)) = Py_NewRef(args[i]);
    return object;
}
