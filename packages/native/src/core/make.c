/* Constructors with keyword arguments, without a Python frame. Unusual arguments go to the generated __init__. */
#include "core.h"

/* The native constructor of a class: its attribute `_maker`, which its tp_vectorcall uses. */
typedef struct {
    PyObject_HEAD
    Plan *plan;
    const TextStruct *structure;
    PyObject *init;              /* generated __init__ */
    unsigned int version;        /* version tag of the class when `init` was last found */
} Maker;

#define MAKER_REFERENCES(X) X(self->plan); X(self->init);
DEFINE_RELEASE(Maker, maker, MAKER_REFERENCES)

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

/* Checks whether the class still uses the generated constructor. */
static int is_as_printed(PyTypeObject *cls, Maker *maker)
{
    if (LIKELY(maker->version != 0 && cls->tp_version_tag == maker->version)) return 1;
    if (cls->tp_new != PyBaseObject_Type.tp_new || cls->tp_setattro != PyObject_GenericSetAttr) return 0;
    if (cls->tp_finalize != NULL) return 0;              /* it would see an object abandoned by fill() */
    if (_PyType_Lookup(cls, maker->plan->package->init_name) != maker->init) return 0;
    maker->version = cls->tp_version_tag;
    return 1;
}

/* Creates a list of the field's class from a list or tuple; NULL without an exception if an allocation ran the
 * garbage collector, which changed `values`. */
static PyObject *list_of(PyTypeObject *cls, PyObject *values)
{
    Py_ssize_t count = PySequence_Fast_GET_SIZE(values);
    PyObject *list = new_list(cls, count);
    if (list == NULL) return NULL;
    if (UNLIKELY(PySequence_Fast_GET_SIZE(values) != count)) { drop_untracked(list); return NULL; }
    PyObject **from = PySequence_Fast_ITEMS(values), **to = ((PyListObject *)list)->ob_item;
    for (Py_ssize_t i = 0; i < count; i++) to[i] = Py_NewRef(from[i]);
    PyObject_GC_Track(list);
    return list;
}

/* Converts the value of a field; NULL without an exception if __init__ must handle it. */
static PyObject *kept(const Package *package, const TextField *field, PyObject *value)
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

static const TextField *field_called(const TextStruct *structure, PyObject *name, const TextField **next)
{
    const TextField *last = structure->fields + structure->count;
    for (const TextField *field = *next; field < last; field++) {    /* usually in order */
        if (field->keyword == name) { *next = field + 1; return field; }
    }
    for (const TextField *field = structure->fields; field < *next; field++) if (field->keyword == name) return field;
    return NULL;
}

/* Sets the fields; -1 if __init__ must handle the call, or with MemoryError. */
static int fill(const Maker *maker, PyObject *object, PyObject *const *values, PyObject *names)
{
    const TextStruct *structure = maker->structure;
    const Package *package = maker->plan->package;
    const TextField *next = structure->fields;
    Py_ssize_t count = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    for (Py_ssize_t i = 0; i < count; i++) {
        const TextField *field = field_called(structure, PyTuple_GET_ITEM(names, i), &next);
        PyObject *value = field == NULL ? NULL : kept(package, field, values[i]);
        if (UNLIKELY(value == NULL)) return -1;
        SLOT(object, field->slot) = value;
    }
    for (const TextField *field = structure->fields; field < structure->fields + structure->count; field++) {
        PyObject **slot = &SLOT(object, field->slot);
        if (*slot == NULL && (*slot = new_default(package, field)) == NULL) return -1;
    }
    SLOT(object, structure->unknown) = Py_NewRef(package->empty_tuple);
    return 0;
}

/* Returns the maker in a class's own dictionary, borrowed; NULL if there is none, or no module any more. */
INLINE Maker *maker_of(PyTypeObject *cls, PyObject *module)
{
    const State *state = LIKELY(module != NULL) ? PyModule_GetState(module) : NULL;
    PyObject *found = UNLIKELY(state == NULL) ? NULL : _PyType_Lookup(cls, state->names[MAKER_NAME]);
    if (UNLIKELY(found == NULL || Py_TYPE(found) != state->types[MAKER])) return NULL;
    return ((Maker *)found)->structure->cls == cls ? (Maker *)found : NULL;
}

/* tp_vectorcall of a class, not inherited by subclasses. */
static PyObject *made(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names)
{
    PyTypeObject *cls = (PyTypeObject *)callable;
    Maker *maker = maker_of(cls, ((PyHeapTypeObject *)cls)->ht_module);
    if (UNLIKELY(maker == NULL || PyVectorcall_NARGS(flags) != 0 || !is_as_printed(cls, maker))) {
        return called_slowly(cls, args, flags, names);
    }
    Py_INCREF(maker);
    PyObject *object = new_object(cls);
    int failed = object == NULL || fill(maker, object, args, names) < 0;
    Py_DECREF(maker);
    if (object != NULL) PyObject_GC_Track(object);       /* values may refer to it */
    if (LIKELY(!failed)) return object;
    Py_XDECREF(object);
    return PyErr_Occurred() ? NULL : called_slowly(cls, args, flags, names);
}

/* Maker(plan, class), for one of the plan's structs. */
static PyObject *maker_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"", "", NULL};
    PyObject *plan, *cls;
    PyTypeObject *wanted = ((State *)PyType_GetModuleState(type))->types[PLAN];
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!O!", names, wanted, &plan, &PyType_Type, &cls)) return NULL;
    Maker *maker = (Maker *)type->tp_alloc(type, 0);
    if (maker == NULL) return NULL;
    maker->plan = (Plan *)Py_NewRef(plan);
    for (int i = 0; i < maker->plan->text.struct_count; i++) {
        const TextStruct *structure = &maker->plan->text.structs[i];
        if ((PyObject *)structure->cls == cls) maker->structure = structure;
    }
    maker->init = attribute_of((PyTypeObject *)cls, maker->plan->package->init_name);
    if (maker->structure != NULL && maker->init != NULL) return (PyObject *)maker;
    Py_DECREF(maker);
    PyErr_Format(PyExc_TypeError, "%R is not a class of the plan", cls);     /* after: its repr() may find the maker */
    return NULL;
}

/* use_maker(class): routes calls of the class to its maker, whose name the module knows. */
PyObject *use_maker(PyObject *module, PyObject *cls)
{
    if (!PyType_Check(cls) || maker_of((PyTypeObject *)cls, module) == NULL) {
        PyErr_Format(PyExc_TypeError, "expected a class with its own Maker in _maker, got %R", cls);
        return NULL;
    }
    if (IS_FREE_THREADED) Py_RETURN_NONE;                /* the generated constructor stays in use */
    Py_XSETREF(((PyHeapTypeObject *)cls)->ht_module, Py_NewRef(module));     /* NULL for classes created by Python code */
    ((PyTypeObject *)cls)->tp_vectorcall = made;
    Py_RETURN_NONE;
}

static PyType_Slot maker_slots[] = {
    {Py_tp_new, maker_new},
    {Py_tp_traverse, maker_traverse},
    {Py_tp_dealloc, maker_dealloc},
    {Py_tp_doc, "Maker(plan, cls, /)\n--\n\nThe native constructor of one class of a plan."},
    {0, NULL},
};

PyType_Spec maker_spec = {
    "kafka_messages_native._core.Maker", sizeof(Maker), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, maker_slots,
};
