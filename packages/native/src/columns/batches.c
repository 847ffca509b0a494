/* Functions for record batches, and their constants. */
#include "columns.h"

/* Checks that a buffer holds aligned integers of `width` bytes. */
static int holds(const Py_buffer *view, int width) { return view->len % width == 0 && (uintptr_t)view->buf % width == 0; }

/* Releases the buffers of a call. Returns -1 with a ValueError if they are not sound. */
static int release(Py_buffer *views, int count, int is_sound)
{
    for (int i = 0; i < count; i++) PyBuffer_Release(&views[i]);
    if (!is_sound) PyErr_SetString(PyExc_ValueError, "expected aligned buffers of matching sizes, and positions within them");
    return is_sound ? 0 : -1;
}

static PyObject *follow_batches(PyObject *module, PyObject *args)
{
    Py_buffer views[4], *log = views, *starts = views + 1, *faults = views + 2, *agrees = views + 3;
    Walk walk = {0};
    if (!PyArg_ParseTuple(args, "y*LLLLLpw*w*w*:follow_batches", log, &walk.at, &walk.last, &walk.size, &walk.shortest,
                          &walk.longest, &walk.is_summed, starts, faults, agrees)) {
        return NULL;
    }
    walk.log = log->buf;
    walk.starts = starts->buf;
    walk.faults = faults->buf;
    walk.agrees = agrees->buf;
    walk.capacity = starts->len / 8;
    int is_sound = walk.at >= 0 && walk.last >= 0 && walk.size >= 0 && walk.size <= log->len &&
                   walk.shortest >= SMALLEST_0 - OVERHEAD && holds(starts, 8) && walk.capacity <= faults->len &&
                   walk.capacity <= agrees->len;
    Py_BEGIN_ALLOW_THREADS
    if (is_sound) follow(&walk);
    Py_END_ALLOW_THREADS
    if (release(views, 4, is_sound) < 0) return NULL;
    return Py_BuildValue("LLL", (long long)walk.found, walk.at, (long long)walk.need);
}

static PyObject *read_headers(PyObject *module, PyObject *args)
{
    Py_buffer views[3], *log = views, *starts = views + 1, *out = views + 2;
    if (!PyArg_ParseTuple(args, "y*y*w*:read_headers", log, starts, out)) return NULL;
    int64_t n = starts->len / 8;
    int is_sound = holds(starts, 8) && holds(out, 8) && out->len / 8 / HEADER_FIELD_COUNT >= n;
    Py_BEGIN_ALLOW_THREADS
    is_sound = is_sound && read_batch_headers(log->buf, log->len, starts->buf, n, out->buf);
    Py_END_ALLOW_THREADS
    return release(views, 3, is_sound) < 0 ? NULL : Py_NewRef(Py_None);
}

enum { MOST_BUFFERS = 16 };

typedef struct { Py_buffer views[MOST_BUFFERS]; int count; } Buffers;

/* Returns the memory of a writable buffer with at least `elements` elements of a width; NULL with an exception. */
static void *writable(Buffers *buffers, PyObject *object, int width, int64_t elements, int64_t *size)
{
    if (buffers->count == MOST_BUFFERS || PyObject_GetBuffer(object, &buffers->views[buffers->count], PyBUF_WRITABLE) < 0)
        return NULL;
    Py_buffer *view = &buffers->views[buffers->count++];
    if (view->len < width * elements) {
        PyErr_Format(PyExc_ValueError, "expected a buffer of at least %lld bytes, got %zd", (long long)(width * elements), view->len);
        return NULL;
    }
    if ((uintptr_t)view->buf % width != 0) {
        PyErr_Format(PyExc_ValueError, "expected a buffer aligned to %d bytes", width);
        return NULL;
    }
    if (size != NULL) *size = view->len;
    return view->buf;
}

static int take_ints(Buffers *buffers, PyObject *object, int64_t rows, int64_t **out)
{
    return object == Py_None || (*out = writable(buffers, object, 8, rows, NULL)) != NULL;
}

/* Parses a tuple of offsets, bits and bytes, or None. */
static int take_binary(Buffers *buffers, PyObject *object, int64_t elements, Binary *out)
{
    PyObject *offsets, *valid, *bytes;
    out->is_wanted = object != Py_None;
    out->elements = elements;
    if (!out->is_wanted) return 1;
    return PyArg_ParseTuple(object, "OOO", &offsets, &valid, &bytes) &&
           (out->offsets = writable(buffers, offsets, 4, elements + 1, NULL)) != NULL &&
           (out->valid = writable(buffers, valid, 1, (elements + 7) / 8, NULL)) != NULL &&
           (out->bytes = writable(buffers, bytes, 1, 0, &out->capacity)) != NULL;
}

/* Parses a tuple of header capacity, list offsets and bits, keys and values, or None. */
static int take_headers(Buffers *buffers, PyObject *object, Scan *scan)
{
    PyObject *lists, *valid, *keys, *values;
    long long elements;
    if (object == Py_None) return 1;
    if (!PyArg_ParseTuple(object, "LOOO!O!", &elements, &lists, &valid, &PyTuple_Type, &keys, &PyTuple_Type, &values)) return 0;
    if (elements < 0 || elements > INT32_MAX) {
        PyErr_Format(PyExc_ValueError, "expected a header capacity of 0 to 2147483647, got %lld", elements);
        return 0;
    }
    scan->lists = writable(buffers, lists, 4, scan->rows + 1, NULL);
    return scan->lists != NULL && (scan->has_headers = writable(buffers, valid, 1, (scan->rows + 7) / 8, NULL)) != NULL &&
           take_binary(buffers, keys, elements, &scan->header_key) &&
           take_binary(buffers, values, elements, &scan->header_value);
}

/* Returns the sizes used; or the number of a full buffer and the record; or None for unsupported data. */
static PyObject *result(const Scan *scan, int problem)
{
    if (problem == UNSUPPORTED) Py_RETURN_NONE;
    if (problem != DONE) return Py_BuildValue("iL", problem, (long long)scan->row);
    return Py_BuildValue("LLLLLLLLL", (long long)scan->key.used, (long long)scan->key.nulls,
                         (long long)scan->value.used, (long long)scan->value.nulls, (long long)scan->header,
                         (long long)scan->without_headers, (long long)scan->header_key.used,
                         (long long)scan->header_value.used, (long long)scan->header_value.nulls);
}

static PyObject *read_record_columns(PyObject *module, PyObject *args)
{
    Buffers buffers = {0};
    Scan scan = {0};
    Py_buffer views[2], *data = views, *sections = views + 1;
    PyObject *offset, *timestamp, *key, *value, *headers, *found = NULL;
    long long rows;
    if (!PyArg_ParseTuple(args, "y*y*LOOOOO:read_record_columns", data, sections, &rows, &offset, &timestamp, &key, &value,
                          &headers)) {
        return NULL;
    }
    scan.data = data->buf;
    scan.stop = scan.data + data->len;
    scan.sections = sections->buf;
    scan.batches = sections->len / 8 / SECTION_FIELDS;
    scan.rows = rows;
    if (!holds(sections, 8)) {
        PyErr_SetString(PyExc_ValueError, "expected batches as an aligned int64 buffer");
    } else if (rows < 0 || rows > data->len || data->len > INT32_MAX) {
        found = Py_NewRef(Py_None);                          /* Arrow's offsets are int32 */
    } else if (take_ints(&buffers, offset, rows, &scan.offset) && take_ints(&buffers, timestamp, rows, &scan.timestamp) &&
               take_binary(&buffers, key, rows, &scan.key) && take_binary(&buffers, value, rows, &scan.value) &&
               take_headers(&buffers, headers, &scan)) {
        int problem;
        Py_BEGIN_ALLOW_THREADS
        problem = read_records(&scan);
        Py_END_ALLOW_THREADS
        found = result(&scan, problem);
    }
    release(buffers.views, buffers.count, 1);
    release(views, 2, 1);
    return found;
}

static PyObject *sum_of(PyObject *data, uint32_t (*of)(const uint8_t *, size_t))
{
    Py_buffer view;
    if (PyObject_GetBuffer(data, &view, PyBUF_SIMPLE) < 0) return NULL;
    uint32_t sum;
    Py_BEGIN_ALLOW_THREADS
    sum = of(view.buf, (size_t)view.len);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&view);
    return PyLong_FromUnsignedLong(sum);
}

static PyObject *py_crc32c(PyObject *module, PyObject *data) { return sum_of(data, crc32c); }
static PyObject *py_crc32c_portable(PyObject *module, PyObject *data) { return sum_of(data, crc32c_portable); }
static PyObject *py_xxh32(PyObject *module, PyObject *data) { return sum_of(data, xxh32); }

static PyMethodDef functions[] = {
    {"follow_batches", follow_batches, METH_VARARGS,
     "follow_batches(log, at, last, size, shortest, longest, is_summed, starts, faults, agrees, /)\n--\n\n"
     "Store the positions of complete batches in starts, the errors of their headers in faults (0: none), and in agrees\n"
     "whether their checksums agree (2: not checked). Return the number of batches, the position after them, and the\n"
     "number of bytes needed to continue there (0: invalid length)."},
    {"read_headers", read_headers, METH_VARARGS,
     "read_headers(log, starts, out, /)\n--\n\nStore the fields of the batch headers at starts in out, an int64 column each."},
    {"read_record_columns", read_record_columns, METH_VARARGS,
     "read_record_columns(data, sections, rows, offsets, timestamps, key, value, headers, /)\n--\n\n"
     "Write the records of batches to Arrow buffers. Return the sizes used; or the number of a full buffer and of the\n"
     "record that does not fit; or None for unsupported data."},
    {"crc32c", py_crc32c, METH_O, "crc32c(data, /)\n--\n\nReturn the CRC-32C checksum of data."},
    {"crc32c_portable", py_crc32c_portable, METH_O,
     "crc32c_portable(data, /)\n--\n\nReturn the same checksum, computed without the processor's instruction."},
    {"xxh32", py_xxh32, METH_O, "xxh32(data, /)\n--\n\nReturn the xxHash32 checksum of data, with seed 0."},
    {NULL, NULL, 0, NULL},
};

/* Adds a constant; steals the reference to `value`, which may be NULL. */
static int add_constant(PyObject *module, const char *name, PyObject *value)
{
    int result = value == NULL ? -1 : PyModule_AddObjectRef(module, name, value);
    Py_XDECREF(value);
    return result;
}

int add_batches(PyObject *module)
{
#define PAIR_FORMAT(name, number) "si"
#define PAIR(name, number) , #name, number
#define NAME_FORMAT(name) "s"
#define NAME(name) , #name
    PyObject *format = Py_BuildValue("{" FORMAT_TABLE(PAIR_FORMAT) "}" FORMAT_TABLE(PAIR));
    if (add_constant(module, "BATCH_FORMAT", format) < 0) return -1;
    PyObject *fields = Py_BuildValue("(" HEADER_FIELDS(NAME_FORMAT) ")" HEADER_FIELDS(NAME));
    return add_constant(module, "HEADER_FIELDS", fields) < 0 ? -1 : PyModule_AddFunctions(module, functions);
}
