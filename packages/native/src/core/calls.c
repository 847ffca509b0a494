/* Methods of the base class of messages: read, read_from, write, chunks and size.
 *
 * Each calls the Python method with the original arguments if anything is declined. The plan of a message is an
 * attribute of its class, created on first use. */
#include "core.h"
#include <structmember.h>

/* A method of the base class `Message`, or its `read` or `read_from` bound to one class. */
typedef struct {
    PyObject_HEAD
    vectorcallfunc call;         /* NULL for unbound `read` and `read_from` */
    Package *package;
    Plan *plan;                  /* for a reader, the plan of its class; else NULL */
    PyTypeObject *cls;
    PyObject *name, *pure;       /* `pure`: the Python method; for a reader, bound to the class */
} Call;

static PyObject *purely(Call *self, PyObject *const *args, size_t flags, PyObject *names)
{
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) return NULL;   /* such as Ctrl-C in __buffer__ */
    PyErr_Clear();
    if (self->plan != NULL) self->plan->declined++;
    return PyObject_Vectorcall(self->pure, args, flags, names);
}

/* Returns a new reference to the plan of a class; NULL, perhaps with an exception, if there is none. */
static Plan *plan_of(const Package *package, PyTypeObject *cls)
{
    PyObject *found = Py_XNewRef(_PyType_Lookup(cls, package->plan_name));
    if (UNLIKELY(found == NULL)) found = PyObject_CallOneArg(package->make_plan, (PyObject *)cls);
    if (LIKELY(found != NULL && Py_TYPE(found) == package->plan_type)) return (Plan *)found;
    Py_XDECREF(found);
    return NULL;
}

/* Returns exact bytes, or a copy of another buffer, which could change; NULL if declined. */
static PyObject *as_bytes(PyObject *data)
{
    if (LIKELY(PyBytes_CheckExact(data))) return Py_NewRef(data);
    Py_buffer buffer;
    if (PyBytes_Check(data) || PyObject_GetBuffer(data, &buffer, PyBUF_SIMPLE) < 0) return NULL;
    PyObject *bytes = PyBytes_FromStringAndSize(buffer.buf, buffer.len);
    PyBuffer_Release(&buffer);
    return bytes;
}

/* Reads a message and sets the bytes used and left; NULL if declined. */
static PyObject *read_at(Call *self, PyObject *data, Py_ssize_t offset, PyObject *version, Py_ssize_t *used,
                         Py_ssize_t *left)
{
    const Layout *layout = layout_at(self->plan, version);
    PyObject *bytes = LIKELY(layout != NULL) ? as_bytes(data) : NULL, *message = NULL;
    if (UNLIKELY(bytes == NULL)) return NULL;
    Py_ssize_t size = PyBytes_GET_SIZE(bytes) - offset;
    if (LIKELY(size >= 0)) {
        message = read_message(self->plan, layout, (const uint8_t *)PyBytes_AS_STRING(bytes) + offset, size, used);
        *left = size - *used;
    }
    Py_DECREF(bytes);
    return message;
}

/* Puts `count` positional and keyword arguments in order; 0 if the Python method must report an error. */
static int in_order(PyObject *const *args, Py_ssize_t given, PyObject *names, int count, const char *const *wanted,
                    PyObject **out)
{
    Py_ssize_t named = PyTuple_GET_SIZE(names);
    if (given + named != count) return 0;
    for (int i = 0; i < count; i++) out[i] = i < given ? args[i] : NULL;
    for (Py_ssize_t k = 0; k < named; k++) {
        for (int i = (int)given; i < count; i++) {
            if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, k), wanted[i]) == 0) out[i] = args[given + k];
        }
    }
    for (int i = 0; i < count; i++) if (out[i] == NULL) return 0;
    return 1;
}

/* Sets `values` to the arguments in order, or to NULL if the Python method must report an error. */
#define ARGUMENTS(count, ...)                                                                          \
    PyObject *ordered[count];                                                                          \
    Call *self = (Call *)callable;                                                                     \
    Py_ssize_t given = PyVectorcall_NARGS(flags);                                                      \
    PyObject *const *values = args;                                                                    \
    if (UNLIKELY(names != NULL)) {                                                                     \
        static const char *const wanted[] = {__VA_ARGS__};                                             \
        values = in_order(args, given, names, count, wanted, ordered) ? ordered : NULL;                \
    } else if (given != (count)) {                                                                     \
        values = NULL;                                                                                 \
    }

/* Converts a message to the requested class; steals the reference. */
INLINE PyObject *of_class(const Call *self, PyObject *message)
{
    if (LIKELY(self->cls == message_of(self->plan))) return message;
    PyObject *derived = PyObject_CallFunctionObjArgs(self->package->as_derived, self->cls, message, NULL);
    Py_DECREF(message);
    return derived;
}

static PyObject *call_read(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names)
{
    ARGUMENTS(2, "data", "version")
    if (LIKELY(values != NULL)) {
        Py_ssize_t used, left;
        PyObject *message = read_at(self, values[0], 0, values[1], &used, &left);
        if (LIKELY(message != NULL)) {
            if (LIKELY(left == 0)) return of_class(self, message);
            Py_DECREF(message);
        }
    }
    return purely(self, args, flags, names);
}

static PyObject *call_read_from(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names)
{
    ARGUMENTS(3, "data", "offset", "version")
    int64_t offset;
    if (LIKELY(values != NULL && int_of(values[1], &offset) == 0 && offset >= 0 && offset <= PY_SSIZE_T_MAX)) {
        Py_ssize_t used, left;
        PyObject *message = read_at(self, values[0], (Py_ssize_t)offset, values[2], &used, &left);
        if (LIKELY(message != NULL)) {
            if ((message = of_class(self, message)) == NULL) return NULL;
            PyObject *end = PyLong_FromSsize_t((Py_ssize_t)offset + used);
            PyObject *result = end == NULL ? NULL : PyTuple_Pack(2, message, end);
            Py_XDECREF(end);
            Py_DECREF(message);
            return result;
        }
    }
    return purely(self, args, flags, names);
}

/* Returns bytes or a list of them; NULL if declined. */
static PyObject *written(const Call *self, PyObject *const *values, int in_pieces)
{
    Plan *plan = values == NULL ? NULL : plan_of(self->package, Py_TYPE(values[0]));
    if (UNLIKELY(plan == NULL)) return NULL;
    const Layout *layout = layout_at(plan, values[1]);
    PyObject *result = layout == NULL ? NULL
                       : in_pieces    ? write_chunks(plan, layout, values[0])
                                      : write_message(plan, layout, values[0], &plan->hint);
    if (UNLIKELY(result == NULL)) plan->declined++;
    Py_DECREF(plan);
    return result;
}

static PyObject *call_write(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names)
{
    ARGUMENTS(2, "self", "version")
    PyObject *bytes = written(self, values, 0);
    return LIKELY(bytes != NULL) ? bytes : purely(self, args, flags, names);
}

static PyObject *call_chunks(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names)
{
    ARGUMENTS(2, "self", "version")
    PyObject *pieces = written(self, values, 1);
    return LIKELY(pieces != NULL) ? pieces : purely(self, args, flags, names);
}

/* Writes and counts the bytes. The Python method also knows the size of some messages that cannot be written. */
static PyObject *call_size(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names)
{
    ARGUMENTS(2, "self", "version")
    PyObject *bytes = written(self, values, 0);
    if (UNLIKELY(bytes == NULL)) return purely(self, args, flags, names);
    PyObject *size = PyLong_FromSsize_t(PyBytes_GET_SIZE(bytes));
    Py_DECREF(bytes);
    return size;
}

static PyObject *new_call(PyTypeObject *type, const Package *package, PyTypeObject *cls, PyObject *name)
{
    Call *self = (Call *)type->tp_alloc(type, 0);
    if (self == NULL) return NULL;
    self->package = (Package *)Py_NewRef(package);
    self->cls = (PyTypeObject *)Py_NewRef(cls);
    self->name = Py_NewRef(name);
    return (PyObject *)self;
}

/* ReadMethod(package, base, name) and WriteMethod(package, base, name) replace a method of the base class. */
static PyObject *method_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"", "", "", NULL};
    static const struct { const char *name; vectorcallfunc call; int is_reader; } methods[] = {
        {"read", NULL, 1}, {"read_from", NULL, 1}, {"write", call_write, 0}, {"chunks", call_chunks, 0}, {"size", call_size, 0},
    };
    const State *state = PyType_GetModuleState(type);
    PyObject *package, *base, *name;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!O!U", names, state->types[PACKAGE], &package, &PyType_Type, &base, &name)) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (PyUnicode_CompareWithASCIIString(name, methods[i].name) != 0) continue;
        if (methods[i].is_reader != (type == state->types[READ_METHOD])) break;
        Call *self = (Call *)new_call(type, (Package *)package, (PyTypeObject *)base, name);
        if (self == NULL) return NULL;
        self->call = methods[i].call;
        self->pure = Py_XNewRef(_PyType_Lookup((PyTypeObject *)base, name));
        if (self->pure != NULL) return (PyObject *)self;
        Py_DECREF(self);
        PyErr_Format(PyExc_ValueError, "%R has no method %R", base, name);
        return NULL;
    }
    const char *known = type == state->types[READ_METHOD] ? "read or read_from" : "write, chunks or size";
    PyErr_Format(PyExc_ValueError, "expected the name %s, got %R", known, name);
    return NULL;
}

/* Returns `read` or `read_from` bound to a class. Only those of the message class are cached, not those of subclasses. */
static PyObject *read_method_get(PyObject *callable, PyObject *object, PyObject *type)
{
    const Call *self = (Call *)callable;
    PyTypeObject *cls = type != NULL && PyType_Check(type) ? (PyTypeObject *)type : Py_TYPE(object);
    Plan *plan = plan_of(self->package, cls);
    if (UNLIKELY(plan == NULL)) {
        if (PyErr_Occurred()) return NULL;
        return Py_TYPE(self->pure)->tp_descr_get(self->pure, object, type);
    }
    int is_from = PyUnicode_GET_LENGTH(self->name) > 4;
    PyObject **kept = cls == message_of(plan) ? &plan->readers[is_from] : NULL;
    PyObject *found = kept == NULL ? NULL : Py_XNewRef(*kept);
    if (UNLIKELY(found == NULL) && (found = new_call(self->package->reader_type, self->package, cls, self->name)) != NULL) {
        Call *reader = (Call *)found;
        reader->call = is_from ? call_read_from : call_read;
        reader->plan = (Plan *)Py_NewRef(plan);
        reader->pure = Py_TYPE(self->pure)->tp_descr_get(self->pure, NULL, (PyObject *)cls);
        if (reader->pure == NULL) Py_CLEAR(found);
        else if (kept != NULL) Py_XSETREF(*kept, Py_NewRef(found));
    }
    Py_DECREF(plan);
    return found;
}

static int call_traverse(Call *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->package);
    Py_VISIT(self->plan);
    Py_VISIT(self->cls);
    Py_VISIT(self->pure);
    return 0;                    /* no tp_clear: plans and classes break all cycles */
}

static void call_dealloc(Call *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->package);
    Py_XDECREF(self->plan);
    Py_XDECREF(self->cls);
    Py_XDECREF(self->name);
    Py_XDECREF(self->pure);
    type->tp_free(self);
    Py_DECREF(type);
}

/* Binds a method to an object. */
static PyObject *write_method_get(PyObject *self, PyObject *object, PyObject *type)
{
    return object == NULL || object == Py_None ? Py_NewRef(self) : PyMethod_New(self, object);
}

/* Forwards missing attributes, such as name and signature, to the Python method, for help() and inspect. */
static PyObject *call_getattro(PyObject *self, PyObject *name)
{
    int is_module = PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, "__module__") == 0;
    PyObject *result = is_module ? PyObject_GetAttr(((Call *)self)->pure, name) : PyObject_GenericGetAttr(self, name);
    if (result != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError)) return result;
    PyErr_Clear();
    return PyObject_GetAttr(((Call *)self)->pure, name);
}

static PyObject *call_doc(PyObject *self, void *unused) { return PyObject_GetAttrString(((Call *)self)->pure, "__doc__"); }

static PyObject *call_reduce(PyObject *self, PyObject *unused)
{
    PyObject *getattr = PyEval_GetBuiltins() == NULL ? NULL : PyDict_GetItemString(PyEval_GetBuiltins(), "getattr");
    if (getattr == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "cannot pickle a method: getattr is missing from the builtins namespace");
        return NULL;
    }
    return Py_BuildValue("O(OO)", getattr, ((Call *)self)->cls, ((Call *)self)->name);
}

static PyMemberDef call_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Call, call), READONLY, NULL},
    {"__wrapped__", T_OBJECT, offsetof(Call, pure), READONLY, "The pure method."},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef call_properties[] = {{"__doc__", call_doc, NULL, NULL, NULL}, {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef call_methods[] = {{"__reduce__", call_reduce, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};

#define CALL_SLOTS                                                                                              \
    {Py_tp_traverse, call_traverse}, {Py_tp_dealloc, call_dealloc}, {Py_tp_getset, call_properties},            \
    {Py_tp_methods, call_methods}, {Py_tp_getattro, call_getattro}, {Py_tp_members, call_members}

/* Immutable, so that the interpreter caches lookups. */
#define CALL_FLAGS (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE)
#define CALLED (Py_TPFLAGS_HAVE_VECTORCALL | CALL_FLAGS)

static PyType_Slot reader_slots[] = {CALL_SLOTS, {Py_tp_call, PyVectorcall_Call}, {0, NULL}};
static PyType_Slot read_method_slots[] = {CALL_SLOTS, {Py_tp_new, method_new}, {Py_tp_descr_get, read_method_get}, {0, NULL}};
static PyType_Slot write_method_slots[] = {
    CALL_SLOTS, {Py_tp_new, method_new}, {Py_tp_call, PyVectorcall_Call}, {Py_tp_descr_get, write_method_get}, {0, NULL},
};

PyType_Spec reader_spec = {
    "kafka_messages_native._core.Reader", sizeof(Call), 0, CALLED | Py_TPFLAGS_DISALLOW_INSTANTIATION, reader_slots,
};
PyType_Spec read_method_spec = {"kafka_messages_native._core.ReadMethod", sizeof(Call), 0, CALL_FLAGS, read_method_slots};
PyType_Spec write_method_spec = {
    "kafka_messages_native._core.WriteMethod", sizeof(Call), 0, CALLED | Py_TPFLAGS_METHOD_DESCRIPTOR, write_method_slots,
};
