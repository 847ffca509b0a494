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
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "arrow.h"

#define FORMAT 1                 /* of the plan text; plan/text.py of the generator has the same number */
#define SLACK 16                 /* bytes that may be written behind what a buffer holds */

#if defined(__GNUC__) || defined(__clang__)
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define INLINE static inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))
#define SWAPPED16(x) __builtin_bswap16(x)
#define SWAPPED32(x) __builtin_bswap32(x)
#define SWAPPED64(x) __builtin_bswap64(x)
#define ADD_AND_FETCH(place, value) __atomic_add_fetch((place), (value), __ATOMIC_ACQ_REL)
#else
#include <intrin.h>
#include <stdlib.h>
#define LIKELY(x) (x)
#define UNLIKELY(x) (x)
#define INLINE static __forceinline
#define NOINLINE __declspec(noinline)
#define SWAPPED16(x) _byteswap_ushort(x)
#define SWAPPED32(x) _byteswap_ulong(x)
#define SWAPPED64(x) _byteswap_uint64(x)
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
void *get_zeros(int64_t size);
void *get_more(void *memory, int64_t size);      /* as realloc() */
void free_memory(void *memory);
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

/* Numbers as they stand on the wire, most significant byte first. */
INLINE uint16_t get16(const uint8_t *p) { uint16_t v; memcpy(&v, p, 2); return PY_BIG_ENDIAN ? v : SWAPPED16(v); }
INLINE uint32_t get32(const uint8_t *p) { uint32_t v; memcpy(&v, p, 4); return PY_BIG_ENDIAN ? v : SWAPPED32(v); }
INLINE uint64_t get64(const uint8_t *p) { uint64_t v; memcpy(&v, p, 8); return PY_BIG_ENDIAN ? v : SWAPPED64(v); }
INLINE void put16(uint8_t *p, uint16_t v) { v = PY_BIG_ENDIAN ? v : SWAPPED16(v); memcpy(p, &v, 2); }
INLINE void put32(uint8_t *p, uint32_t v) { v = PY_BIG_ENDIAN ? v : SWAPPED32(v); memcpy(p, &v, 4); }
INLINE void put64(uint8_t *p, uint64_t v) { v = PY_BIG_ENDIAN ? v : SWAPPED64(v); memcpy(p, &v, 8); }

/* Numbers of other libraries' buffers, which need not be aligned. */
INLINE int32_t int32_in(const void *numbers, int64_t i) { int32_t v; memcpy(&v, (const uint8_t *)numbers + 4 * i, 4); return v; }
INLINE int64_t int64_in(const void *numbers, int64_t i) { int64_t v; memcpy(&v, (const uint8_t *)numbers + 8 * i, 8); return v; }

#endif
