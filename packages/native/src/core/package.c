/* Classes and values of a generated package, apart from its messages. */
#include "core.h"

static int take_raw(Package *package, PyTypeObject *raw)
{
    package->raw = (PyTypeObject *)Py_NewRef((PyObject *)raw);
    if (!is_plain_class(raw)) {
        PyErr_SetString(PyExc_TypeError, "RawTaggedField must have only __slots__");
        return -1;
    }
    if (find_slot(raw, "", "tag", &package->raw_tag) < 0 || find_slot(raw, "", "data", &package->raw_data) < 0) return -1;
    return own_release(raw);
}

/* Finds the slots of uuid.UUID. The slot for weak references is not used. */
static int take_uuid(Package *package, PyObject *zero)
{
    PyTypeObject *uuid = Py_TYPE(zero);
    package->zero_uuid = Py_NewRef(zero);
    package->uuid = (PyTypeObject *)Py_NewRef((PyObject *)uuid);
    if (!PyType_IS_GC(uuid) || uuid->tp_itemsize != 0 || uuid->tp_dictoffset != 0 || uuid->tp_free != PyObject_GC_Del) {
        PyErr_Format(PyExc_TypeError, "expected a UUID of a supported memory layout, got %s", uuid->tp_name);
        return -1;
    }
    if (find_slot(uuid, "", "int", &package->uuid_int) < 0) return -1;
    if (find_slot(uuid, "", "is_safe", &package->uuid_is_safe) < 0) return -1;
    package->is_safe = Py_XNewRef(SLOT(zero, package->uuid_is_safe));
    if (package->is_safe == NULL) PyErr_SetString(PyExc_TypeError, "expected a UUID with the attribute is_safe");
    return package->is_safe == NULL ? -1 : 0;
}

static PyObject *package_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"", "", "", "", "", "", NULL};
    const State *state = PyType_GetModuleState(type);
    PyObject *raw, *zero, *nulled, *unset, *as_derived, *make_plan;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!OOOOO", names, &PyType_Type, &raw, &zero, &nulled, &unset, &as_derived,
                                     &make_plan)) {
        return NULL;
    }
    Package *package = (Package *)type->tp_alloc(type, 0);
    if (package == NULL) return NULL;
    package->nulled = Py_NewRef(nulled);
    package->unset = Py_NewRef(unset);
    package->as_derived = Py_NewRef(as_derived);
    package->make_plan = Py_NewRef(make_plan);
    package->plan_type = (PyTypeObject *)Py_NewRef(state->types[PLAN]);
    package->reader_type = (PyTypeObject *)Py_NewRef(state->types[READER]);
    package->init_name = Py_NewRef(state->names[INIT_NAME]);
    package->plan_name = Py_NewRef(state->names[PLAN_NAME]);
    package->empty_tuple = PyTuple_New(0);
    int failed = package->empty_tuple == NULL || take_raw(package, (PyTypeObject *)raw) < 0 || take_uuid(package, zero) < 0;
    for (int i = 0; !failed && i < CACHED_INTS; i++) failed = (package->small[i] = PyLong_FromLong(LOWEST_INT + i)) == NULL;
    if (!failed) return (PyObject *)package;
    Py_DECREF(package);
    return NULL;
}

#define PACKAGE_REFERENCES(X)                                                                                  \
    X(self->raw); X(self->uuid); X(self->is_safe); X(self->zero_uuid); X(self->nulled); X(self->unset);        \
    X(self->as_derived); X(self->make_plan); X(self->plan_type); X(self->reader_type); X(self->init_name);     \
    X(self->plan_name); X(self->empty_tuple); for (int i = 0; i < CACHED_INTS; i++) X(self->small[i]);

DEFINE_RELEASE(Package, package, PACKAGE_REFERENCES)

static PyType_Slot package_slots[] = {
    {Py_tp_new, package_new},
    {Py_tp_traverse, package_traverse},
    {Py_tp_dealloc, package_dealloc},
    {Py_tp_doc, "Package(raw_tagged_field, zero_uuid, nulled, unset, as_derived, make_plan, /)\n--\n\nObjects that the "
                "plans of a package share. make_plan(cls) stores the plan of a message, or None, in its class, and returns it."},
    {0, NULL},
};

PyType_Spec package_spec = {
    "kafka_messages_native._core.Package", sizeof(Package), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, package_slots,
};
