/* Record batches: format constants, and declarations of their files. No memory is allocated: all output goes into
 * buffers of the caller. */
#pragma once

#include "columns.h"

/* Constants of kafka_records/format.py. The package compares them, and disables this module if one differs. */
#define FORMAT_TABLE(X)                                                                                                \
    X(OVERHEAD, 12)                                                                                                    \
    X(SMALLEST_0, 26)                                                                                                  \
    X(SMALLEST_1, 34)                                                                                                  \
    X(HEADER, 61)                                                                                                      \
    X(SMALLEST_RECORD, 7)                                                                                              \
    X(LENGTH_AT, 8)                                                                                                    \
    X(LEADER_EPOCH_AT, 12)                                                                                             \
    X(MAGIC_AT, 16)                                                                                                    \
    X(CRC_AT, 17)                                                                                                      \
    X(SUMMED_FROM, 21)                                                                                                 \
    X(ATTRIBUTES_AT, 21)                                                                                               \
    X(LAST_OFFSET_DELTA_AT, 23)                                                                                        \
    X(BASE_TIMESTAMP_AT, 27)                                                                                           \
    X(MAX_TIMESTAMP_AT, 35)                                                                                            \
    X(PRODUCER_ID_AT, 43)                                                                                              \
    X(PRODUCER_EPOCH_AT, 51)                                                                                           \
    X(BASE_SEQUENCE_AT, 53)                                                                                            \
    X(COUNT_AT, 57)                                                                                                    \
    X(MESSAGE_ATTRIBUTES_AT, 17)                                                                                       \
    X(MESSAGE_TIMESTAMP_AT, 18)                                                                                        \
    X(COMPRESSION, 7)                                                                                                  \
    X(CODECS, 5)                                                                                                       \
    X(FAULTS, 8)

#define ENUMERATOR(name, value) name = value,
enum { FORMAT_TABLE(ENUMERATOR) };
#undef ENUMERATOR

#define INT16_AT(p) ((int16_t)get16(p))
#define INT32_AT(p) ((int32_t)get32(p))
#define INT64_AT(p) ((int64_t)get64(p))

/* Checks that a buffer holds aligned integers of `width` bytes. */
static inline int holds(const Py_buffer *view, int width) { return view->len % width == 0 && (uintptr_t)view->buf % width == 0; }

/* crc.c: CRC-32C */
uint32_t crc32c(const uint8_t *data, size_t size);
uint32_t crc32c_portable(const uint8_t *data, size_t size);

/* records.c */
PyObject *read_record_columns(PyObject *module, PyObject *args);

/* batches.c: adds the functions to the module; -1 with an exception */
int add_batches(PyObject *module);
