/* Arrow's C data interface, and the memory of results. */
#pragma once

#include "library.h"

#define SLACK 16                 /* bytes that may be written after the end of a buffer */

/* arrow.apache.org/docs/format/CDataInterface.html; other headers may declare these too. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_NULLABLE 2

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
#endif

/* Shared memory of the buffers of a result, freed with the last array that uses it. */
typedef struct {
    int64_t size, used;
    uint8_t *base;
} Block;

/* memory.c */
Block *new_block(int64_t size);
void *cut(Block *block, int64_t size);           /* aligned to 64 bytes; NULL if the block is full */
void drop_block(Block *block);                   /* may be NULL */
void *moved(Block *block, void *buffer, int64_t used, int64_t size);     /* as realloc(), into the block if it has room */
void free_buffer(const Block *block, void *buffer);

INLINE int is_format(const struct ArrowSchema *schema, const char *format)
{
    return schema->format != NULL && strcmp(schema->format, format) == 0;
}

/* Unaligned reads from buffers of other libraries. */
INLINE int32_t int32_in(const void *numbers, int64_t i) { int32_t v; memcpy(&v, (const uint8_t *)numbers + 4 * i, 4); return v; }
INLINE int64_t int64_in(const void *numbers, int64_t i) { int64_t v; memcpy(&v, (const uint8_t *)numbers + 8 * i, 8); return v; }

/* Whether bit `i` of a bitmap is set; no bitmap has all bits set. */
INLINE int is_set(const uint8_t *bits, int64_t i) { return bits == NULL || bits[i >> 3] >> (i & 7) & 1; }
