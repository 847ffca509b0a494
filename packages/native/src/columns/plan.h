/* The plan of a message: columns, and programs that convert between columns and the bytes of one version.
 *
 * A domain is a level of repetition: the rows, or the elements of one list. All columns of a domain have the same
 * length. Their numbers are consecutive, and a struct precedes its fields; only lists lead to another domain. */
#pragma once

#include "columns.h"

#define MAX_COLUMNS 65536        /* limit for nested structs */

typedef struct {
    const char *name;
    uint8_t kind, is_null;                   /* is_null: the default value is null */
    uint32_t domain, span, inner;            /* `span`: number of columns of the field; `inner`: domain of the elements */
    int64_t bits;
    const char *text;
    int32_t text_size;
} Field;

typedef struct { uint32_t first, count; } Domain;

#define FIXED_OP(name, letter, width, column_width, format) OP_##name,

typedef enum {                               /* first those of fixed width, in the order of Kind */
    FIXED_KINDS(FIXED_OP)
    OP_TEXT, OP_COMPACT_TEXT, OP_BLOB, OP_COMPACT_BLOB, OP_LIST, OP_NUMBERS, OP_PRESENCE, OP_STRUCT, OP_TAGS,
    OP_NULL, OP_DEFAULT, OP_ABSENT, OP_END,
    OP_REST = 32                             /* flag of fixed-width ops whose size an earlier op of the same run checks */
} Code;

enum { NULLABLE = 1, COMPACT = 2, TAGGED = 4, REFUSED = 8, UNKNOWN = 16, EMPTY = 32 };

struct Program;

typedef struct { uint32_t tag, field, first, span; } Tag;    /* `first`: index of its first op after OP_TAGS; `span`: number of ops */

typedef struct {
    Tag *tags;
    uint32_t *foreign;
    uint32_t count, foreign_count;
} Tags;

typedef struct {
    uint8_t code, flags, kind, element;      /* element: kind of the list elements */
    uint32_t field;                          /* column number */
    uint32_t span;                           /* number of following ops that belong to this one */
    uint32_t need;                           /* bytes to check; OP_LIST: minimum per element */
    uint32_t domain;                         /* OP_LIST: domain of the elements */
    const struct Program *program;
    const Tags *tags;                        /* OP_TAGS */
} Op;

typedef struct Program {
    Op *ops;
    uint32_t count, capacity;
    uint32_t most;                           /* maximum bytes of an element in a message, without texts and lists */
} Program;

typedef enum { MIXED = 1, EMITTING = 2, WRITING = 4, VARIANTS = 8 } Variant;

/* Programs of one version. In the variant MIXED, the columns that only other versions have are null in its rows. */
typedef struct {
    const Program *rows;
    uint8_t *is_live;                        /* whether a column has values */
} VersionPrograms;

typedef struct {
    Arena arena;
    Text text;
    Field *fields;
    Domain *domains;
    uint32_t field_count, domain_count;
    uint32_t trailing, corrupt;              /* optional columns of the rows */
    int has_unknown;
    VersionPrograms **programs_by_version[VARIANTS];                    /* by version, created on first use */
} Plan;

/* defaults.c: sets the default of a column; -1 with an exception */
int make_default(Arena *arena, const TextField *from, Field *field);

/* programs.c: the programs of a version, owned by the plan; NULL with MemoryError */
const VersionPrograms *version_programs(Plan *plan, int version, int variant);

/* plan.c */
PyObject *new_plan(PyObject *module, PyObject *args);
Plan *plan_in(PyObject *capsule);
uint32_t element_of(const Plan *plan, uint32_t list);
const TextLayout *layout_of(const Plan *plan, int64_t version);      /* or NULL */

/* Writes a uuid in Kafka's URL-safe base64. */
static inline void uuid_text(uint8_t *to, const uint8_t *p)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (int i = 0; i < 5; i++, p += 3) {
        uint32_t bits = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
        *to++ = (uint8_t)letters[bits >> 18];
        *to++ = (uint8_t)letters[bits >> 12 & 63];
        *to++ = (uint8_t)letters[bits >> 6 & 63];
        *to++ = (uint8_t)letters[bits & 63];
    }
    *to++ = (uint8_t)letters[*p >> 2];
    *to = (uint8_t)letters[(*p & 3) << 4];
}
