/* What stands in a message class in place of its pure methods: read, read_from, write, chunks and size.
 *
 * Each knows the pure one, and calls it with the very arguments it got whenever something is declined.
 */
#include "core.h"
#include <structmember.h>

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    Plan *plan;
    PyObject *pure;              /* bound to the class where it is a class method */
    PyObject *owner, *name;      /* the class and attribute, for pickles */
    PyObject *derived;           /* of readers: called in place of all when others are derived from the class, or NULL */
    Py_ssize_t hint;             /* of writers: bytes that the next message may take */
    unsigned long long declined;
} Call;

static PyObject *purely(Call *self, PyObject *const *args, size_t flags, PyObject *names)
{
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) return NULL;   /* Ctrl-C in a buffer's own code */
    PyErr_Clear();
    self->declined++;
    return PyObject_Vectorcall(self->pure, args, flags, names);
}

/* The bytes of any buffer, as the pure code copies them: nobody can change them while they are looked at. */
static PyObject *as_bytes(PyObject *data)
{
    if (LIKELY(PyBytes_CheckExact(data))) return Py_NewRef(data);
    Py_buffer buffer;
    if (PyBytes_Check(data) || PyObject_GetBuffer(data, &buffer, PyBUF_SIMPLE) < 0) return NULL;
    PyObject *bytes = PyBytes_FromStringAndSize(buffer.buf, buffer.len);
    PyBuffer_Release(&buffer);
    return bytes;
}

/* A message from the bytes of any buffer, and how many of them it took and left; NULL where it is declined. */
static PyObject *read_at(Call *self, PyObject *data, Py_ssize_t offset, PyObject *version, Py_ssize_t *taken,
                         Py_ssize_t *left)
{
    const Layout *layout = layout_at(self->plan, version);
    PyObject *bytes = LIKELY(layout != NULL) ? as_bytes(data) : NULL, *message = NULL;
    if (UNLIKELY(bytes == NULL)) return NULL;
    Py_ssize_t size = PyBytes_GET_SIZE(bytes) - offset;
    if (LIKELY(size >= 0)) {
        message = read_message(self->plan, layout, (const uint8_t *)PyBytes_AS_STRING(bytes) + offset, size, taken);
        *left = size - *taken;
    }
    Py_DECREF(bytes);
    return message;
}

/* The arguments in order, `count` of them, by position or by the names of the pure method; 0 where it has to say. */
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

/* Point `args` at the arguments in order, or go to the pure method. */
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

/* Whether somebody derived classes from that of the message, and this call is for the class alone: it does not get to
 * know for which class it was looked up, and to ask for that each time would cost more than all else. */
INLINE int is_unsure(const Call *self)
{
    return UNLIKELY(((PyTypeObject *)self->owner)->tp_subclasses != NULL) && self->derived != NULL;
}

static PyObject *call_read(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names)
{
    ARGUMENTS(2, "data", "version")
    if (is_unsure(self)) return PyObject_Vectorcall(self->derived, args, flags, names);
    if (LIKELY(values != NULL)) {
        Py_ssize_t taken, left;
        PyObject *message = read_at(self, values[0], 0, values[1], &taken, &left);
        if (LIKELY(message != NULL)) {
            if (LIKELY(left == 0)) return message;
            Py_DECREF(message);
        }
    }
    return purely(self, args, flags, names);
}

static PyObject *call_read_from(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names)
{
    ARGUMENTS(3, "data", "offset", "version")
    int64_t offset;
    if (is_unsure(self)) return PyObject_Vectorcall(self->derived, args, flags, names);
    if (LIKELY(values != NULL && int_of(values[1], &offset) == 0 && offset >= 0 && offset <= PY_SSIZE_T_MAX)) {
        Py_ssize_t taken, left;
        PyObject *message = read_at(self, values[0], (Py_ssize_t)offset, values[2], &taken, &left);
        if (LIKELY(message != NULL)) {
            PyObject *end = PyLong_FromSsize_t((Py_ssize_t)offset + taken);
            PyObject *result = end == NULL ? NULL : PyTuple_Pack(2, message, end);
            Py_XDECREF(end);
            Py_DECREF(message);
            return result;
        }
    }
    return purely(self, args, flags, names);
}

static PyObject *written(Call *self, PyObject *const *values)
{
    const Layout *layout = values == NULL ? NULL : layout_at(self->plan, values[1]);
    return layout == NULL ? NULL : write_message(self->plan, layout, values[0], &self->hint);
}

static PyObject *call_write(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names)
{
    ARGUMENTS(2, "self", "version")
    PyObject *bytes = written(self, values);
    return LIKELY(bytes != NULL) ? bytes : purely(self, args, flags, names);
}

static PyObject *call_chunks(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names)
{
    ARGUMENTS(2, "self", "version")
    const Layout *layout = values == NULL ? NULL : layout_at(self->plan, values[1]);
    PyObject *chunks = layout == NULL ? NULL : write_chunks(self->plan, layout, values[0]);
    return LIKELY(chunks != NULL) ? chunks : purely(self, args, flags, names);
}

/* The bytes are written and counted: what cannot be written may still have a size, which the pure code knows. */
static PyObject *call_size(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names)
{
    ARGUMENTS(2, "self", "version")
    PyObject *bytes = written(self, values);
    if (UNLIKELY(bytes == NULL)) return purely(self, args, flags, names);
    PyObject *size = PyLong_FromSsize_t(PyBytes_GET_SIZE(bytes));
    Py_DECREF(bytes);
    return size;
}

static const struct { const char *name; vectorcallfunc call; int is_method; } actions[] = {
    {"read", call_read, 0}, {"read_from", call_read_from, 0}, {"write", call_write, 1},
    {"chunks", call_chunks, 1}, {"size", call_size, 1},
};

static PyObject *call_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"", "", "", "", "", NULL};
    const State *state = PyType_GetModuleState(type);
    PyObject *plan, *owner, *name, *pure, *derived = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!O!UO|O", names, state->plan, &plan, &PyType_Type, &owner, &name,
                                     &pure, &derived)) {
        return NULL;
    }
    Call *self = (Call *)type->tp_alloc(type, 0);
    if (self == NULL) return NULL;
    self->plan = (Plan *)Py_NewRef(plan);
    self->pure = Py_NewRef(pure);
    self->owner = Py_NewRef(owner);
    self->name = Py_NewRef(name);
    self->derived = Py_XNewRef(derived);
    self->hint = 256;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (PyUnicode_CompareWithASCIIString(name, actions[i].name) == 0 && actions[i].is_method == (type == state->writer)) {
            self->call = actions[i].call;
        }
    }
    if (self->call != NULL) return (PyObject *)self;
    PyErr_Format(PyExc_ValueError, "no such call: %R", name);
    Py_DECREF(self);
    return NULL;
}

static int call_traverse(Call *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->plan);
    Py_VISIT(self->pure);
    Py_VISIT(self->owner);
    Py_VISIT(self->derived);
    return 0;
}

static void call_dealloc(Call *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->plan);
    Py_XDECREF(self->pure);
    Py_XDECREF(self->owner);
    Py_XDECREF(self->name);
    Py_XDECREF(self->derived);
    type->tp_free(self);
    Py_DECREF(type);
}

/* A method where it is looked up through an object. */
static PyObject *writer_get(PyObject *self, PyObject *object, PyObject *type)
{
    return object == NULL || object == Py_None ? Py_NewRef(self) : PyMethod_New(self, object);
}

/* What the pure method is called, says and takes, for help() and inspect. */
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
    if (getattr == NULL) { PyErr_SetString(PyExc_RuntimeError, "no getattr"); return NULL; }
    return Py_BuildValue("O(OO)", getattr, ((Call *)self)->owner, ((Call *)self)->name);
}

static PyMemberDef call_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Call, call), READONLY, NULL},
    {"__wrapped__", T_OBJECT, offsetof(Call, pure), READONLY, "The pure method."},
    {"declined", T_ULONGLONG, offsetof(Call, declined), READONLY, "Calls that the pure method had to deal with."},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef call_properties[] = {{"__doc__", call_doc, NULL, NULL, NULL}, {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef call_methods[] = {{"__reduce__", call_reduce, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};

#define CALL_SLOTS                                                                                              \
    {Py_tp_new, call_new}, {Py_tp_traverse, call_traverse}, {Py_tp_dealloc, call_dealloc},                      \
    {Py_tp_call, PyVectorcall_Call}, {Py_tp_members, call_members}, {Py_tp_getset, call_properties},            \
    {Py_tp_methods, call_methods}, {Py_tp_getattro, call_getattro}

/* Immutable, or the interpreter does not remember where it found them. */
#define CALL_FLAGS (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE)

static PyType_Slot reader_slots[] = {CALL_SLOTS, {0, NULL}};
static PyType_Slot writer_slots[] = {CALL_SLOTS, {Py_tp_descr_get, writer_get}, {0, NULL}};

PyType_Spec reader_spec = {"kafka_messages_native._core.Reader", sizeof(Call), 0, CALL_FLAGS, reader_slots};
PyType_Spec writer_spec = {
    "kafka_messages_native._core.Writer", sizeof(Call), 0, CALL_FLAGS | Py_TPFLAGS_METHOD_DESCRIPTOR, writer_slots,
};
