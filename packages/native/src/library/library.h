/* Limits, compiler differences, numbers, kinds of values, errors, memory and the parsed plan text.
 *
 * The library knows no Python. All its state is in its arguments, except for the test hook fail_allocation(), which
 * is per thread. So any number of threads may call it, if none writes to the arguments of another. */
#pragma once

#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT 1                 /* version of the plan text, as in plan/text.py of the generator */
#define MAX_FIELDS 512           /* per struct */
#define MAX_DEPTH 100            /* of nested structs; bounds the recursion */
#define MAX_TAGS 64              /* known tagged fields of a layout; more are declined */
#define MAX_STRING 32767
#define MAX_EMPTY 65535          /* maximum count of elements that take no bytes: the size of the input cannot limit these */
#define MAX_VERSION 32767

/* ADD_AND_FETCH: atomic sum. PUBLISH: stores a pointer where NULL is; 0 if another thread was faster. GET_SHARED: load
 * that sees everything written before PUBLISH. GET_RELAXED, SET_RELAXED: a number that threads may overwrite. */
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic ignored "-Wunused-parameter"          /* of functions that Python or Arrow calls */
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define INLINE static inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))
#define SWAPPED16(x) __builtin_bswap16(x)
#define SWAPPED32(x) __builtin_bswap32(x)
#define SWAPPED64(x) __builtin_bswap64(x)
#define IS_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
#ifdef __GLIBC__
#define PER_THREAD __thread __attribute__((tls_model("initial-exec")))   /* found without a call */
#else
#define PER_THREAD __thread
#endif
#define ADD_AND_FETCH(place, value) __atomic_add_fetch((place), (value), __ATOMIC_ACQ_REL)
#define PUBLISH(place, value) __sync_bool_compare_and_swap((place), NULL, (value))
#define GET_SHARED(place) __atomic_load_n((place), __ATOMIC_ACQUIRE)
#define GET_RELAXED(place) __atomic_load_n((place), __ATOMIC_RELAXED)
#define SET_RELAXED(place, value) __atomic_store_n((place), (value), __ATOMIC_RELAXED)
#else
#include <intrin.h>
#define LIKELY(x) (x)
#define UNLIKELY(x) (x)
#define INLINE static __forceinline
#define NOINLINE __declspec(noinline)
#define SWAPPED16(x) _byteswap_ushort(x)
#define SWAPPED32(x) _byteswap_ulong(x)
#define SWAPPED64(x) _byteswap_uint64(x)
#define IS_BIG_ENDIAN 0
#define PER_THREAD __declspec(thread)
#define ADD_AND_FETCH(place, value) (_InterlockedExchangeAdd((place), (value)) + (value))
#define PUBLISH(place, value) (_InterlockedCompareExchangePointer((void *volatile *)(place), (value), NULL) == NULL)
#define GET_SHARED(place) _InterlockedCompareExchangePointer((void *volatile *)(place), NULL, NULL)
#define GET_RELAXED(place) (*(place))
#define SET_RELAXED(place, value) (*(place) = (value))
#endif

/* Big-endian numbers. */
INLINE uint16_t get16(const uint8_t *p) { uint16_t v; memcpy(&v, p, 2); return IS_BIG_ENDIAN ? v : SWAPPED16(v); }
INLINE uint32_t get32(const uint8_t *p) { uint32_t v; memcpy(&v, p, 4); return IS_BIG_ENDIAN ? v : SWAPPED32(v); }
INLINE uint64_t get64(const uint8_t *p) { uint64_t v; memcpy(&v, p, 8); return IS_BIG_ENDIAN ? v : SWAPPED64(v); }
INLINE void put16(uint8_t *p, uint16_t v) { v = IS_BIG_ENDIAN ? v : SWAPPED16(v); memcpy(p, &v, 2); }
INLINE void put32(uint8_t *p, uint32_t v) { v = IS_BIG_ENDIAN ? v : SWAPPED32(v); memcpy(p, &v, 4); }
INLINE void put64(uint8_t *p, uint64_t v) { v = IS_BIG_ENDIAN ? v : SWAPPED64(v); memcpy(p, &v, 8); }

/* Reads an unsigned varint of at most `bits` bits. Returns the position after it, or NULL if it is truncated or too
 * large. Reads only before `end`, and at most ten bytes. */
static inline const uint8_t *get_varint(const uint8_t *p, const uint8_t *end, int bits, uint64_t *value)
{
    uint64_t result = 0;
    for (int shift = 0; shift < bits && p < end; shift += 7) {
        uint64_t part = *p & 127;
        if (shift > 57 && part >> (64 - shift)) return NULL; /* only one bit of the tenth byte is valid */
        result |= part << shift;
        if (*p++ < 128) {
            *value = result;
            return bits < 64 && result >> bits ? NULL : p;
        }
    }
    return NULL;
}

/* The same for 32 bits, usually one byte. */
INLINE const uint8_t *get_varint32(const uint8_t *p, const uint8_t *end, uint32_t *value)
{
    if (LIKELY(p < end && *p < 128)) { *value = *p; return p + 1; }
    uint64_t wide = 0;
    p = get_varint(p, end, 32, &wide);
    *value = (uint32_t)wide;
    return p;
}

/* Writes an unsigned varint of at most ten bytes; returns the position after it. */
INLINE uint8_t *put_varint(uint8_t *p, uint64_t value)
{
    for (; value > 127; value >>= 7) *p++ = (uint8_t)(value | 128);
    *p++ = (uint8_t)value;
    return p;
}

INLINE int64_t from_zigzag(uint64_t value) { return (int64_t)(value >> 1 ^ (~(value & 1) + 1)); }

/* Fixed-width types: name, letter in plan texts (lower case for signed integers), bytes on the wire, bytes in a column
 * (0 for bits and texts), Arrow format. Integers are adjacent, from INT8 to INT64. */
#define FIXED_KINDS(X)                                                                                     \
    X(BOOL, 't', 1, 0, "b") X(INT8, 'b', 1, 1, "c") X(INT16, 'h', 2, 2, "s") X(UINT16, 'H', 2, 4, "i")     \
    X(INT32, 'i', 4, 4, "i") X(UINT32, 'I', 4, 8, "l") X(INT64, 'q', 8, 8, "l") X(FLOAT64, 'd', 8, 8, "g") \
    X(UUID, 'u', 16, 0, "u")
#define KIND(name, letter, width, column_width, format) KIND_##name,
#define LETTER(name, letter, width, column_width, format) letter,
#define WIDTH(name, letter, width, column_width, format) width,
#define COLUMN_WIDTH(name, letter, width, column_width, format) column_width,
#define ARROW_FORMAT(name, letter, width, column_width, format) format,

/* Prefixed, because Windows has types such as INT8. KIND_LIST is any array; KIND_MAP occurs in columns only. */
typedef enum {
    FIXED_KINDS(KIND) KIND_STRING, KIND_BYTES, KIND_STRUCT, KIND_LIST, KIND_MAP, KIND_VARINT
} Kind;

/* Outcome of a call. DECLINED: valid or not, the caller's general code must handle it. */
typedef enum { SUCCEEDED, MALFORMED, DECLINED, NO_MEMORY } Outcome;

/* Why a plan is rejected: MALFORMED or NO_MEMORY. */
typedef struct {
    Outcome why;
    int line;                                /* of the text; 0 if the error has no line */
    const char *text;                        /* static */
} Error;

/* ---- memory.c */

/* Memory that is freed as a whole. While `stop` is set, failures jump there, with `error`: what is under construction
 * is in the arena, so nothing else must be freed. */
typedef struct Chunk { struct Chunk *next; int64_t used, size; } Chunk;
typedef struct {
    Chunk *chunks;
    jmp_buf *stop;
    Error error;
} Arena;

/* Return NULL if out of memory. */
void *get_memory(int64_t size);
void *get_zeros(int64_t size);
void *get_more(void *memory, int64_t size);  /* as realloc() */
void *get_from(Arena *arena, int64_t size);  /* zeroed, aligned to 16 bytes */
void *next_in(Arena *arena, void *array, uint32_t *count, uint32_t *capacity, int64_t size);     /* see memory.c */
void give_up(Arena *arena, Outcome why, int line, const char *text);         /* jumps to `stop` */
void free_memory(void *memory);
void free_arena(Arena *arena);
void fail_allocation(long number);           /* for tests: one allocation of this thread fails after this many; -1 for none */

/* ---- text.c */

/* The members marked as the core's are its own: objects of Python, and what it knows of them. They start as zeros. */
typedef struct {
    void *keyword, *value, *list;            /* the core's: interned name; default if GIVEN; class of the list */
    uint32_t slot;                           /* the core's */
    uint8_t by_default, is_leaf_list;        /* the core's: Default; a plain list of values or leaves, never tracked */
    uint8_t kind, is_array, is_keyed;        /* kind of the field or of its elements */
    uint8_t is_nullable, is_null, is_late;   /* is_null: the default value is null */
    int32_t word_size;
    struct TextStruct *structure;            /* KIND_STRUCT, else NULL */
    const char *name, *word;                 /* word: the default of a string, or the 16 bytes of a uuid */
    int64_t number;                          /* default of an integer or bool, or the bits of a float */
} TextField;

typedef struct TextStruct {
    void *cls;                               /* the core's */
    TextField *fields;
    int count;
    uint32_t unknown;                        /* the core's: slot of unknown_tagged_fields */
    int is_leaf;                             /* the core's: not tracked by the collector, as no field can be in a cycle */
    int depth, line;
    const char *name;
} TextStruct;

typedef struct {
    TextField *field;
    uint32_t slot;                           /* the core's: of the field */
    uint32_t tag;
    struct TextLayout *layout;               /* of a struct, or of the structs in an array */
    uint8_t kind, element;                   /* kind on the wire; KIND_LIST for arrays, with the kind of the elements */
    uint8_t is_compact, is_nullable, is_tagged;
    uint8_t is_refused;                      /* absent field: values other than the default are rejected */
    uint8_t bits, is_signed;                 /* KIND_VARINT */
    uint32_t least;                          /* minimum bytes of a value or element; 0 if it may be empty */
    void *memo;                              /* the core's: last text read here */
} TextOp;

typedef struct TextLayout {
    TextStruct *structure;
    TextOp *ops, *tags, *absent;             /* ops in wire order, directly followed by the tags, in ascending order */
    uint32_t *foreign;                       /* tags of other versions */
    int op_count, tag_count, absent_count, foreign_count;
    uint32_t least;                          /* minimum bytes of a struct */
    uint8_t has_tags;
    uint8_t is_unsupported;                  /* interleaved tags, optional fields or too many tags, also in nested structs */
    uint8_t has_wire_types;                  /* varints or integers of another width, also in nested structs */
} TextLayout;

typedef struct {
    TextStruct *structs;
    TextLayout *layouts;
    int struct_count, layout_count, lowest, version_count;
    int *versions;                           /* layout index of each version from `lowest` on, or -1 */
} Text;

/* Converts a number as written by Python, and sets `end` to the position after it. strtod() depends on the locale. */
typedef double (*ToDouble)(const char *word, char **end);

/* Parses a text into memory of the arena; -1 with its `error`. */
int read_text(Arena *arena, const char *start, int64_t size, ToDouble to_double, Text *text);

/* Returns the index of a version's layout, or -1. */
INLINE int layout_of(const Text *text, int64_t version)
{
    return version < text->lowest || version >= text->lowest + text->version_count ? -1 : text->versions[version - text->lowest];
}

/* Returns the index of a tagged field, or -1. */
static inline int find_tag(const TextLayout *layout, uint32_t tag)
{
    for (int k = 0; k < layout->tag_count; k++) if (layout->tags[k].tag == tag) return k;
    return -1;
}

static inline int is_foreign(const TextLayout *layout, uint32_t tag)
{
    for (int k = 0; k < layout->foreign_count; k++) if (layout->foreign[k] == tag) return 1;
    return 0;
}
