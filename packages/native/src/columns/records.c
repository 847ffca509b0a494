/* Records of format 2 to Arrow buffers, one loop per batch (KIP-82, KIP-98).
 *
 * Only certainly valid data is accepted. At anything else the scan stops, and the package reads the same bytes in
 * Python, which reports the error. It also stops at a full buffer, and is called again with a larger one. */
#include "batches.h"
#include "builder.h"

/* ---- text or bytes columns --------------------------------------------------------------------------------------- */

typedef struct {
    int is_wanted;
    uint8_t *bytes;
    int64_t capacity, used;
    int32_t *offsets;
    uint8_t *valid; /* initially all set */
    int64_t elements, nulls;
} Binary;

enum { AT_ONCE = 64 }; /* bytes copied at once if available on both sides */

/* Appends an element; 0 if the buffer is full. A negative size is null. `stop` is the end of the input. */
INLINE int put(Binary *column, int64_t at, const uint8_t *data, int64_t size, const uint8_t *stop)
{
    if (size > 0) {
        int64_t capacity = column->capacity - column->used;
        uint8_t *to = column->bytes + column->used;
        if (LIKELY(size <= AT_ONCE && capacity >= AT_ONCE && stop - data >= AT_ONCE)) memcpy(to, data, AT_ONCE);
        else if (size > capacity) return 0;
        else memcpy(to, data, (size_t)size);
        column->used += size;
    }
    else if (size < 0) {
        column->valid[at >> 3] &= (uint8_t)~(1 << (at & 7));
        column->nulls++;
    }
    column->offsets[at + 1] = (int32_t)column->used;
    return 1;
}

static void begin(Binary *column)
{
    column->used = column->nulls = 0;
    if (!column->is_wanted) return;
    column->offsets[0] = 0;
    memset(column->valid, 0xFF, (size_t)(column->elements + 7) / 8);
}

/* ---- input and output -------------------------------------------------------------------------------------------- */

enum { POS, END, COUNT, BASE_OFFSET, BASE_TIMESTAMP, APPEND_TIME, IS_APPENDED, SECTION_FIELDS };
enum { DONE, KEYS_SHORT, VALUES_SHORT, HEADERS_SHORT, HEADER_KEYS_SHORT, HEADER_VALUES_SHORT, UNSUPPORTED };

typedef struct {
    const uint8_t *data, *stop;
    const int64_t *sections;
    int64_t batches, rows, row, header;
    int64_t *offset, *timestamp;
    Binary key, value, header_key, header_value;
    int32_t *lists;
    uint8_t *has_headers;
    int64_t without_headers;
} Scan;

static const int64_t MOST_MILLISECONDS = INT64_MAX / 1000 - 1; /* microseconds of larger values overflow */

/* ---- zigzag varints --------------------------------------------------------------------------------------------- */

INLINE const uint8_t *varint(const uint8_t *p, const uint8_t *end, int bits, int64_t *out)
{
    if (LIKELY(end - p >= 2)) {
        uint32_t one = p[0], two = p[1];
        if (LIKELY(one < 128)) {
            *out = from_zigzag(one);
            return p + 1;
        }
        if (LIKELY(two < 128)) {
            *out = from_zigzag((one & 127) | two << 7);
            return p + 2;
        }
    }
    uint64_t value = 0;
    p = get_varint(p, end, bits, &value);
    *out = from_zigzag(value);
    return p;
}

#define TAKE_INT32(out) \
    do {                                                                                                               \
        if ((p = varint(p, end, 32, &(out))) == NULL) return UNSUPPORTED;                                                  \
    } while (0)

/* ---- the loops --------------------------------------------------------------------------------------------------- */

/* Reads the headers of one record, from p to exactly its end. */
static int read_headers(Scan *scan, const uint8_t *p, const uint8_t *end, int64_t count)
{
    if (count > (end - p) / 2) return UNSUPPORTED;
    int is_wanted = scan->lists != NULL;
    if (is_wanted && count > scan->header_key.elements - scan->header) return HEADERS_SHORT;
    for (int64_t k = 0; k < count; k++) {
        int64_t size;
        TAKE_INT32(size);
        if (size < 0 || size > end - p) return UNSUPPORTED;
        if (is_wanted && !put(&scan->header_key, scan->header, p, size, scan->stop)) return HEADER_KEYS_SHORT;
        p += size;
        TAKE_INT32(size);
        if (size > end - p) return UNSUPPORTED;
        if (is_wanted && !put(&scan->header_value, scan->header, p, size, scan->stop)) return HEADER_VALUES_SHORT;
        if (size > 0) p += size;
        scan->header++;
    }
    return p == end ? DONE : UNSUPPORTED;
}

static int read_batch(Scan *scan, const uint8_t *p, const uint8_t *batch_end, int64_t count, int64_t base_offset,
                      int64_t base_timestamp, int64_t append_time, int is_appended)
{
    for (int64_t k = 0; k < count; k++) {
        const uint8_t *end = batch_end;
        int64_t size, timestamp, offset, key_size, value_size, headers, row = scan->row;
        TAKE_INT32(size);
        if (size < SMALLEST_RECORD - 1 || size > batch_end - p) return UNSUPPORTED;
        end = p++ + size; /* skips the unused attributes */
        if ((p = varint(p, end, 64, &timestamp)) == NULL) return UNSUPPORTED;
        TAKE_INT32(offset);
        TAKE_INT32(key_size);
        if (key_size > end - p) return UNSUPPORTED;
        const uint8_t *key = p;
        if (key_size > 0) p += key_size;
        TAKE_INT32(value_size);
        if (value_size > end - p) return UNSUPPORTED;
        const uint8_t *value = p;
        if (value_size > 0) p += value_size;
        TAKE_INT32(headers);
        if (LIKELY(headers == 0)) {
            if (p != end) return UNSUPPORTED;
            if (scan->lists != NULL) {
                scan->has_headers[row >> 3] &= (uint8_t)~(1 << (row & 7));
                scan->without_headers++;
            }
        }
        else {
            int problem = headers < 0 ? UNSUPPORTED : read_headers(scan, p, end, headers);
            if (problem != DONE) return problem;
            p = end;
        }
        if (scan->lists != NULL) scan->lists[row + 1] = (int32_t)scan->header;
        if (scan->key.is_wanted && !put(&scan->key, row, key, key_size, scan->stop)) return KEYS_SHORT;
        if (scan->value.is_wanted && !put(&scan->value, row, value, value_size, scan->stop)) return VALUES_SHORT;
        if (scan->offset != NULL) scan->offset[row] = (int64_t)((uint64_t)base_offset + (uint64_t)offset);
        if (scan->timestamp != NULL) {
            timestamp = is_appended ? append_time : (int64_t)((uint64_t)base_timestamp + (uint64_t)timestamp);
            if (timestamp > MOST_MILLISECONDS || timestamp < -MOST_MILLISECONDS) return UNSUPPORTED;
            scan->timestamp[row] = timestamp * 1000;
        }
        scan->row++;
    }
    return p == batch_end ? DONE : UNSUPPORTED;
}

static int read_batches(Scan *scan)
{
    scan->row = scan->header = scan->without_headers = 0;
    begin(&scan->key);
    begin(&scan->value);
    begin(&scan->header_key);
    begin(&scan->header_value);
    if (scan->lists != NULL) {
        scan->lists[0] = 0;
        memset(scan->has_headers, 0xFF, (size_t)(scan->rows + 7) / 8);
    }
    for (int64_t k = 0; k < scan->batches; k++) {
        const int64_t *section = scan->sections + k;
        int64_t n = scan->batches, pos = section[POS * n], end = section[END * n], count = section[COUNT * n];
        if (count == 0) continue; /* Kafka ignores the bytes of such a batch */
        if (pos < 0 || end < pos || end > scan->stop - scan->data || count < 0 || count > scan->rows - scan->row ||
            count > (end - pos) / SMALLEST_RECORD) {
            return UNSUPPORTED;
        }
        int problem = read_batch(scan, scan->data + pos, scan->data + end, count, section[BASE_OFFSET * n],
                                 section[BASE_TIMESTAMP * n], section[APPEND_TIME * n], section[IS_APPENDED * n] != 0);
        if (problem != DONE) return problem;
    }
    return scan->row == scan->rows ? DONE : UNSUPPORTED;
}

/* ---- Python functions -------------------------------------------------------------------------------------------- */

enum { MOST_BUFFERS = 16 };

typedef struct {
    Py_buffer views[MOST_BUFFERS];
    int count;
} Buffers;

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
    *out = NULL;
    if (object == Py_None) return 1;
    return (*out = writable(buffers, object, 8, rows, NULL)) != NULL;
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
    if (!PyArg_ParseTuple(object, "LOOOO", &elements, &lists, &valid, &keys, &values)) return 0;
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

PyObject *read_record_columns(PyObject *module, PyObject *args)
{
    Buffers buffers = {0};
    Scan scan = {0};
    Py_buffer data, sections;
    PyObject *offset, *timestamp, *key, *value, *headers, *found = NULL;
    long long rows;
    if (!PyArg_ParseTuple(args, "y*y*LOOOOO:read_record_columns", &data, &sections, &rows, &offset, &timestamp, &key, &value,
                          &headers)) {
        return NULL;
    }
    scan.data = data.buf;
    scan.stop = scan.data + data.len;
    scan.sections = sections.buf;
    scan.batches = sections.len / 8 / SECTION_FIELDS;
    scan.rows = rows;
    if (!holds(&sections, 8)) {
        PyErr_SetString(PyExc_ValueError, "expected batches as an aligned int64 buffer");
    }
    else if (rows < 0 || rows > data.len || data.len > INT32_MAX) {
        found = Py_NewRef(Py_None); /* Arrow's offsets are int32 */
    }
    else if (take_ints(&buffers, offset, rows, &scan.offset) && take_ints(&buffers, timestamp, rows, &scan.timestamp) &&
             take_binary(&buffers, key, rows, &scan.key) && take_binary(&buffers, value, rows, &scan.value) &&
             take_headers(&buffers, headers, &scan)) {
        int problem;
        Py_BEGIN_ALLOW_THREADS
        problem = read_batches(&scan);
        int has_keys = problem == DONE && scan.lists != NULL;
        if (has_keys && !are_utf8(scan.header_key.bytes, scan.header_key.offsets, scan.header)) problem = UNSUPPORTED;
        Py_END_ALLOW_THREADS
        found = result(&scan, problem);
    }
    while (buffers.count > 0) PyBuffer_Release(&buffers.views[--buffers.count]);
    PyBuffer_Release(&data);
    PyBuffer_Release(&sections);
    return found;
}
