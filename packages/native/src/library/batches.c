/* Record batch headers: iteration by length, validation, checksums, and fields as columns. */
#include "batches.h"

#define INT16_AT(p) ((int16_t)get16(p))
#define INT32_AT(p) ((int32_t)get32(p))
#define INT64_AT(p) ((int64_t)get64(p))

static int attributes_of(const uint8_t *batch, int magic)
{
    return magic == 2 ? INT16_AT(batch + ATTRIBUTES_AT) : (int8_t)batch[MESSAGE_ATTRIBUTES_AT];
}

/* Returns the error number of a batch header (index into FAULTS), 0 if valid. `size`, which is within the log and at
 * least SMALLEST_0, bounds all reads, also those of take_batch() if another thread changes the version meanwhile. */
static int fault(const uint8_t *batch, int64_t size)
{
    int magic = (int8_t)batch[MAGIC_AT];
    if (batch[0] & 128) return 1;
    if (magic < 0 || magic > 2) return 2;
    if (size < (magic == 2 ? HEADER : magic == 1 ? SMALLEST_1 : SMALLEST_0)) return 3;
    int codec = attributes_of(batch, magic) & COMPRESSION;
    if (codec >= CODECS) return 4;
    if (magic < 2) return 0;
    int32_t count = INT32_AT(batch + COUNT_AT);
    if (count < 0) return 5;
    if (batch[LAST_OFFSET_DELTA_AT] & 128) return 6;
    return codec == 0 && (int64_t)count * SMALLEST_RECORD > size ? 7 : 0;
}

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
void follow(Walk *walk)
{
    walk->need = OVERHEAD;
    while (walk->found < walk->capacity && walk->size - walk->at >= OVERHEAD) {
        int64_t length = INT32_AT(walk->log + walk->at + LENGTH_AT);
        int64_t size = OVERHEAD + length;
        if (length < walk->shortest || length > walk->longest) { walk->need = 0; return; }
        if (size > walk->size - walk->at) { walk->need = size; return; }
        int is_last = walk->at + size >= walk->last;
        take_batch(walk, size);
        if (is_last) return;
    }
}

/* Stores the fields of one header as element `at` of columns with `n` elements; missing fields are -1, 0 or 1. */
static void read_header(const uint8_t *batch, int64_t *out, int64_t n)
{
    int magic = (int8_t)batch[MAGIC_AT];
    int is_new = magic == 2;
    out[HEADER_MAGIC * n] = magic;
    out[HEADER_ATTRIBUTES * n] = attributes_of(batch, magic);
    out[HEADER_BASE_OFFSET * n] = INT64_AT(batch);
    out[HEADER_LEADER_EPOCH * n] = is_new ? INT32_AT(batch + LEADER_EPOCH_AT) : -1;
    out[HEADER_LAST_OFFSET_DELTA * n] = is_new ? INT32_AT(batch + LAST_OFFSET_DELTA_AT) : 0;
    out[HEADER_BASE_TIMESTAMP * n] = is_new ? INT64_AT(batch + BASE_TIMESTAMP_AT) : -1;
    out[HEADER_MAX_TIMESTAMP * n] = is_new       ? INT64_AT(batch + MAX_TIMESTAMP_AT)
                             : magic == 1 ? INT64_AT(batch + MESSAGE_TIMESTAMP_AT)
                                          : -1;
    out[HEADER_PRODUCER_ID * n] = is_new ? INT64_AT(batch + PRODUCER_ID_AT) : -1;
    out[HEADER_PRODUCER_EPOCH * n] = is_new ? INT16_AT(batch + PRODUCER_EPOCH_AT) : -1;
    out[HEADER_BASE_SEQUENCE * n] = is_new ? INT32_AT(batch + BASE_SEQUENCE_AT) : -1;
    out[HEADER_COUNT * n] = is_new ? INT32_AT(batch + COUNT_AT) : 1;
}

/* Each position must be followed by HEADER bytes: the caller pads `log` for shorter old batches. */
int read_batch_headers(const uint8_t *log, int64_t size, const int64_t *starts, int64_t n, int64_t *out)
{
    for (int64_t k = 0; k < n; k++) {
        int64_t start = starts[k];                           /* read once: another thread may write to it */
        if (start < 0 || start > size - HEADER) return 0;
        read_header(log + start, out + k, n);
    }
    return 1;
}
