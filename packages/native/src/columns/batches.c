/* Record batch headers: iteration by length, validation, checksums, and fields as columns. */
#include "batches.h"

/* ---- header validation ----------------------------------------------------------------------------------------- */

static int64_t smallest(int magic) { return magic == 2 ? HEADER : magic == 1 ? SMALLEST_1 : SMALLEST_0; }

static int attributes_of(const uint8_t *batch, int magic)
{
    return magic == 2 ? INT16_AT(batch + ATTRIBUTES_AT) : (int8_t)batch[MESSAGE_ATTRIBUTES_AT];
}

/* Returns the error number of a batch header (index into FAULTS), 0 if valid. `size` is at least SMALLEST_0. */
static int fault(const uint8_t *batch, int64_t size)
{
    int magic = (int8_t)batch[MAGIC_AT];
    if (batch[0] & 128) return 1;
    if (magic < 0 || magic > 2) return 2;
    if (size < smallest(magic)) return 3;
    int codec = attributes_of(batch, magic) & COMPRESSION;
    if (codec >= CODECS) return 4;
    if (magic < 2) return 0;
    int32_t count = INT32_AT(batch + COUNT_AT);
    if (count < 0) return 5;
    if (batch[LAST_OFFSET_DELTA_AT] & 128) return 6;
    return codec == 0 && (int64_t)count * SMALLEST_RECORD > size ? 7 : 0;
}

/* ---- iteration by length ---------------------------------------------------------------------------------------- */

typedef struct {
    const uint8_t *log;
    long long at, last, size, shortest, longest;             /* types of PyArg_ParseTuple() */
    int is_summed;
    int64_t *starts;
    uint8_t *faults, *agrees;
    int64_t capacity, found, need;
} Walk;

enum { DIFFERS, AGREES, NOT_SUMMED };

static void take_batch(Walk *walk, int64_t size)
{
    const uint8_t *batch = walk->log + walk->at;
    int wrong = fault(batch, size);
    walk->starts[walk->found] = walk->at;
    walk->faults[walk->found] = (uint8_t)wrong;
    uint8_t agrees = NOT_SUMMED;
    if (walk->is_summed && wrong) agrees = DIFFERS;
    else if (walk->is_summed && batch[MAGIC_AT] == 2)
        agrees = crc32c(batch + SUMMED_FROM, (size_t)(size - SUMMED_FROM)) == get32(batch + CRC_AT);
    walk->agrees[walk->found++] = agrees;
    walk->at += size;
}

/* Finds the complete batches from `at` on and moves `at` behind them. Sets `need` to the bytes needed from
 * there to continue: those of the next batch, or OVERHEAD without its length; 0 after an invalid length. */
static void follow(Walk *walk)
{
    walk->need = OVERHEAD;
    while (walk->found < walk->capacity && walk->size - walk->at >= OVERHEAD) {
        int64_t length = INT32_AT(walk->log + walk->at + LENGTH_AT);
        if (length < walk->shortest || length > walk->longest) {
            walk->need = 0;
            return;
        }
        int64_t size = OVERHEAD + length;
        if (size > walk->size - walk->at) {
            walk->need = size;
            return;
        }
        int is_last = walk->at + size >= walk->last;
        take_batch(walk, size);
        if (is_last) return;
    }
}

static PyObject *follow_batches(PyObject *module, PyObject *args)
{
    Py_buffer log, starts, faults, agrees;
    Walk walk = {0};
    if (!PyArg_ParseTuple(args, "y*LLLLLpw*w*w*:follow_batches", &log, &walk.at, &walk.last, &walk.size, &walk.shortest,
                          &walk.longest, &walk.is_summed, &starts, &faults, &agrees)) {
        return NULL;
    }
    int is_sound = walk.at >= 0 && walk.last >= 0 && walk.size >= 0 && walk.size <= log.len &&
                   walk.shortest >= SMALLEST_0 - OVERHEAD && holds(&starts, 8) &&
                   starts.len / 8 <= faults.len && starts.len / 8 <= agrees.len;
    if (is_sound) {
        walk.log = log.buf;
        walk.starts = starts.buf;
        walk.faults = faults.buf;
        walk.agrees = agrees.buf;
        walk.capacity = starts.len / 8;
        Py_BEGIN_ALLOW_THREADS
        follow(&walk);
        Py_END_ALLOW_THREADS
    }
    else PyErr_SetString(PyExc_ValueError, "expected aligned buffers of matching sizes, and positions within them");
    PyBuffer_Release(&log);
    PyBuffer_Release(&starts);
    PyBuffer_Release(&faults);
    PyBuffer_Release(&agrees);
    if (!is_sound) return NULL;
    return Py_BuildValue("LLL", (long long)walk.found, walk.at, (long long)walk.need);
}

/* ---- fields as columns ------------------------------------------------------------------------------------------ */

#define FIELD_NAMES(X)                                                                                                 \
    X(MAGIC) X(ATTRIBUTES) X(BASE_OFFSET) X(LEADER_EPOCH) X(LAST_OFFSET_DELTA) X(BASE_TIMESTAMP) X(MAX_TIMESTAMP)      \
    X(PRODUCER_ID) X(PRODUCER_EPOCH) X(BASE_SEQUENCE) X(COUNT)
#define ENUMERATOR(name) name,
enum { FIELD_NAMES(ENUMERATOR) FIELDS };
#undef ENUMERATOR

/* Stores the fields of one header as element `at` of columns with `n` elements; missing fields are -1, 0 or 1. */
static void read_header(const uint8_t *batch, int64_t *out, int64_t n)
{
    int magic = (int8_t)batch[MAGIC_AT];
    int is_new = magic == 2;
    out[MAGIC * n] = magic;
    out[ATTRIBUTES * n] = attributes_of(batch, magic);
    out[BASE_OFFSET * n] = INT64_AT(batch);
    out[LEADER_EPOCH * n] = is_new ? INT32_AT(batch + LEADER_EPOCH_AT) : -1;
    out[LAST_OFFSET_DELTA * n] = is_new ? INT32_AT(batch + LAST_OFFSET_DELTA_AT) : 0;
    out[BASE_TIMESTAMP * n] = is_new ? INT64_AT(batch + BASE_TIMESTAMP_AT) : -1;
    out[MAX_TIMESTAMP * n] = is_new       ? INT64_AT(batch + MAX_TIMESTAMP_AT)
                             : magic == 1 ? INT64_AT(batch + MESSAGE_TIMESTAMP_AT)
                                          : -1;
    out[PRODUCER_ID * n] = is_new ? INT64_AT(batch + PRODUCER_ID_AT) : -1;
    out[PRODUCER_EPOCH * n] = is_new ? INT16_AT(batch + PRODUCER_EPOCH_AT) : -1;
    out[BASE_SEQUENCE * n] = is_new ? INT32_AT(batch + BASE_SEQUENCE_AT) : -1;
    out[COUNT * n] = is_new ? INT32_AT(batch + COUNT_AT) : 1;
}

static int read_all_headers(const Py_buffer *log, const int64_t *starts, int64_t n, int64_t *out)
{
    for (int64_t k = 0; k < n; k++) {
        if (starts[k] < 0 || starts[k] > log->len - HEADER) return 0; /* the caller pads `log` for shorter old batches */
        read_header((const uint8_t *)log->buf + starts[k], out + k, n);
    }
    return 1;
}

static PyObject *read_headers(PyObject *module, PyObject *args)
{
    Py_buffer log, starts, out;
    if (!PyArg_ParseTuple(args, "y*y*w*:read_headers", &log, &starts, &out)) return NULL;
    int64_t n = starts.len / 8;
    int is_sound = holds(&starts, 8) && holds(&out, 8) && out.len / 8 / FIELDS >= n;
    if (is_sound) {
        Py_BEGIN_ALLOW_THREADS
        is_sound = read_all_headers(&log, starts.buf, n, out.buf);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&log);
    PyBuffer_Release(&starts);
    PyBuffer_Release(&out);
    if (!is_sound) {
        PyErr_SetString(PyExc_ValueError, "expected aligned buffers of matching sizes, and positions within them");
        return NULL;
    }
    Py_RETURN_NONE;
}

/* ---- Python functions ------------------------------------------------------------------------------------------- */

static PyObject *sum_of(PyObject *args, const char *format, uint32_t (*of)(const uint8_t *, size_t))
{
    Py_buffer data;
    if (!PyArg_ParseTuple(args, format, &data)) return NULL;
    uint32_t sum;
    Py_BEGIN_ALLOW_THREADS
    sum = of(data.buf, (size_t)data.len);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&data);
    return PyLong_FromUnsignedLong(sum);
}

static PyObject *py_crc32c(PyObject *module, PyObject *args)
{
    return sum_of(args, "y*:crc32c", crc32c);
}

static PyObject *py_crc32c_portable(PyObject *module, PyObject *args)
{
    return sum_of(args, "y*:crc32c_portable", crc32c_portable);
}

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
    {"crc32c", py_crc32c, METH_VARARGS, "crc32c(data, /)\n--\n\nReturn the CRC-32C checksum of data."},
    {"crc32c_portable", py_crc32c_portable, METH_VARARGS,
     "crc32c_portable(data, /)\n--\n\nReturn the same checksum, computed without the processor's instruction."},
    {NULL, NULL, 0, NULL},
};

static PyObject *format_table(void)
{
    PyObject *table = PyDict_New();
#define ENTRY(name, number)                                                                                            \
    if (table != NULL) {                                                                                               \
        PyObject *value = PyLong_FromLong(number);                                                                     \
        if (value == NULL || PyDict_SetItemString(table, #name, value) < 0) Py_CLEAR(table);                           \
        Py_XDECREF(value);                                                                                             \
    }
    FORMAT_TABLE(ENTRY)
#undef ENTRY
    return table;
}

/* Steals the reference to `value`, which may be NULL. */
static int add_constant(PyObject *module, const char *name, PyObject *value)
{
    int result = value == NULL ? -1 : PyModule_AddObjectRef(module, name, value);
    Py_XDECREF(value);
    return result;
}

int add_batches(PyObject *module)
{
#define NAME(name) #name,
    static const char *const names[] = {FIELD_NAMES(NAME)};
#undef NAME
    PyObject *fields = PyTuple_New(FIELDS);
    for (int k = 0; fields != NULL && k < FIELDS; k++) {
        PyObject *name = PyUnicode_FromString(names[k]);
        if (name == NULL || PyTuple_SetItem(fields, k, name) < 0) Py_CLEAR(fields);
    }
    return add_constant(module, "HEADER_FIELDS", fields) < 0 || add_constant(module, "BATCH_FORMAT", format_table()) < 0
               ? -1
               : PyModule_AddFunctions(module, functions);
}
