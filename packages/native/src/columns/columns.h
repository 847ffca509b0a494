/* What all files of the columns' extension share: memory for the buffers of a result, and its way out.
 *
 * Only the limited API of Python 3.11 is used, and no Python object is touched while columns are read or made. Nothing
 * here words an error about data: what is not taken is declined, and the package's Python code says what is wrong.
 */
#ifndef KAFKA_MESSAGES_COLUMNS_H
#define KAFKA_MESSAGES_COLUMNS_H

#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#include "../shared/shared.h"
#include "arrow.h"

#define SLACK 16                 /* bytes that may be written behind what a buffer holds */

#if defined(__GNUC__) || defined(__clang__)
#define ADD_AND_FETCH(place, value) __atomic_add_fetch((place), (value), __ATOMIC_ACQ_REL)
#else
#include <intrin.h>
#define ADD_AND_FETCH(place, value) (_InterlockedExchangeAdd((place), (value)) + (value))
#endif

/* One piece of memory that all buffers of a result are cut from; it goes when the last array that uses it goes. */
typedef struct {
    volatile long references;
    int is_mapped;
    int64_t size, used;
    uint8_t *base;
} Block;

/* A column that is ready: what an ArrowArray and its ArrowSchema say. Children of a column stand beside each other. */
typedef struct {
    const char *format, *name;   /* the format lives for ever, the name is copied */
    int64_t flags, length, nulls;
    const void *buffers[3];
    int buffer_count, child_count, first_child;
} Column;

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC visibility push(hidden)      /* what follows is for the extension's own files */
#endif

/* memory.c; none of these needs the GIL or sets an exception */
void *get_memory(int64_t size);                  /* NULL where there is none; free it by free_memory() */
void *get_more(void *memory, int64_t size);      /* as realloc() */
void fail_allocation(long number);               /* for tests: how many go well before one fails; -1 for never */
Block *new_block(int64_t size);
void *cut(Block *block, int64_t size);           /* aligned to 64 bytes; NULL where the block has no more */
void drop_block(Block *block);                   /* may be NULL */
int is_inside(const Block *block, const void *buffer);
void *moved(const Block *block, void *buffer, int64_t used, int64_t size);   /* realloc() that leaves the block alone */
void free_buffer(const Block *block, void *buffer);

/* export.c: (schema capsule, array capsule) of columns[0], or NULL with an exception. Block and buffers are its own from
 * then on, and freed if it fails; `owned` are those outside the block, to be freed with the result. */
PyObject *handed_over(const Column *columns, int count, Block *block, void *const *owned, int owned_count);

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC visibility pop
#endif

/* Numbers of other libraries' buffers, which need not be aligned. */
INLINE int32_t int32_in(const void *numbers, int64_t i) { int32_t v; memcpy(&v, (const uint8_t *)numbers + 4 * i, 4); return v; }
INLINE int64_t int64_in(const void *numbers, int64_t i) { int64_t v; memcpy(&v, (const uint8_t *)numbers + 8 * i, 8); return v; }

#endif
