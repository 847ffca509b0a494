/* Encoder: objects to bytes.
 *
 * Bounds: `RESERVE(n)` reserves n bytes after the cursor before they are written, and may move the buffer. No
 * Python code runs (exact types only, no allocations tracked by the collector), so borrowed references stay valid. */
#include "core.h"

typedef struct {
    uint8_t *p, *start, *end;    /* the cursor and its buffer */
    PyObject *bytes;             /* owner of the buffer; NULL for the caller's short buffer */
    const Package *package;
    PyObject *chunks;            /* list of the bytes before `start`, among them long ones that are not copied; or NULL */
} Out;

#define LONG 16384               /* write_chunks() does not copy bytes objects of at least this size, as in Python */

/* Moves the bytes of the buffer to the list, then adds `held` unless it is NULL. */
static int put_chunk(Out *out, PyObject *held)
{
    PyObject *before = PyBytes_FromStringAndSize((const char *)out->start, out->p - out->start);
    int failed = before == NULL || PyList_Append(out->chunks, before) < 0 || (held != NULL && PyList_Append(out->chunks, held) < 0);
    Py_XDECREF(before);
    out->p = out->start;
    return failed ? -1 : 0;
}

static int grow(Out *out, Py_ssize_t wanted)
{
    Py_ssize_t used = out->p - out->start, size = out->end - out->start;
    if (wanted > PY_SSIZE_T_MAX / 4 - used || size > PY_SSIZE_T_MAX / 4) return -1;
    size = size * 2 > used + wanted ? size * 2 : used + wanted + 64;
    if (out->bytes == NULL) {
        if ((out->bytes = PyBytes_FromStringAndSize(NULL, size)) == NULL) return -1;
        memcpy(PyBytes_AS_STRING(out->bytes), out->start, used);
    } else if (_PyBytes_Resize(&out->bytes, size) < 0) {
        return -1;                                       /* `bytes` is NULL then; stop writing */
    }
    out->start = (uint8_t *)PyBytes_AS_STRING(out->bytes);
    out->p = out->start + used;
    out->end = out->start + size;
    return 0;
}

#define RESERVE(n)                                                                                      \
    do {                                                                                             \
        if (UNLIKELY(out->end - out->p < (Py_ssize_t)(n)) && grow(out, (Py_ssize_t)(n)) < 0) return -1; \
    } while (0)

#define LONGEST_VARINT 10        /* reserved by callers of put_varint() */

/* Writes a length or count, -1 for null. Returns -1 if it does not fit; callers compare strings with MAX_STRING. */
INLINE int put_length(Out *out, int64_t length, int is_compact, int width)
{
    RESERVE(LONGEST_VARINT);
    if (is_compact) {
        if (UNLIKELY(length >= UINT32_MAX)) return -1;
        out->p = put_varint(out->p, (uint64_t)(length + 1));
    } else if (width == 2) {
        put16(out->p, (uint16_t)length);
        out->p += 2;
    } else {
        if (UNLIKELY(length > INT32_MAX)) return -1;
        put32(out->p, (uint32_t)length);
        out->p += 4;
    }
    return 0;
}

INLINE int put_bytes(Out *out, const void *bytes, Py_ssize_t size)
{
    RESERVE(size);
    memcpy(out->p, bytes, size);
    out->p += size;
    return 0;
}

static int put_text(Out *out, PyObject *text, int is_compact)
{
    if (!PyUnicode_CheckExact(text)) return -1;
    if (LIKELY(PyUnicode_IS_COMPACT_ASCII(text))) {
        Py_ssize_t size = PyUnicode_GET_LENGTH(text);
        if (size > MAX_STRING || put_length(out, size, is_compact, 2) < 0) return -1;
        return put_bytes(out, PyUnicode_1BYTE_DATA(text), size);
    }
    PyObject *encoded = PyUnicode_AsUTF8String(text);    /* does not fill the UTF-8 cache of the text */
    if (encoded == NULL) return -1;
    Py_ssize_t size = PyBytes_GET_SIZE(encoded);
    int failed = size > MAX_STRING || put_length(out, size, is_compact, 2) < 0 ||
                 put_bytes(out, PyBytes_AS_STRING(encoded), size) < 0;
    Py_DECREF(encoded);
    return failed ? -1 : 0;
}

#if PY_VERSION_HEX >= 0x030D0000
#define UNSIGNED_BIG_ENDIAN 0, 0, 0      /* the last arguments of _PyLong_AsByteArray() */
#else
#define UNSIGNED_BIG_ENDIAN 0, 0
#endif

static int put_uuid(Out *out, PyObject *value)
{
    if (Py_TYPE(value) != out->package->uuid) return -1;
    PyObject *number = SLOT(value, out->package->uuid_int);
    if (number == NULL || !PyLong_CheckExact(number)) return -1;
    RESERVE(16);
    if (_PyLong_AsByteArray((PyLongObject *)number, out->p, 16, UNSIGNED_BIG_ENDIAN) < 0) return -1;
    out->p += 16;
    return 0;
}

static int put_packed(Out *out, const TextOp *op, PyObject *value)
{
    int64_t number;
    if (int_of(value, &number) < 0) return -1;
    int unused = 64 - op->bits;
    if (number != (int64_t)((uint64_t)number << unused) >> unused) return -1;
    RESERVE(LONGEST_VARINT);
    uint64_t bits = (uint64_t)number;
    if (op->is_signed) out->p = put_varint(out->p, (bits << 1) ^ (number < 0 ? ~0ULL : 0));
    else out->p = put_varint(out->p, bits << unused >> unused);
    return 0;
}

/* Writes an integer within its range, in `width` bytes. */
#define INTEGER(lowest, highest, width, put)                                                          \
    do {                                                                                              \
        int64_t number;                                                                               \
        if (UNLIKELY(int_of(value, &number) < 0 || number < (lowest) || number > (highest))) return -1; \
        RESERVE(width);                                                                                  \
        put;                                                                                          \
        out->p += (width);                                                                            \
        return 0;                                                                                     \
    } while (0)

/* Writes a value or element that is neither struct nor array. */
INLINE int write_plain(const TextOp *op, int kind, int is_compact, int is_nullable, PyObject *value, Out *out)
{
    if (UNLIKELY(value == NULL)) return -1;
    switch (kind) {
    case KIND_BOOL:
        if (value != Py_True && value != Py_False) return -1;
        RESERVE(1);
        *out->p++ = value == Py_True;
        return 0;
    case KIND_INT8: INTEGER(INT8_MIN, INT8_MAX, 1, *out->p = (uint8_t)number);
    case KIND_INT16: INTEGER(INT16_MIN, INT16_MAX, 2, put16(out->p, (uint16_t)number));
    case KIND_UINT16: INTEGER(0, UINT16_MAX, 2, put16(out->p, (uint16_t)number));
    case KIND_INT32: INTEGER(INT32_MIN, INT32_MAX, 4, put32(out->p, (uint32_t)number));
    case KIND_UINT32: INTEGER(0, UINT32_MAX, 4, put32(out->p, (uint32_t)number));
    case KIND_INT64: INTEGER(INT64_MIN, INT64_MAX, 8, put64(out->p, (uint64_t)number));
    case KIND_FLOAT64:
        if (!PyFloat_CheckExact(value)) return -1;
        RESERVE(8);
        out->p += 8;
        return PyFloat_Pack8(PyFloat_AS_DOUBLE(value), (char *)out->p - 8, 0);
    case KIND_UUID: return put_uuid(out, value);
    case KIND_VARINT: return put_packed(out, op, value);
    case KIND_STRING:
        if (value == Py_None) return is_nullable ? put_length(out, -1, is_compact, 2) : -1;
        return put_text(out, value, is_compact);
    case KIND_BYTES:
        if (value == Py_None) return is_nullable ? put_length(out, -1, is_compact, 4) : -1;
        if (!PyBytes_CheckExact(value) || put_length(out, PyBytes_GET_SIZE(value), is_compact, 4) < 0) return -1;
        if (UNLIKELY(out->chunks != NULL) && PyBytes_GET_SIZE(value) >= LONG) return put_chunk(out, value);
        return put_bytes(out, PyBytes_AS_STRING(value), PyBytes_GET_SIZE(value));
    }
    return -1;
}

static int write_struct(const TextLayout *layout, PyObject *object, Out *out);

static int write_int32s(PyObject **items, Py_ssize_t count, Out *out)
{
    RESERVE(count * 4);                                     /* cannot overflow: each list item takes 8 bytes */
    for (Py_ssize_t i = 0; i < count; i++, out->p += 4) {
        int64_t number;
        if (UNLIKELY(items[i] == NULL || int_of(items[i], &number) < 0 || number != (int32_t)number)) return -1;
        put32(out->p, (uint32_t)number);
    }
    return 0;
}

static int write_array(const TextOp *op, PyObject *value, Out *out)
{
    if (value == Py_None) return op->is_nullable ? put_length(out, -1, op->is_compact, 4) : -1;
    if (Py_TYPE(value) != op->field->list && !PyList_CheckExact(value)) return -1;
    Py_ssize_t count = PyList_GET_SIZE(value);
    PyObject **items = ((PyListObject *)value)->ob_item;
    if (put_length(out, count, op->is_compact, 4) < 0) return -1;
    if (op->element == KIND_INT32) return write_int32s(items, count, out);
    for (Py_ssize_t i = 0; i < count; i++) {
        int failed = op->element == KIND_STRUCT ? write_struct(op->layout, items[i], out)
                                           : write_plain(op, op->element, op->is_compact, 0, items[i], out);
        if (UNLIKELY(failed < 0)) return -1;
    }
    return 0;
}

INLINE int write_value(const TextOp *op, PyObject *value, Out *out)
{
    if (op->kind == KIND_LIST) return value == NULL ? -1 : write_array(op, value, out);
    if (op->kind != KIND_STRUCT) return write_plain(op, op->kind, op->is_compact, op->is_nullable, value, out);
    if (op->is_nullable) {
        int is_null = value == Py_None;
        RESERVE(1);
        *out->p++ = is_null ? (op->is_tagged ? 0 : 0xff) : 1;
        if (is_null) return 0;
    }
    return write_struct(op->layout, value, out);
}

/* Compares values of exact builtin types and UUIDs, which run no Python code. */
static int is_default_value(const Package *package, PyObject *value, PyObject *wanted)
{
    int64_t number, other;
    if (value == wanted) return 1;
    if (value == Py_None || wanted == Py_None) return 0;
    if (int_of(value, &number) == 0 && int_of(wanted, &other) == 0) return number == other;
    if (Py_TYPE(value) != Py_TYPE(wanted)) return -1;
    if (Py_TYPE(value) != package->uuid) return PyObject_RichCompareBool(value, wanted, Py_EQ);
    PyObject *left = SLOT(value, package->uuid_int), *right = SLOT(wanted, package->uuid_int);
    if (left == NULL || right == NULL || !PyLong_CheckExact(left) || !PyLong_CheckExact(right)) return -1;
    return PyObject_RichCompareBool(left, right, Py_EQ);
}

static int is_default_struct(const Package *package, const TextStruct *structure, PyObject *object)
{
    if (Py_TYPE(object) != structure->cls) return -1;
    PyObject *unknown = SLOT(object, structure->unknown);
    if (unknown == NULL || !PyTuple_CheckExact(unknown)) return -1;
    if (PyTuple_GET_SIZE(unknown) != 0) return 0;
    for (const TextField *field = structure->fields; field < structure->fields + structure->count; field++) {
        int same = is_default(package, field, SLOT(object, field->slot));
        if (same != 1) return same;
    }
    return 1;
}

/* Checks whether a field has its default: 1 or 0, or -1 if the Python code must decide. */
int is_default(const Package *package, const TextField *field, PyObject *value)
{
    if (value == NULL) return -1;
    switch (field->by_default) {
    case NEW_LIST:
        if (value == Py_None) return 0;
        return Py_TYPE(value) == field->list || PyList_CheckExact(value) ? PyList_GET_SIZE(value) == 0 : -1;
    case MADE_LATE: case NEW_STRUCT:
        if (value == Py_None) return field->by_default == MADE_LATE ? 1 : field->is_nullable ? 0 : -1;
        return is_default_struct(package, field->structure, value);
    default:
        return is_default_value(package, value, field->value);
    }
}

/* Writes a tagged field. One byte is reserved for its size, and more inserted if necessary. */
static int write_tagged(const TextOp *op, PyObject *value, Out *out)
{
    RESERVE(LONGEST_VARINT + 1);
    out->p = put_varint(out->p, op->tag);
    Py_ssize_t at = ++out->p - out->start;
    PyObject *chunks = out->chunks;
    out->chunks = NULL;                                  /* the size must include all bytes */
    int failed = write_value(op, value, out);
    out->chunks = chunks;
    if (failed < 0) return -1;
    RESERVE(LONGEST_VARINT);
    uint8_t *body = out->start + at, head[LONGEST_VARINT];
    size_t size = (size_t)(out->p - body), width = (size_t)(put_varint(head, size) - head);
    if (size > UINT32_MAX) return -1;
    if (width > 1) memmove(body + width - 1, body, size);
    memcpy(body - 1, head, width);
    out->p += width - 1;
    return 0;
}

/* Gets an unknown field, whose tag must be above `last`; -1 if declined. */
static int unknown_field(const TextLayout *layout, PyObject *field, int64_t last, const Package *package, int64_t *tag, PyObject **data)
{
    if (Py_TYPE(field) != package->raw) return -1;
    PyObject *number = SLOT(field, package->raw_tag);
    *data = SLOT(field, package->raw_data);
    if (number == NULL || *data == NULL || !PyBytes_CheckExact(*data) || PyBytes_GET_SIZE(*data) > (Py_ssize_t)UINT32_MAX) return -1;
    if (int_of(number, tag) < 0 || *tag <= last || *tag > UINT32_MAX) return -1;
    return find_tag(layout, (uint32_t)*tag) >= 0 || is_foreign(layout, (uint32_t)*tag) ? -1 : 0;
}

/* Writes the unknown fields from `next` on with tags below a limit. */
static int write_unknown(const TextLayout *layout, PyObject *fields, Py_ssize_t *next, int64_t *last, int64_t limit, Out *out)
{
    for (; *next < PyTuple_GET_SIZE(fields); ++*next) {
        PyObject *data;
        int64_t tag;
        if (unknown_field(layout, PyTuple_GET_ITEM(fields, *next), *last, out->package, &tag, &data) < 0) return -1;
        if (tag > limit) return 0;
        RESERVE(2 * LONGEST_VARINT);
        out->p = put_varint(out->p, (uint64_t)(*last = tag));
        out->p = put_varint(out->p, (uint64_t)PyBytes_GET_SIZE(data));
        if (put_bytes(out, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data)) < 0) return -1;
    }
    return 0;
}

static NOINLINE int write_tags(const TextLayout *layout, PyObject *object, PyObject *fields, Out *out)
{
    uint64_t set = 0, known = 0;
    for (int k = 0; k < layout->tag_count; k++) {
        const TextField *field = layout->tags[k].field;
        int same = is_default(out->package, field, SLOT(object, field->slot));
        if (same < 0) return -1;
        if (!same) { set |= 1ULL << k; known++; }
    }
    RESERVE(LONGEST_VARINT);
    out->p = put_varint(out->p, known + (uint64_t)PyTuple_GET_SIZE(fields));
    Py_ssize_t next = 0;
    int64_t last = -1;
    for (int k = 0; k < layout->tag_count; k++) {
        const TextOp *op = &layout->tags[k];
        if (!(set >> k & 1)) continue;
        if (write_unknown(layout, fields, &next, &last, op->tag, out) < 0) return -1;
        if (write_tagged(op, SLOT(object, op->slot), out) < 0) return -1;
    }
    return write_unknown(layout, fields, &next, &last, UINT32_MAX, out);
}

static int write_struct(const TextLayout *layout, PyObject *object, Out *out)
{
    const TextStruct *structure = layout->structure;
    if (UNLIKELY(object == NULL || Py_TYPE(object) != structure->cls)) return -1;
    for (const TextOp *absent = layout->absent, *last = absent + layout->absent_count; absent < last; absent++) {
        if (!absent->is_refused) continue;
        if (UNLIKELY(is_default(out->package, absent->field, SLOT(object, absent->field->slot)) != 1)) return -1;
    }
    for (const TextOp *op = layout->ops, *last = op + layout->op_count; op < last; op++) {
        if (UNLIKELY(write_value(op, SLOT(object, op->slot), out) < 0)) return -1;
    }
    PyObject *fields = SLOT(object, structure->unknown);
    if (UNLIKELY(fields == NULL || !PyTuple_CheckExact(fields))) return -1;
    if (LIKELY(PyTuple_GET_SIZE(fields) == 0 && (!layout->has_tags || layout->tag_count == 0))) {
        if (!layout->has_tags) return 0;
        RESERVE(1);
        *out->p++ = 0;
        return 0;
    }
    return layout->has_tags ? write_tags(layout, object, fields, out) : -1;
}

#define SHORT 512                /* messages up to this size are written on the stack and copied once */

/* Returns the bytes of a message, NULL if declined. */
PyObject *write_message(Plan *plan, const TextLayout *layout, PyObject *message)
{
    uint8_t buffer[SHORT];
    Out out = {buffer, buffer, buffer + SHORT, NULL, plan->package, NULL};
    Py_ssize_t hint = GET_RELAXED(&plan->hint);
    if (hint > SHORT) {
        if ((out.bytes = PyBytes_FromStringAndSize(NULL, hint)) == NULL) return NULL;
        out.p = out.start = (uint8_t *)PyBytes_AS_STRING(out.bytes);
        out.end = out.start + hint;
    }
    if (UNLIKELY(write_struct(layout, message, &out) < 0)) {
        Py_XDECREF(out.bytes);
        return NULL;
    }
    Py_ssize_t size = out.p - out.start, wanted = size + 32;
    if (wanted > hint || wanted < hint / 2) SET_RELAXED(&plan->hint, wanted > 1 << 20 ? 1 << 20 : wanted);
    if (out.bytes == NULL) return PyBytes_FromStringAndSize((const char *)buffer, size);
    if (_PyBytes_Resize(&out.bytes, size) < 0) return NULL;
    return out.bytes;
}

/* Returns a message as a list of bytes objects, of which long ones are not copied; NULL if declined. */
PyObject *write_chunks(const Plan *plan, const TextLayout *layout, PyObject *message)
{
    uint8_t buffer[SHORT];
    PyObject *chunks = PyList_New(0);
    Out out = {buffer, buffer, buffer + SHORT, NULL, plan->package, chunks};
    if (chunks != NULL && (write_struct(layout, message, &out) < 0 || put_chunk(&out, NULL) < 0)) Py_CLEAR(chunks);
    Py_XDECREF(out.bytes);
    return chunks;
}
