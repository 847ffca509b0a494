/* Memory and export of results, shared by all files of the columns extension.
 *
 * Only the limited API of Python 3.11 is used, and no Python object is touched while columns are read or written.
 * Invalid data is declined; the package's Python code reports the error. */
#pragma once

#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#include "../shared/shared.h"

#define SLACK 16                 /* bytes that may be written after the end of a buffer */

#if defined(__GNUC__) || defined(__clang__)
#define ADD_AND_FETCH(place, value) __atomic_add_fetch((place), (value), __ATOMIC_ACQ_REL)
#else
#include <intrin.h>
#define ADD_AND_FETCH(place, value) (_InterlockedExchangeAdd((place), (value)) + (value))
#endif

/* Arrow's C data interface (arrow.apache.org/docs/format/CDataInterface.html), which other headers may declare too. */
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

/* Shared memory of all buffers of a result, freed with the last array that uses it. */
typedef struct {
    volatile long references;
    int is_mapped;
    int64_t size, used;
    uint8_t *base;
} Block;

/* A finished column, as in ArrowArray and ArrowSchema. Children of a column are adjacent. */
typedef struct {
    const char *format, *name;   /* the format is static, the name is copied */
    int64_t flags, length, nulls;
    const void *buffers[3];
    int buffer_count, child_count, first_child;
} Column;

/* memory.c; without the GIL and without exceptions */
void *get_memory(int64_t size);                  /* NULL if out of memory; free with free_memory() */
void *get_more(void *memory, int64_t size);      /* as realloc() */
void fail_allocation(long number);               /* for tests: one allocation of this thread fails after this many; -1 for none */
Block *new_block(int64_t size);
void *cut(Block *block, int64_t size);           /* aligned to 64 bytes; NULL if the block is full */
void drop_block(Block *block);                   /* may be NULL */
int is_inside(const Block *block, const void *buffer);
void *moved(const Block *block, void *buffer, int64_t used, int64_t size);   /* realloc() of a buffer that may be in the block */
void free_buffer(const Block *block, void *buffer);

/* export.c: (schema capsule, array capsule) of columns[0], or NULL with an exception. Takes ownership of the block
 * and of `owned`, the buffers outside the block. */
PyObject *handed_over(const Column *columns, int count, Block *block, void *const *owned, int owned_count);

/* Unaligned reads from buffers of other libraries. */
INLINE int32_t int32_in(const void *numbers, int64_t i) { int32_t v; memcpy(&v, (const uint8_t *)numbers + 4 * i, 4); return v; }
INLINE int64_t int64_in(const void *numbers, int64_t i) { int64_t v; memcpy(&v, (const uint8_t *)numbers + 8 * i, 8); return v; }
