/* Decoder: bytes to objects.
 *
 * Bounds: a cursor `In` never moves beyond `end`. Each function checks LEFT before it reads. Lengths and counts of
 * the input are compared with LEFT before anything is allocated or skipped for them.
 *
 * Threads: reading a large message lets other threads run now and then. They and the collector see no object of it before
 * it is finished. */
#include "core.h"

typedef struct {
    const uint8_t *p, *end;
    const Package *package;
    const uint8_t *pause;        /* where other threads may run */
    int is_large;                /* nothing is tracked by the collector before the end */
} In;

#define LEFT(in) ((in)->end - (in)->p)
enum { SLICE = 1 << 16 };        /* bytes between two pauses: a few milliseconds for the smallest structs */

static NOINLINE void pause_reading(In *in)
{
    Py_BEGIN_ALLOW_THREADS
    in->pause = LEFT(in) > SLICE ? in->p + SLICE : in->end;
    Py_END_ALLOW_THREADS
}

/* After each element or tagged field. */
INLINE void may_pause(In *in) { if (UNLIKELY(in->p > in->pause)) pause_reading(in); }

INLINE int read_unsigned(In *in, uint32_t *value)
{
    const uint8_t *behind = get_varint32(in->p, in->end, value);
    if (UNLIKELY(behind == NULL)) return -1;
    in->p = behind;
    return 0;
}

enum { NULL_LENGTH = -1, NO_LENGTH = -2 };

/* Reads a length or count below 2**32, not yet compared with LEFT; NULL_LENGTH for an allowed null, NO_LENGTH if invalid. */
INLINE int64_t read_length(In *in, int is_compact, int width, int is_nullable)
{
    int64_t length;
    if (is_compact) {
        uint32_t stored;
        if (UNLIKELY(read_unsigned(in, &stored) < 0)) return NO_LENGTH;
        length = (int64_t)stored - 1;
    } else {
        if (UNLIKELY(LEFT(in) < width)) return NO_LENGTH;
        length = width == 2 ? (int16_t)get16(in->p) : (int32_t)get32(in->p);
        in->p += width;
    }
    return LIKELY(length >= 0) ? length : is_nullable ? NULL_LENGTH : NO_LENGTH;
}

/* Creates a text of `size` available bytes. ASCII is tested eight bytes at a time, within the bounds. */
INLINE PyObject *new_text(TextOp *op, const uint8_t *bytes, Py_ssize_t size)
{
    PyObject *memo = op->memo;
    if (memo != NULL && PyUnicode_GET_LENGTH(memo) == size && memcmp(PyUnicode_1BYTE_DATA(memo), bytes, size) == 0) {
        return Py_NewRef(memo);
    }
    uint64_t seen = 0, word;
    Py_ssize_t i = 0;
    for (; i + 8 <= size; i += 8) { memcpy(&word, bytes + i, 8); seen |= word; }
    for (; i < size; i++) seen |= bytes[i];
    if (UNLIKELY(seen & 0x8080808080808080ULL)) return PyUnicode_DecodeUTF8((const char *)bytes, size, NULL);
    PyObject *text = PyUnicode_New(size, 127);
    if (UNLIKELY(text == NULL)) return NULL;
    memcpy(PyUnicode_1BYTE_DATA(text), bytes, size);
    if (!IS_FREE_THREADED && size <= LONGEST_MEMO) Py_XSETREF(op->memo, Py_NewRef(text));   /* releases only texts, so no other code runs */
    return text;
}

static PyObject *read_packed(const TextOp *op, In *in)
{
    uint64_t value;
    const uint8_t *behind = get_varint(in->p, in->end, op->bits, &value);
    if (behind == NULL) return NULL;
    in->p = behind;
    if (op->is_signed) return new_int(in->package, from_zigzag(value));
    int unused = 64 - op->bits;                          /* sign extension */
    return new_int(in->package, (int64_t)(value << unused) >> unused);
}

/* Reads a value of a fixed width; NULL if declined (core.h). */
#define FIXED(width, make)                           \
    do {                                             \
        if (UNLIKELY(LEFT(in) < (width))) return NULL; \
        const uint8_t *at = in->p;                   \
        in->p += (width);                            \
        return (make);                               \
    } while (0)

/* Reads a value or element that is neither struct nor array. */
INLINE PyObject *read_plain(TextOp *op, int kind, int is_compact, int is_nullable, In *in)
{
    const Package *package = in->package;
    switch (kind) {
    case KIND_BOOL: FIXED(1, Py_NewRef(*at ? Py_True : Py_False));
    case KIND_INT8: FIXED(1, new_int(package, (int8_t)*at));
    case KIND_INT16: FIXED(2, new_int(package, (int16_t)get16(at)));
    case KIND_UINT16: FIXED(2, new_int(package, get16(at)));
    case KIND_INT32: FIXED(4, new_int(package, (int32_t)get32(at)));
    case KIND_UINT32: FIXED(4, new_int(package, get32(at)));
    case KIND_INT64: FIXED(8, new_int(package, (int64_t)get64(at)));
    case KIND_FLOAT64: FIXED(8, PyFloat_FromDouble(PyFloat_Unpack8((const char *)at, 0)));
    case KIND_UUID: FIXED(16, new_uuid(package, at));
    case KIND_VARINT: return read_packed(op, in);
    case KIND_STRING: {
        int64_t length = read_length(in, is_compact, 2, is_nullable);
        if (UNLIKELY(length < 0)) return length == NULL_LENGTH ? Py_NewRef(Py_None) : NULL;
        if (UNLIKELY(length > LEFT(in) || length > MAX_STRING)) return NULL;
        in->p += length;
        return new_text(op, in->p - length, length);
    }
    case KIND_BYTES: {
        int64_t length = read_length(in, is_compact, 4, is_nullable);
        if (UNLIKELY(length < 0)) return length == NULL_LENGTH ? Py_NewRef(Py_None) : NULL;
        if (UNLIKELY(length > LEFT(in))) return NULL;
        in->p += length;
        return PyBytes_FromStringAndSize((const char *)in->p - length, length);
    }
    }
    return NULL;
}

static PyObject *read_struct(const TextLayout *layout, In *in);

static NOINLINE int read_with_pauses(TextOp *op, PyObject **items, Py_ssize_t count, In *in)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        if (op->element == KIND_STRUCT) items[i] = read_struct(op->layout, in);
        else items[i] = read_plain(op, op->element, op->is_compact, 0, in);
        if (UNLIKELY(items[i] == NULL)) return -1;
        may_pause(in);
    }
    return 0;
}

/* Reads the elements of a new list; -1 if one is declined. The remaining items stay empty. */
INLINE int read_elements(TextOp *op, PyObject **items, Py_ssize_t count, In *in)
{
    if (UNLIKELY(in->is_large)) return read_with_pauses(op, items, count, in);
    if (op->element == KIND_STRUCT) {
        for (Py_ssize_t i = 0; i < count; i++) {
            if (UNLIKELY((items[i] = read_struct(op->layout, in)) == NULL)) return -1;
        }
    } else if (op->element == KIND_INT32) {                   /* the caller checked 4 bytes for each */
        for (Py_ssize_t i = 0; i < count; i++, in->p += 4) {
            if (UNLIKELY((items[i] = new_int(in->package, (int32_t)get32(in->p))) == NULL)) return -1;
        }
    } else {
        for (Py_ssize_t i = 0; i < count; i++) {
            if (UNLIKELY((items[i] = read_plain(op, op->element, op->is_compact, 0, in)) == NULL)) return -1;
        }
    }
    return 0;
}

/* Reads an array. LEFT must have `least` bytes for each element, so the list is at most eight times as large as the
 * input, or has at most MAX_EMPTY elements without bytes. */
static PyObject *read_array(TextOp *op, In *in)
{
    int64_t count = read_length(in, op->is_compact, 4, op->is_nullable);
    if (UNLIKELY(count < 0)) return count == NULL_LENGTH ? Py_NewRef(Py_None) : NULL;
    if (UNLIKELY(op->least == 0 ? count > MAX_EMPTY : count > LEFT(in) / op->least)) return NULL;
    int is_converted = IS_FREE_THREADED && op->field->list != &PyList_Type;
    PyObject *list = new_list(is_converted ? &PyList_Type : op->field->list, count);
    if (UNLIKELY(list == NULL)) return NULL;
    int failed = read_elements(op, ((PyListObject *)list)->ob_item, count, in) < 0;
    if (UNLIKELY(failed) || !(op->field->is_leaf_list || in->is_large)) PyObject_GC_Track(list);
    if (LIKELY(!failed && !is_converted)) return list;
    PyObject *converted = failed ? NULL : PyObject_CallOneArg((PyObject *)op->field->list, list);
    Py_DECREF(list);
    return converted;
}

INLINE PyObject *read_value(TextOp *op, In *in)
{
    if (op->kind == KIND_LIST) return read_array(op, in);
    if (op->kind != KIND_STRUCT) return read_plain(op, op->kind, op->is_compact, op->is_nullable, in);
    if (op->is_nullable) {                               /* a byte, negative for null; in tags a varint, 0 for null */
        uint32_t present;
        if (op->is_tagged) { if (read_unsigned(in, &present) < 0) return NULL; }
        else if (LEFT(in) < 1) return NULL;
        else present = (int8_t)*in->p++ >= 0;
        if (!present) return Py_NewRef(Py_None);
    }
    return read_struct(op->layout, in);
}

/* Adds an unknown field of `size` available bytes to a list. */
static int keep_unknown(PyObject *unknown, uint32_t tag, uint32_t size, In *in)
{
    const Package *package = in->package;
    PyObject *field = new_object(package->raw);
    if (field == NULL) return -1;
    SLOT(field, package->raw_tag) = PyLong_FromUnsignedLong(tag);
    SLOT(field, package->raw_data) = PyBytes_FromStringAndSize((const char *)in->p, size);
    int has_both = SLOT(field, package->raw_tag) != NULL && SLOT(field, package->raw_data) != NULL;
    if (!has_both || PyList_Append(unknown, field) < 0) { drop_untracked(field); return -1; }
    Py_DECREF(field);
    return 0;
}

/* Reads the fields of a tag section. Each has at least two bytes, so the input bounds a forged count. A known one must use
 * exactly its size. Unknown tags that do not ascend, as Kafka writes them, are declined. */
static int read_tag_fields(const TextLayout *layout, PyObject *object, uint32_t count, In *in, PyObject *unknown)
{
    uint64_t seen = 0;
    int64_t last = -1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t tag, size;
        if (read_unsigned(in, &tag) < 0 || read_unsigned(in, &size) < 0 || (int64_t)size > LEFT(in)) return -1;
        int known = find_tag(layout, tag);
        if (known >= 0) {
            if (seen >> known & 1) return -1;
            seen |= 1ULL << known;
            In inner = {in->p, in->p + size, in->package, in->pause, in->is_large};
            PyObject *value = read_value(&layout->tags[known], &inner);
            if (value == NULL || inner.p != inner.end) { Py_XDECREF(value); return -1; }
            SLOT(object, layout->tags[known].slot) = value;
        } else {
            if (tag <= last || is_foreign(layout, tag) || keep_unknown(unknown, tag, size, in) < 0) return -1;
            last = tag;
        }
        in->p += size;
        may_pause(in);
    }
    return 0;
}

static int tags_by_default(const TextLayout *layout, PyObject *object, const Package *package)
{
    for (const TextOp *op = layout->tags; op < layout->tags + layout->tag_count; op++) {
        PyObject **slot = &SLOT(object, op->slot);
        if (*slot == NULL && (*slot = new_default(package, op->field)) == NULL) return -1;
    }
    return 0;
}

static int read_tags(const TextLayout *layout, PyObject *object, In *in)
{
    uint32_t count;
    PyObject *unknown = PyList_New(0), *kept = NULL;
    if (unknown != NULL && read_unsigned(in, &count) == 0 && read_tag_fields(layout, object, count, in, unknown) == 0 &&
        tags_by_default(layout, object, in->package) == 0) {
        kept = PyList_AsTuple(unknown);
    }
    Py_XDECREF(unknown);
    SLOT(object, layout->structure->unknown) = kept;
    return kept == NULL ? -1 : 0;
}

/* Reads the tag section, if any, usually one byte. */
INLINE int read_section(const TextLayout *layout, PyObject *object, In *in)
{
    if (layout->has_tags) {
        if (UNLIKELY(LEFT(in) < 1)) return -1;
        if (UNLIKELY(*in->p != 0)) return read_tags(layout, object, in);
        in->p++;
        if (layout->tag_count != 0 && tags_by_default(layout, object, in->package) < 0) return -1;
    }
    SLOT(object, layout->structure->unknown) = Py_NewRef(in->package->empty_tuple);
    return 0;
}

/* Reads a struct and fills every slot. A layout lists each field once: in `ops`, `absent` or `tags` (see text.c). */
static PyObject *read_struct(const TextLayout *layout, In *in)
{
    const TextStruct *structure = layout->structure;
    PyObject *object = new_object(structure->cls);
    if (UNLIKELY(object == NULL)) return NULL;
    for (TextOp *op = layout->ops, *last = op + layout->op_count; op < last; op++) {
        PyObject *value = read_value(op, in);
        if (UNLIKELY(value == NULL)) goto declined;
        SLOT(object, op->slot) = value;
    }
    for (const TextOp *absent = layout->absent, *last = absent + layout->absent_count; absent < last; absent++) {
        PyObject *value = new_default(in->package, absent->field);
        if (UNLIKELY(value == NULL)) goto declined;
        SLOT(object, absent->field->slot) = value;
    }
    if (UNLIKELY(read_section(layout, object, in) < 0)) goto declined;
    if (!(structure->is_leaf || in->is_large)) PyObject_GC_Track(object);
    return object;
declined:
    drop_untracked(object);
    return NULL;
}

/* Has the collector track a finished large object and those in it. Defaults are tracked already. */
static NOINLINE void track(const TextLayout *layout, PyObject *object)
{
    if (layout->structure->is_leaf || PyObject_GC_IsTracked(object)) return;
    for (const TextOp *op = layout->ops, *last = op + layout->op_count + layout->tag_count; op < last; op++) {
        PyObject *value = SLOT(object, op->slot);
        if (op->field->structure == NULL || value == Py_None) continue;
        if (op->kind == KIND_STRUCT) { track(op->layout, value); continue; }
        Py_ssize_t count = op->field->structure->is_leaf ? 0 : PyList_GET_SIZE(value);
        for (Py_ssize_t i = 0; i < count; i++) track(op->layout, PyList_GET_ITEM(value, i));
        if (!op->field->is_leaf_list && !PyObject_GC_IsTracked(value)) PyObject_GC_Track(value);
    }
    PyObject_GC_Track(object);
}

/* Reads a message at the start of the data and sets `used` to its size; NULL, with or without an exception, if declined. */
PyObject *read_message(const Plan *plan, const TextLayout *layout, const uint8_t *data, Py_ssize_t size, Py_ssize_t *used)
{
    In in = {data, data + size, plan->package, data + (size > SLICE ? SLICE : size), size > SLICE};
    PyObject *message = read_struct(layout, &in);
    *used = in.p - data;
    if (in.is_large && message != NULL) track(layout, message);
    return message;
}
