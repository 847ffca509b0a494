/* The nouns of a plan: a message's columns, and programs that fill them from the bytes of one version or write these.
 *
 * A domain is a level of repetition: the rows, or the elements of one list. All columns of a domain are as long as each
 * other, so the number of an element is the place of every value of it. Columns of a domain have numbers that follow
 * each other, and a struct is followed by what it contains; only lists lead to another domain.
 */
#ifndef KAFKA_MESSAGES_PLAN_H
#define KAFKA_MESSAGES_PLAN_H

#include "columns.h"

#define MAX_COLUMNS 65536        /* of a message: structs inside structs could stand for more than there is memory */

typedef struct {
    const char *name;
    uint8_t kind, is_null;                   /* whether the default is null */
    uint32_t domain, span, inner;            /* columns from this on that belong to it; the domain of elements */
    int64_t bits;
    const char *text;
    int32_t text_size;
} Field;

typedef struct { uint32_t first, count; } Domain;

typedef enum {
    OP_BOOL, OP_INT8, OP_INT16, OP_UINT16, OP_INT32, OP_UINT32, OP_INT64, OP_FLOAT64, OP_UUID,
    OP_TEXT, OP_COMPACT_TEXT, OP_BLOB, OP_COMPACT_BLOB, OP_LIST, OP_NUMBERS, OP_PRESENCE, OP_STRUCT, OP_TAGS,
    OP_NULL, OP_DEFAULT, OP_ABSENT, OP_END,
    OP_REST = 32                             /* + a fixed op: the first of the run looked for the bytes of all */
} Code;

enum { NULLABLE = 1, COMPACT = 2, TAGGED = 4, REFUSED = 8, UNKNOWN = 16, EMPTY = 32 };

struct Program;

typedef struct { uint32_t tag, field, first, span; } Tag;    /* ops of a tagged field, counted from its OP_TAGS */

typedef struct {
    Tag *tags;
    uint32_t *foreign;
    uint32_t count, foreign_count;
} Tags;

typedef struct {
    uint8_t code, flags, kind, element;      /* OP_NUMBERS: the kind of the elements */
    uint32_t field;                          /* number of the column */
    uint32_t span;                           /* ops behind this one that belong to it */
    uint32_t need;                           /* bytes that are looked for; OP_LIST: that an element takes at least */
    uint32_t domain;                         /* OP_LIST: of the elements */
    const struct Program *program;
    const Tags *tags;                        /* OP_TAGS */
} Op;

typedef struct Program {
    Op *ops;
    uint32_t count, room;
    uint32_t most;                           /* bytes that an element takes in a message, but those of texts and lists */
} Program;

typedef enum { MIXED = 1, EMITTING = 2, WRITING = 4, VARIANTS = 8 } Variant;

/* How one version is read, or written; alone, or mixed with others, whose columns are null in its rows. */
typedef struct {
    const Program *rows;
    uint8_t *is_live;                        /* of each column: whether anything is put there */
} Way;

typedef struct {
    Arena arena;
    Text text;
    Field *fields;
    Domain *domains;
    uint32_t field_count, domain_count;
    uint32_t trailing, corrupt;              /* columns of the rows that a call may ask for */
    int has_unknown;
    Way **ways[VARIANTS];                    /* by version, made when they are first used */
} Plan;

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC visibility push(hidden)
#endif

/* defaults.c: the value of a column where a version lacks the field; -1 with ValueError */
int make_default(Arena *arena, const TextField *from, Field *field);

/* tree.c */
int make_columns(Plan *plan);
uint32_t element_of(const Plan *plan, uint32_t list);

/* programs.c: the way of a version, which is one of the plan's; NULL with MemoryError */
const Way *way_of(Plan *plan, int version, int variant);

/* plan.c: the layout of a version, NULL for none */
PyObject *new_plan(PyObject *module, PyObject *args);
Plan *plan_in(PyObject *capsule);
const TextLayout *layout_of(const Plan *plan, int64_t version);

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC visibility pop
#endif

#endif
