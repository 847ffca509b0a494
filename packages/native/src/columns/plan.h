/* The nouns of a plan: a message's columns, and programs that fill them from the bytes of one version or write these.
 *
 * A domain is a level of repetition: the rows, or the elements of one list. All columns of a domain are as long as each
 * other, so the number of an element is the place of every value of it. Columns of a domain have numbers that follow
 * each other, and a struct is followed by what it contains; only lists lead to another domain.
 */
#ifndef KAFKA_MESSAGES_PLAN_H
#define KAFKA_MESSAGES_PLAN_H

#include "columns.h"

#define MAX_FIELDS 512           /* of a struct */
#define MAX_DEPTH 100            /* of structs inside structs: bounds the recursion of decoding and encoding */
#define MAX_TAGS 64              /* known tagged fields of a layout; more are declined */
#define MAX_COLUMNS 65536        /* of a message: structs inside structs could stand for more than there is memory */
#define MAX_STRING 32767
#define MAX_EMPTY 65535          /* elements that take no bytes, which the input does not bound */
#define MAX_VERSION 32767

/* Prefixed, as Windows has types called INT8 and so on. */
typedef enum {
    KIND_BOOL, KIND_INT8, KIND_INT16, KIND_UINT16, KIND_INT32, KIND_UINT32, KIND_INT64, KIND_FLOAT64, KIND_UUID, KIND_STRING,
    KIND_BYTES, KIND_STRUCT, KIND_LIST, KIND_MAP
} Kind;

/* Memory that is freed as a whole. */
typedef struct Chunk { struct Chunk *next; int64_t used, size; } Chunk;
typedef struct { Chunk *chunks; } Arena;

/* ---- the text, taken apart */

typedef struct {
    const char *name;
    uint8_t kind, is_array, is_null;         /* a Kind; whether the default is null */
    int structure;                           /* STRUCT: which */
    int64_t bits;                            /* the default of a number; of a float64 its bits */
    const char *text;                        /* that of a string or uuid, as it stands in the column */
    int32_t text_size;
} TextField;

typedef struct { const char *name; TextField *fields; int count, depth; } TextStruct;

typedef struct {
    int place, layout;                       /* the field; the layout of a struct, else -1 */
    uint8_t is_compact, is_nullable, is_refused, is_absent;
    uint32_t tag, least;                     /* bytes that a value, or an element of an array, takes at least */
} TextOp;

typedef struct {
    int structure;
    TextOp *ops, *tags;                      /* as on the wire and then those absent, by ascending tag */
    uint32_t *foreign;                       /* tags that other versions have */
    int op_count, tag_count, foreign_count;
    uint8_t has_tags, is_unsupported;
    uint32_t least;
} TextLayout;

typedef struct {
    TextStruct *structs;
    TextLayout *layouts;
    int struct_count, layout_count, lowest, version_count;
    int *versions;                           /* the layout of each version from `lowest` on, -1 for none */
} Text;

/* ---- columns and programs */

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

/* text.c */
void *get_from(Arena *arena, int64_t size);  /* zeros; NULL with MemoryError */
void free_arena(Arena *arena);
int read_text(Arena *arena, const char *start, int64_t size, Text *text);    /* -1 with ValueError */

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
