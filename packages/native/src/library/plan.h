/* The plan of a message: columns, and programs that convert between columns and the bytes of one version.
 *
 * A domain is a level of repetition: the rows, or the elements of one list. All columns of a domain have the same
 * length. Their numbers are consecutive, and a struct precedes its fields; only lists lead to another domain. */
#pragma once

#include "arrow.h"

#define MAX_COLUMNS 65536        /* limit for nested structs */

typedef struct {
    const char *name;
    uint8_t kind, is_null;                   /* is_null: the default value is null */
    uint32_t domain, span, inner;            /* `span`: number of columns of the field; `inner`: domain of the elements */
    int64_t bits;                            /* default of a number */
    const char *text;                        /* default of a text, of which SLACK bytes can be read; NULL for none */
    int32_t text_size;
} Field;

typedef struct {
    uint32_t first, count;
    const TextField *source;                 /* its array; NULL for the rows and for unknown tags */
} Domain;

#define FIXED_OP(name, letter, width, column_width, format) OP_##name,

typedef enum {                               /* first those of fixed width, in the order of Kind */
    FIXED_KINDS(FIXED_OP)
    OP_TEXT, OP_COMPACT_TEXT, OP_BLOB, OP_COMPACT_BLOB, OP_LIST, OP_NUMBERS, OP_PRESENCE, OP_STRUCT, OP_TAGS,
    OP_NULL, OP_DEFAULT, OP_ABSENT, OP_END,
    OP_REST = 32                             /* flag of fixed-width ops whose size an earlier op of the same run checks */
} Code;

enum { NULLABLE = 1, COMPACT = 2, TAGGED = 4, REFUSED = 8, UNKNOWN = 16, EMPTY = 32 };

struct Program;

/* Ops of a known tagged field: `first` is counted from the op after OP_TAGS. */
typedef struct { uint32_t field, first, span; } Tag;

typedef struct {
    uint8_t code, flags, kind, element;      /* element: kind of the list elements */
    uint32_t field;                          /* column number */
    uint32_t span;                           /* number of following ops that belong to this one */
    uint32_t need;                           /* bytes to check; OP_LIST: minimum per element */
    uint32_t domain;                         /* lists: domain of the elements; OP_TAGS: of unknown tags */
    union {
        const struct Program *program;       /* lists: of the elements */
        const TextLayout *layout;            /* OP_TAGS: its known and foreign tags */
    };
    const Tag *tags;                         /* OP_TAGS: in the order of the layout */
} Op;

typedef struct Program {
    Op *ops;
    uint32_t count, capacity;
    uint32_t most;                           /* maximum bytes of an element in a message, without texts and lists */
} Program;

/* MIXED: columns that only other versions have are null in the rows of this one. EMITTING: they have their defaults. */
typedef enum { MIXED = 1, EMITTING = 2, WRITING = 4, VARIANTS = 5 } Variant;

typedef struct {
    Arena arena;
    const Program *rows;
    uint8_t *is_live;                        /* whether a column has values */
} Programs;

/* Immutable after new_plan(), except for the places of `programs`. */
typedef struct {
    Arena arena;
    Text text;
    Field *fields;
    Domain *domains;
    uint32_t field_count, domain_count;
    uint32_t trailing, corrupt;              /* optional columns of the rows */
    int has_unknown;
    Programs **programs[VARIANTS];           /* by layout; NULL until first used */
} Plan;

/* programs.c */
const Programs *programs_of(const Plan *plan, int layout, int variant);   /* owned by the plan; NULL if out of memory */
void free_plan(Plan *plan);                                 /* with its programs */

/* plan.c */
Plan *new_plan(const char *text, int64_t size, int has_unknown, ToDouble to_double, Error *error);   /* NULL with `error` */
uint32_t element_of(const Plan *plan, uint32_t list);
int is_supported(const Plan *plan, int layout);             /* by columns */

/* values.c */
void uuid_text(uint8_t *to, const uint8_t *p);              /* 22 characters of Kafka's URL-safe base64 */
int uuid_of(uint8_t *to, const uint8_t *text);              /* its 16 bytes; -1 for other characters */
int is_utf8(const uint8_t *p, const uint8_t *end);
int are_utf8(const uint8_t *data, int64_t size, const int32_t *offsets, int64_t count);
