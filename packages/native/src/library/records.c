/* Records of format 2 to Arrow buffers, one loop per batch (KIP-82, KIP-98).
 *
 * Only certainly valid data is accepted. At anything else the scan stops, and the package reads the same bytes in
 * Python, which reports the error. It also stops at a full buffer, and is called again with a larger one. */
#include "batches.h"
#include "plan.h"

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
    } else if (size < 0) {
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

static const int64_t MOST_MILLISECONDS = INT64_MAX / 1000 - 1; /* microseconds of larger values overflow */

INLINE const uint8_t *varint(const uint8_t *p, const uint8_t *end, int bits, int64_t *out)
{
    if (LIKELY(end - p >= 2)) {
        uint32_t one = p[0], two = p[1];
        if (LIKELY(one < 128)) { *out = from_zigzag(one); return p + 1; }
        if (LIKELY(two < 128)) { *out = from_zigzag((one & 127) | two << 7); return p + 2; }
    }
    uint64_t value = 0;
    p = get_varint(p, end, bits, &value);
    *out = from_zigzag(value);
    return p;
}

#define TAKE_INT32(out) do { if ((p = varint(p, end, 32, &(out))) == NULL) return UNSUPPORTED; } while (0)

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

static int read_batch(Scan *scan, const uint8_t *p, const uint8_t *batch_end, int64_t count, const int64_t *section)
{
    int64_t n = scan->batches, base_offset = section[BASE_OFFSET * n], base_timestamp = section[BASE_TIMESTAMP * n];
    int64_t append_time = section[APPEND_TIME * n], is_appended = section[IS_APPENDED * n];
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
        } else {
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

int read_records(Scan *scan)
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
        int problem = read_batch(scan, scan->data + pos, scan->data + end, count, section);
        if (problem != DONE) return problem;
    }
    if (scan->row != scan->rows) return UNSUPPORTED;
    int has_keys = scan->lists != NULL;
    return has_keys && !are_utf8(scan->header_key.bytes, scan->header_key.used, scan->header_key.offsets, scan->header) ? UNSUPPORTED : DONE;
}
