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
    enum { READ, READ_FROM, WRITE, CHUNKS, SIZE } form;
} Call;

INLINE void count_declined(Plan *plan) { SET_RELAXED(&plan->declined, GET_RELAXED(&plan->declined) + 1); }

static PyObject *purely(Call *self, PyObject *const *args, size_t flags, PyObject *names)
{
    PyObject *error = PyErr_Occurred();                  /* of __buffer__: Ctrl-C, or a recursion that the Python method would double */
    if (error != NULL && (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_RecursionError))) return NULL;
    PyErr_Clear();
    if (self->plan != NULL) count_declined(self->plan);
    return PyObject_Vectorcall(self->pure, args, flags, names);
}

/* Returns a new reference to the plan of a class; NULL, perhaps with an exception, if there is none. */
static Plan *plan_of(const Package *package, PyTypeObject *cls)
{
    PyObject *found = attribute_of(cls, package->plan_name);
    if (UNLIKELY(found == NULL)) found = PyObject_CallOneArg(package->make_plan, (PyObject *)cls);
    if (LIKELY(found != NULL && Py_TYPE(found) == package->plan_type)) return (Plan *)found;
    Py_XDECREF(found);
    return NULL;
}

/* Returns a copy of up to `most` of the `*left` bytes from `start` on of a buffer, which could change; NULL if declined. */
static PyObject *copy_bytes(PyObject *data, Py_ssize_t start, Py_ssize_t most, Py_ssize_t *left)
{
    Py_buffer buffer;
    if (PyBytes_Check(data) || PyObject_GetBuffer(data, &buffer, PyBUF_SIMPLE) < 0) return NULL;
    *left = buffer.len - start;
    Py_ssize_t size = *left < most ? *left : most;
    PyObject *bytes = size < 0 ? NULL : PyBytes_FromStringAndSize((const char *)buffer.buf + start, size);
    PyBuffer_Release(&buffer);
    return bytes;
}

/* Sizes of the copies of a buffer in which a message is looked for, before the Python method finds its end. */
enum { FIRST_COPY = 1 << 12, LAST_COPY = 1 << 18 };

static NOINLINE PyObject *read_buffer(const Plan *plan, const TextLayout *layout, PyObject *data, Py_ssize_t *at, int is_whole)
{
    PyObject *message = NULL;
    Py_ssize_t left, used;
    for (Py_ssize_t most = is_whole ? PY_SSIZE_T_MAX : FIRST_COPY; message == NULL; most *= 8) {
        PyObject *bytes = copy_bytes(data, *at, most, &left);
        if (UNLIKELY(bytes == NULL)) return NULL;
        message = read_message(plan, layout, (const uint8_t *)PyBytes_AS_STRING(bytes), PyBytes_GET_SIZE(bytes), &used);
        Py_DECREF(bytes);
        if (LIKELY(message != NULL)) *at += used;
        else if (left <= most || most >= LAST_COPY) break;
        else PyErr_Clear();
    }
    if (message != NULL && is_whole && used < left) Py_CLEAR(message);
    return message;
}

/* Reads a message at a position and sets the position after it; NULL if declined, or if the data must end there but does not. */
static PyObject *read_at(Call *self, PyObject *data, Py_ssize_t *at, PyObject *version, int is_whole)
{
    const TextLayout *layout = layout_at(self->plan, version);
    if (UNLIKELY(layout == NULL)) return NULL;
    if (UNLIKELY(!PyBytes_CheckExact(data))) return read_buffer(self->plan, layout, data, at, is_whole);
    Py_ssize_t left = PyBytes_GET_SIZE(data) - *at, used;
    if (UNLIKELY(left < 0)) return NULL;
    PyObject *message = read_message(self->plan, layout, (const uint8_t *)PyBytes_AS_STRING(data) + *at, left, &used);
    *at += used;
    if (UNLIKELY(message != NULL && is_whole && used < left)) Py_CLEAR(message);
    return message;
}

/* Checks that the arguments after the positional ones are named in order, as `wanted`. */
static int in_order(Py_ssize_t given, PyObject *names, Py_ssize_t count, const char *const *wanted)
{
    Py_ssize_t named = PyTuple_GET_SIZE(names);
    if (given + named != count) return 0;
    for (Py_ssize_t i = 0; i < named; i++) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), wanted[given + i]) != 0) return 0;
    }
    return 1;
}

/* Declares whether the arguments are those of the method, in order; otherwise the Python method handles them. */
#define ARGUMENTS(count, ...)                                                                          \
    static const char *const wanted[] = {__VA_ARGS__};                                                 \
    Call *self = (Call *)callable;                                                                     \
    Py_ssize_t given = PyVectorcall_NARGS(flags);                                                      \
    int is_usual = LIKELY(names == NULL) ? given == (count) : in_order(given, names, count, wanted);

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
    Py_ssize_t at = 0;
    PyObject *message = LIKELY(is_usual) ? read_at(self, args[0], &at, args[1], 1) : NULL;
    return LIKELY(message != NULL) ? of_class(self, message) : purely(self, args, flags, names);
}

static PyObject *call_read_from(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names)
{
    ARGUMENTS(3, "data", "offset", "version")
    int64_t offset;
    int is_offset = is_usual && int_of(args[1], &offset) == 0 && offset >= 0 && offset <= PY_SSIZE_T_MAX;
    Py_ssize_t at = is_offset ? (Py_ssize_t)offset : 0;
    PyObject *message = LIKELY(is_offset) ? read_at(self, args[0], &at, args[2], 0) : NULL;
    if (UNLIKELY(message == NULL)) return purely(self, args, flags, names);
    if ((message = of_class(self, message)) == NULL) return NULL;
    PyObject *end = PyLong_FromSsize_t(at);
    PyObject *result = end == NULL ? NULL : PyTuple_Pack(2, message, end);
    Py_XDECREF(end);
    Py_DECREF(message);
    return result;
}

/* Returns bytes, a list of them, or their number; NULL if declined. */
static PyObject *written(const Call *self, PyObject *const *args)
{
    Plan *plan = plan_of(self->package, Py_TYPE(args[0]));
    if (UNLIKELY(plan == NULL)) return NULL;
    const TextLayout *layout = IS_FREE_THREADED ? NULL : layout_at(plan, args[1]);
    PyObject *result = layout == NULL         ? NULL
                       : self->form == CHUNKS ? write_chunks(plan, layout, args[0])
                                              : write_message(plan, layout, args[0]);
    if (UNLIKELY(result == NULL)) count_declined(plan);
    Py_DECREF(plan);
    if (LIKELY(self->form != SIZE) || result == NULL) return result;
    PyObject *size = PyLong_FromSsize_t(PyBytes_GET_SIZE(result));
    Py_DECREF(result);
    return size;
}

/* `write`, `chunks` and `size`. The Python method also knows the size of some messages that cannot be written. */
static PyObject *call_write(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names)
{
    ARGUMENTS(2, "self", "version")
    PyObject *result = is_usual ? written(self, args) : NULL;
    return LIKELY(result != NULL) ? result : purely(self, args, flags, names);
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
    static const char *const methods[] = {"read", "read_from", "write", "chunks", "size"};
    const State *state = PyType_GetModuleState(type);
    PyObject *package, *base, *name;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!O!U", names, state->types[PACKAGE], &package, &PyType_Type, &base, &name)) {
        return NULL;
    }
    int is_reader = type == state->types[READ_METHOD], form = is_reader ? READ : WRITE, end = is_reader ? WRITE : SIZE + 1;
    while (form < end && PyUnicode_CompareWithASCIIString(name, methods[form]) != 0) form++;
    if (form == end) {
        const char *known = is_reader ? "read or read_from" : "write, chunks or size";
        PyErr_Format(PyExc_ValueError, "expected the name %s, got %R", known, name);
        return NULL;
    }
    Call *self = (Call *)new_call(type, (Package *)package, (PyTypeObject *)base, name);
    if (self == NULL) return NULL;
    self->form = form;
    self->call = is_reader ? NULL : call_write;
    self->pure = attribute_of((PyTypeObject *)base, name);
    if (self->pure != NULL) return (PyObject *)self;
    Py_DECREF(self);
    PyErr_Format(PyExc_ValueError, "%R has no method %R", base, name);
    return NULL;
}

static PyObject *bound(PyObject *pure, PyObject *object, PyTypeObject *cls)
{
    descrgetfunc get = Py_TYPE(pure)->tp_descr_get;
    return get == NULL ? Py_NewRef(pure) : get(pure, object, (PyObject *)cls);
}

/* Returns `read` or `read_from` bound to a class. Only those of the message class are cached, not those of subclasses. */
static PyObject *read_method_get(PyObject *callable, PyObject *object, PyObject *type)
{
    const Call *self = (Call *)callable;
    PyTypeObject *cls = type == NULL ? Py_TYPE(object) : (PyTypeObject *)type;           /* or any object, see below */
    Plan *plan = PyType_Check((PyObject *)cls) ? plan_of(self->package, cls) : NULL;
    if (UNLIKELY(plan == NULL)) return PyErr_Occurred() ? NULL : bound(self->pure, object, cls);
    PyObject **kept = !IS_FREE_THREADED && cls == message_of(plan) ? &plan->readers[self->form] : NULL;
    PyObject *found = kept == NULL ? NULL : Py_XNewRef(*kept);
    if (UNLIKELY(found == NULL)) {                       /* `pure` first: it may run code that finds an incomplete reader */
        PyObject *pure = bound(self->pure, NULL, cls);
        Call *reader = pure == NULL ? NULL : (Call *)new_call(self->package->reader_type, self->package, cls, self->name);
        if (reader == NULL) { Py_XDECREF(pure); Py_DECREF(plan); return NULL; }
        reader->call = self->form == READ ? call_read : call_read_from;
        reader->plan = (Plan *)Py_NewRef(plan);
        reader->pure = pure;
        found = (PyObject *)reader;
        if (kept != NULL) Py_XSETREF(*kept, Py_NewRef(found));
    }
    Py_DECREF(plan);
    return found;
}

#define CALL_REFERENCES(X) X(self->package); X(self->plan); X(self->cls); X(self->name); X(self->pure);
DEFINE_RELEASE(Call, call, CALL_REFERENCES)

static PyObject *write_method_get(PyObject *self, PyObject *object, PyObject *type)
{
    return object == NULL || object == Py_None ? Py_NewRef(self) : PyMethod_New(self, object);
}

/* Forwards missing attributes, such as name and signature, to the Python method, for help() and inspect. */
static PyObject *call_getattro(PyObject *self, PyObject *name)
{
    PyObject *pure = ((Call *)self)->pure;
    static const char *const of_type[] = {"__doc__", "__module__"};          /* which the type of `self` has too */
    for (int i = 0; i < 2 && PyUnicode_Check(name); i++) {
        if (PyUnicode_CompareWithASCIIString(name, of_type[i]) == 0) return PyObject_GetAttr(pure, name);
    }
    PyObject *result = PyObject_GenericGetAttr(self, name);
    if (result != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError)) return result;
    PyErr_Clear();
    return PyObject_GetAttr(pure, name);
}

static PyObject *call_reduce(PyObject *self, PyObject *unused)
{
    PyObject *getattr = PyEval_GetBuiltins() == NULL ? NULL : PyMapping_GetItemString(PyEval_GetBuiltins(), "getattr");
    if (getattr == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "cannot pickle a method: getattr is missing from the builtins namespace");
        return NULL;
    }
    return Py_BuildValue("N(OO)", getattr, ((Call *)self)->cls, ((Call *)self)->name);
}

static PyMemberDef call_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Call, call), READONLY, NULL},
    {"__wrapped__", T_OBJECT, offsetof(Call, pure), READONLY, "The pure method."},
    {NULL, 0, 0, 0, NULL},
};

static PyMethodDef call_methods[] = {{"__reduce__", call_reduce, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};

#define CALL_SLOTS                                                                                              \
    {Py_tp_traverse, call_traverse}, {Py_tp_dealloc, call_dealloc}, {Py_tp_methods, call_methods},              \
    {Py_tp_getattro, call_getattro}, {Py_tp_members, call_members}

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
