/* Record batches: format constants, headers, records, checksums. No memory is allocated: all output goes into buffers of
 * the caller. */
#pragma once

#include "arrow.h"

/* Constants of kafka_records/format.py. The package compares them, and disables the extension if one differs. */
#define FORMAT_TABLE(X)                                                                                                \
    X(OVERHEAD, 12) X(SMALLEST_0, 26) X(SMALLEST_1, 34) X(HEADER, 61) X(SMALLEST_RECORD, 7) X(LENGTH_AT, 8)            \
    X(LEADER_EPOCH_AT, 12) X(MAGIC_AT, 16) X(CRC_AT, 17) X(SUMMED_FROM, 21) X(ATTRIBUTES_AT, 21)                       \
    X(LAST_OFFSET_DELTA_AT, 23) X(BASE_TIMESTAMP_AT, 27) X(MAX_TIMESTAMP_AT, 35) X(PRODUCER_ID_AT, 43)                 \
    X(PRODUCER_EPOCH_AT, 51) X(BASE_SEQUENCE_AT, 53) X(COUNT_AT, 57) X(MESSAGE_ATTRIBUTES_AT, 17)                      \
    X(MESSAGE_TIMESTAMP_AT, 18) X(COMPRESSION, 7) X(CODECS, 5) X(FAULTS, 8)
/* Columns of headers, in the order of read_batch_headers(). */
#define HEADER_FIELDS(X)                                                                                               \
    X(MAGIC) X(ATTRIBUTES) X(BASE_OFFSET) X(LEADER_EPOCH) X(LAST_OFFSET_DELTA) X(BASE_TIMESTAMP) X(MAX_TIMESTAMP)      \
    X(PRODUCER_ID) X(PRODUCER_EPOCH) X(BASE_SEQUENCE) X(COUNT)

#define ENUMERATOR(name, value) name = value,
enum { FORMAT_TABLE(ENUMERATOR) };
#undef ENUMERATOR
#define ENUMERATOR(name) HEADER_##name,
enum { HEADER_FIELDS(ENUMERATOR) HEADER_FIELD_COUNT };

/* A walk over the batches of a log, in memory of the caller. */
typedef struct {
    const uint8_t *log;
    long long at, last, size, shortest, longest;             /* stops behind `last`; limits of the lengths */
    int is_summed;
    int64_t *starts;                                         /* positions of the batches found */
    uint8_t *faults, *agrees;                                /* errors of their headers, and whether the checksums agree */
    int64_t capacity, found, need;
} Walk;

/* A column of texts or bytes, whose number of elements is limited. */
typedef struct {
    int is_wanted;
    uint8_t *bytes;
    int64_t capacity, used;
    int32_t *offsets;
    uint8_t *valid;                                          /* initially all set */
    int64_t elements, nulls;
} Binary;

/* Records to read: `sections` has SECTION_FIELDS columns of an element for each of the `batches`. */
enum { POS, END, COUNT, BASE_OFFSET, BASE_TIMESTAMP, APPEND_TIME, IS_APPENDED, SECTION_FIELDS };
enum { DONE, KEYS_SHORT, VALUES_SHORT, HEADERS_SHORT, HEADER_KEYS_SHORT, HEADER_VALUES_SHORT, UNSUPPORTED };
typedef struct {
    const uint8_t *data, *stop;
    const int64_t *sections;
    int64_t batches, rows, row, header;
    int64_t *offset, *timestamp;                             /* NULL if not wanted */
    Binary key, value, header_key, header_value;
    int32_t *lists;                                          /* offsets of the header lists; NULL if not wanted */
    uint8_t *has_headers;
    int64_t without_headers;
} Scan;

/* batches.c */
void follow(Walk *walk);
int read_batch_headers(const uint8_t *log, int64_t size, const int64_t *starts, int64_t n, int64_t *out);  /* 0: positions outside */

/* records.c: DONE, UNSUPPORTED, or the number of the buffer that is full at record `row` */
int read_records(Scan *scan);

/* crc.c: CRC-32C */
uint32_t crc32c(const uint8_t *data, size_t size);
uint32_t crc32c_portable(const uint8_t *data, size_t size);
/* xxhash.c: xxHash32 with seed 0 */
uint32_t xxh32(const uint8_t *data, size_t size);
