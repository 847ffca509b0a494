/* Constructors by keyword: what the printed __init__ does, without a frame. Whatever is not plain goes to __init__. */
#include "core.h"

/* Stands in the dictionary of a class, where its tp_vectorcall finds it. */
typedef struct {
    PyObject_HEAD
    Plan *plan;
    const Struct *structure;
    PyObject *init;              /* the printed one */
    unsigned int version;        /* of the class when `init` was last seen there */
} Maker;

PyObject *maker_name, *init_name, *plan_name;    /* interned; module.c sets them, in the one interpreter that has the core */

static void maker_dealloc(Maker *maker)
{
    PyTypeObject *type = Py_TYPE(maker);
    PyObject_GC_UnTrack(maker);
    Py_XDECREF(maker->plan);
    Py_XDECREF(maker->init);
    type->tp_free(maker);
    Py_DECREF(type);
}

static int maker_traverse(Maker *maker, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(maker));
    Py_VISIT(maker->plan);
    Py_VISIT(maker->init);
    return 0;
}

static PyObject *called_slowly(PyTypeObject *cls, PyObject *const *args, size_t flags, PyObject *keywords)
{
    Py_ssize_t given = PyVectorcall_NARGS(flags), named = keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords);
    PyObject *positional = PyTuple_New(given), *by_name = PyDict_New(), *result = NULL;
    if (positional == NULL || by_name == NULL) goto done;
    for (Py_ssize_t i = 0; i < given; i++) PyTuple_SET_ITEM(positional, i, Py_NewRef(args[i]));
    for (Py_ssize_t i = 0; i < named; i++) {
        if (PyDict_SetItem(by_name, PyTuple_GET_ITEM(keywords, i), args[given + i]) < 0) goto done;
    }
    result = PyType_Type.tp_call((PyObject *)cls, positional, by_name);
done:
    Py_XDECREF(positional);
    Py_XDECREF(by_name);
    return result;
}

/* Whether the class still makes objects by its printed constructor; nobody is told when that changes. */
static int is_as_printed(PyTypeObject *cls, Maker *maker)
{
    if (LIKELY(maker->version != 0 && cls->tp_version_tag == maker->version)) return 1;
    if (cls->tp_new != PyBaseObject_Type.tp_new || cls->tp_setattro != PyObject_GenericSetAttr) return 0;
    if (cls->tp_finalize != NULL) return 0;              /* it would meet the object that fill() gave up */
    if (_PyType_Lookup(cls, init_name) != maker->init) return 0;
    if (cls->tp_finalize != NULL) return 0;              /* it would see objects that were begun and given up */
    maker->version = cls->tp_version_tag;
    return 1;
}

/* A list of the elements of a list or tuple, of the class that the field has; NULL without an exception if the new list
 * made the collector run, which may run code of others, and that changed `values`. */
static PyObject *list_of(PyTypeObject *cls, PyObject *values)
{
    Py_ssize_t count = PySequence_Fast_GET_SIZE(values);
    PyObject *list = new_list(cls, count);
    if (list == NULL) return NULL;
    if (UNLIKELY(PySequence_Fast_GET_SIZE(values) != count)) { PyObject_GC_Track(list); Py_DECREF(list); return NULL; }
    PyObject **from = PySequence_Fast_ITEMS(values), **to = ((PyListObject *)list)->ob_item;
    for (Py_ssize_t i = 0; i < count; i++) to[i] = Py_NewRef(from[i]);
    PyObject_GC_Track(list);
    return list;
}

/* What a field becomes when it is given a value; NULL without an exception where __init__ has to say. */
static PyObject *kept(const Package *package, const Field *field, PyObject *value)
{
    if (field->is_array) {
        if (value == Py_None) return field->is_nullable ? Py_NewRef(value) : NULL;
        if (PyObject_TypeCheck(value, field->list)) return Py_NewRef(value);
        if (PyList_CheckExact(value) || PyTuple_CheckExact(value)) return list_of(field->list, value);
        return NULL;
    }
    if (field->by_default == NEW_STRUCT) {
        if (value == package->unset) return NULL;
        if (value == Py_None && !field->is_nullable) return new_default(package, field);
    }
    return Py_NewRef(value);
}

static const Field *field_called(const Struct *structure, PyObject *name, const Field **next)
{
    const Field *last = structure->fields + structure->count;
    for (const Field *field = *next; field < last; field++) {    /* nearly always in order */
        if (field->name == name) { *next = field + 1; return field; }
    }
    for (const Field *field = structure->fields; field < *next; field++) if (field->name == name) return field;
    return NULL;
}

/* -1 where __init__ has to say, or with an exception where there is no memory. */
static int fill(const Maker *maker, PyObject *object, PyObject *const *values, PyObject *names)
{
    const Struct *structure = maker->structure;
    const Package *package = maker->plan->package;
    const Field *next = structure->fields;
    Py_ssize_t count = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    for (Py_ssize_t i = 0; i < count; i++) {
        const Field *field = field_called(structure, PyTuple_GET_ITEM(names, i), &next);
        PyObject *value = field == NULL ? NULL : kept(package, field, values[i]);
        if (UNLIKELY(value == NULL)) return -1;
        SLOT(object, field->slot) = value;
    }
    for (const Field *field = structure->fields; field < structure->fields + structure->count; field++) {
        PyObject **slot = &SLOT(object, field->slot);
        if (*slot == NULL && (*slot = new_default(package, field)) == NULL) return -1;
    }
    SLOT(object, structure->unknown) = Py_NewRef(package->empty_tuple);
    return 0;
}

/* The maker in a class's own dictionary, borrowed; NULL where there is none, or somebody put another thing there. */
INLINE Maker *maker_of(PyTypeObject *cls)
{
    PyObject *found = _PyType_Lookup(cls, maker_name);
    if (UNLIKELY(found == NULL || Py_TYPE(found)->tp_dealloc != (destructor)maker_dealloc)) return NULL;
    return ((Maker *)found)->structure->cls == cls ? (Maker *)found : NULL;
}

/* tp_vectorcall of a class. Its subclasses do not inherit it. */
static PyObject *made(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names)
{
    PyTypeObject *cls = (PyTypeObject *)callable;
    Maker *maker = maker_of(cls);
    if (UNLIKELY(maker == NULL || PyVectorcall_NARGS(flags) != 0 || !is_as_printed(cls, maker))) {
        return called_slowly(cls, args, flags, names);
    }
    Py_INCREF(maker);
    PyObject *object = new_object(cls);
    int failed = object == NULL || fill(maker, object, args, names) < 0;
    Py_DECREF(maker);
    if (object != NULL) PyObject_GC_Track(object);       /* a caller can give it anything, itself too */
    if (LIKELY(!failed)) return object;
    Py_XDECREF(object);
    return PyErr_Occurred() ? NULL : called_slowly(cls, args, flags, names);
}

/* Maker(plan, class): for one of the plan's structs, as it is now. */
static PyObject *maker_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"", "", NULL};
    PyObject *plan, *cls;
    PyTypeObject *wanted = ((State *)PyType_GetModuleState(type))->plan;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!O!", names, wanted, &plan, &PyType_Type, &cls)) return NULL;
    Maker *maker = (Maker *)type->tp_alloc(type, 0);
    if (maker == NULL) return NULL;
    maker->plan = (Plan *)Py_NewRef(plan);
    for (int i = 0; i < maker->plan->struct_count; i++) {
        const Struct *structure = maker->plan->structs[i];
        if ((PyObject *)structure->cls == cls) maker->structure = structure;
    }
    maker->init = Py_XNewRef(_PyType_Lookup((PyTypeObject *)cls, init_name));
    if (maker->structure != NULL && maker->init != NULL) return (PyObject *)maker;
    PyErr_SetString(PyExc_TypeError, "the plan has no such struct");
    Py_DECREF(maker);
    return NULL;
}

/* use_maker(class): from now on calls of the class go to its maker. */
PyObject *use_maker(PyObject *module, PyObject *cls)
{
    if (!PyType_Check(cls) || maker_of((PyTypeObject *)cls) == NULL) {
        PyErr_SetString(PyExc_TypeError, "the class has no maker");
        return NULL;
    }
    ((PyTypeObject *)cls)->tp_vectorcall = made;
    Py_RETURN_NONE;
}

static PyType_Slot maker_slots[] = {
    {Py_tp_new, maker_new},
    {Py_tp_traverse, maker_traverse},
    {Py_tp_dealloc, maker_dealloc},
    {Py_tp_doc, "Maker(plan, cls, /)\n--\n\nThe constructor of one class of a plan."},
    {0, NULL},
};

PyType_Spec maker_spec = {
    "kafka_messages_native._core.Maker", sizeof(Maker), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, maker_slots,
};
