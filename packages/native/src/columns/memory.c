/* Memory of results: shared blocks, buffers that outgrow them, and failures for tests. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE              /* for madvise() and MAP_ANONYMOUS under -std=c11 */
#endif
#include "columns.h"

#include <stdlib.h>
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

#if HUGE_PAGES
/* Allocates huge pages: the page faults of small ones cost as much as filling the columns. */
static uint8_t *mapped(int64_t size)
{
    uint8_t *start = mmap(NULL, (size_t)(size + HUGE), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return NULL;
    int64_t ahead = (int64_t)(-(uintptr_t)start & (uintptr_t)(HUGE - 1));
    if (ahead > 0) munmap(start, (size_t)ahead);
    munmap(start + ahead + size, (size_t)(HUGE - ahead));
    (void)madvise(start + ahead, (size_t)size, MADV_HUGEPAGE);   /* optional */
    return start + ahead;
}
#endif

Block *new_block(int64_t size)
{
    Block *block = get_zeros(sizeof(Block));
    if (block == NULL) return NULL;
    block->references = 1;
    block->size = size;
#if HUGE_PAGES
    if (size >= LEAST_MAPPED && !is_too_much(size + 2 * HUGE)) {
        block->size = (size + HUGE - 1) & ~(HUGE - 1);
        block->is_mapped = 1;
        block->base = must_fail() ? NULL : mapped(block->size);
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
    if (block == NULL || ADD_AND_FETCH(&block->references, -1) > 0) return;
#if HUGE_PAGES
    if (block->is_mapped) munmap(block->base, (size_t)block->size);
    else
#endif
    free(block->base);
    free(block);
}

int is_inside(const Block *block, const void *buffer)
{
    uintptr_t place = (uintptr_t)buffer;
    return block != NULL && place >= (uintptr_t)block->base && place < (uintptr_t)block->base + (uintptr_t)block->size;
}

void *moved(const Block *block, void *buffer, int64_t used, int64_t size)
{
    if (!is_inside(block, buffer)) return get_more(buffer, size);
    void *result = get_memory(size);
    if (result != NULL) memcpy(result, buffer, (size_t)used);
    return result;
}

void free_buffer(const Block *block, void *buffer)
{
    if (!is_inside(block, buffer)) free(buffer);
}
