/* Memory: arenas, shared blocks of results, buffers that outgrow them, and failures for tests. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE              /* for madvise() and posix_memalign() under -std=c11 */
#endif
#include "arrow.h"

#if defined(__linux__) && !defined(HUGE_PAGES)
#define HUGE_PAGES 1             /* for measurements; 0 disables huge pages */
#endif
#if HUGE_PAGES
#include <sys/mman.h>
#endif

#define HUGE ((int64_t)2 << 20)
#ifndef LEAST_MAPPED
#define LEAST_MAPPED (16 * HUGE) /* below this size, malloc() reuses memory without page faults */
#endif

static PER_THREAD long until_failure = -1;

void fail_allocation(long number) { until_failure = number; }

static int must_fail(void) { return UNLIKELY(until_failure >= 0) && --until_failure < 0; }

static int is_too_much(int64_t size) { return size < 0 || (uint64_t)size > SIZE_MAX / 2; }

void *get_memory(int64_t size) { return is_too_much(size) || must_fail() ? NULL : malloc((size_t)size + !size); }

void *get_zeros(int64_t size) { return is_too_much(size) || must_fail() ? NULL : calloc(1, (size_t)size + !size); }

void *get_more(void *memory, int64_t size)
{
    return is_too_much(size) || must_fail() ? NULL : realloc(memory, (size_t)size + !size);
}

void free_memory(void *memory) { free(memory); }

void *get_from(Arena *arena, int64_t size)
{
    size = (size + 15) & ~(int64_t)15;
    Chunk *chunk = arena->chunks;
    if (chunk == NULL || chunk->size - chunk->used < size) {
        int64_t capacity = chunk == NULL ? 1024 : chunk->size < 1 << 16 ? chunk->size * 2 : chunk->size;
        if (capacity < size) capacity = size;
        if ((chunk = get_zeros((int64_t)sizeof(Chunk) + 16 + capacity)) == NULL) {
            if (arena->stop != NULL) give_up(arena, NO_MEMORY, 0, NULL);
            return NULL;
        }
        chunk->size = capacity;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    char *start = (char *)(chunk + 1) + chunk->used;
    chunk->used += size;
    return start + (-(uintptr_t)(chunk + 1) & 15);
}

/* Returns the place of the next element of `*array`, which moves when it is full. The caller bounds `*count`. */
void *next_in(Arena *arena, void *array, uint32_t *count, uint32_t *capacity, int64_t size)
{
    void **start = array;
    if (*count == *capacity) {
        *capacity = *capacity * 2 + 8;
        void *grown = get_from(arena, *capacity * size);
        if (*count > 0) memcpy(grown, *start, (size_t)(*count * size));
        *start = grown;
    }
    return (char *)*start + (*count)++ * size;
}

void give_up(Arena *arena, Outcome why, int line, const char *text)
{
    arena->error = (Error){why, line, text};
    longjmp(*arena->stop, 1);
}

void free_arena(Arena *arena)
{
    while (arena->chunks != NULL) {
        Chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
}

Block *new_block(int64_t size)
{
    Block *block = get_zeros(sizeof(Block));
    if (block == NULL) return NULL;
    block->size = size;
#if HUGE_PAGES
    if (size >= LEAST_MAPPED && !is_too_much(size + 2 * HUGE)) {
        void *huge = NULL;       /* the page faults of small pages cost as much as filling the columns */
        block->size = (size + HUGE - 1) & ~(HUGE - 1);
        int failed = must_fail() || posix_memalign(&huge, HUGE, (size_t)block->size) != 0;
        if (!failed) (void)madvise(huge, (size_t)block->size, MADV_HUGEPAGE);            /* optional */
        block->base = failed ? NULL : huge;
    } else
#endif
    block->base = get_memory(size);
    if (block->base != NULL) return block;
    free(block);
    return NULL;
}

void *cut(Block *block, int64_t size)
{
    int64_t start = block->used + (-(int64_t)(uintptr_t)(block->base + block->used) & 63);
    if (size < 0 || start > block->size || size > block->size - start) return NULL;
    block->used = start + size;
    return block->base + start;
}

void drop_block(Block *block)
{
    if (block == NULL) return;
    free(block->base);
    free(block);
}

static int is_inside(const Block *block, const void *buffer)
{
    uintptr_t place = (uintptr_t)buffer;
    return block != NULL && place >= (uintptr_t)block->base && place < (uintptr_t)block->base + (uintptr_t)block->size;
}

void free_buffer(const Block *block, void *buffer)
{
    if (!is_inside(block, buffer)) free(buffer);
}

void *moved(Block *block, void *buffer, int64_t used, int64_t size)
{
    void *place = block == NULL ? NULL : cut(block, size);
    if (place == NULL && !is_inside(block, buffer)) return get_more(buffer, size);
    if (place == NULL && (place = get_memory(size)) == NULL) return NULL;
    if (buffer != NULL) memcpy(place, buffer, (size_t)used);
    free_buffer(block, buffer);
    return place;
}
