/* Compiler of layouts to programs: flat lists of operations for the rows and for the elements of each list. */
#include "plan.h"

typedef struct {
    Plan *plan;
    int variant;
    uint8_t *is_live;
} Maker;

static const uint8_t widths[] = {FIXED_KINDS(WIDTH)};

/* Maximum bytes that an operation writes to a message, without the contents of texts and lists. */
static uint32_t most_of(const Op *op)
{
    if (op->code <= OP_UUID) return widths[op->code];
    if (op->code == OP_TAGS) return 5 + 10 * op->tags->count;
    return op->code <= OP_PRESENCE ? 5 : 0;
}

/* Adds an operation; returns its number, or -1 with MemoryError. `run` is the first op of the preceding fixed-width
 * run, or -1. */
static int64_t add(Maker *maker, Program *program, int64_t *run, Op op)
{
    if (program->count == program->capacity) {
        uint32_t capacity = program->capacity * 2 + 8;
        Op *ops = get_from(&maker->plan->arena, (int64_t)capacity * (int64_t)sizeof(Op));
        if (ops == NULL) return -1;
        if (program->count > 0) memcpy(ops, program->ops, program->count * sizeof(Op));
        program->ops = ops;
        program->capacity = capacity;
    }
    program->most += most_of(&op);
    int is_value = op.code != OP_NULL && op.code != OP_DEFAULT;
    if (op.code <= OP_UUID && !(maker->variant & WRITING)) {
        op.need = widths[op.code];
        if (*run < 0) *run = program->count;
        else {
            program->ops[*run].need += op.need;
            op.code += OP_REST;
        }
    } else if (is_value) {
        *run = -1;
    }
    program->ops[program->count] = op;
    if (op.code != OP_ABSENT) maker->is_live[op.field] = 1;
    return program->count++;
}

static int add_struct(Maker *maker, Program *program, int64_t *run, const TextLayout *layout, uint32_t column, int in_default);

static int code_of(int kind, int is_compact)
{
    if (kind == KIND_STRING) return is_compact ? OP_COMPACT_TEXT : OP_TEXT;
    if (kind == KIND_BYTES) return is_compact ? OP_COMPACT_BLOB : OP_BLOB;
    return OP_BOOL + kind;
}

static int add_list(Maker *maker, Program *program, int64_t *run, const TextField *field, const TextOp *op, Op made)
{
    const Plan *plan = maker->plan;
    uint32_t element = element_of(plan, made.field);
    Program *inner = get_from(&maker->plan->arena, sizeof(Program));
    int64_t inner_run = -1;
    if (inner == NULL) return -1;
    maker->is_live[element] = 1;
    if (field->kind == KIND_STRUCT) {
        Op null_check = {.code = OP_STRUCT, .kind = KIND_STRUCT, .field = element};
        if ((maker->variant & WRITING) && add(maker, inner, &inner_run, null_check) < 0) return -1;
        if (add_struct(maker, inner, &inner_run, &plan->text.layouts[op->layout], element, 0) < 0) return -1;
    } else {
        int flags = op->is_compact ? COMPACT : 0;
        Op value = {.code = (uint8_t)code_of(field->kind, op->is_compact), .flags = (uint8_t)flags, .kind = field->kind, .field = element};
        if (add(maker, inner, &inner_run, value) < 0) return -1;
    }
    int is_number = field->kind > KIND_BOOL && field->kind < KIND_UUID;
    made.code = is_number ? OP_NUMBERS : OP_LIST;
    made.kind = KIND_LIST;
    made.element = field->kind;
    made.need = op->least;
    if (op->least == 0) made.flags |= EMPTY;
    made.domain = plan->fields[made.field].inner;
    made.program = inner;
    return add(maker, program, run, made) < 0 ? -1 : 0;
}

/* Adds a field that the version has. `in_default`: an enclosing struct may be absent, and then has its default value. */
static int add_value(Maker *maker, Program *program, int64_t *run, const TextField *field, const TextOp *op, uint32_t column,
                     int is_tagged, int in_default)
{
    int flags = (op->is_nullable ? NULLABLE : 0) | (op->is_compact ? COMPACT : 0) | (is_tagged ? TAGGED : 0);
    Op made = {.flags = (uint8_t)flags, .kind = field->kind, .field = column};
    if (field->is_array) return add_list(maker, program, run, field, op, made);
    if (field->kind != KIND_STRUCT) {
        made.code = (uint8_t)code_of(field->kind, op->is_compact);
        return add(maker, program, run, made) < 0 ? -1 : 0;
    }
    int64_t at = -1;
    made.code = op->is_nullable ? OP_PRESENCE : OP_STRUCT;
    int has_op = op->is_nullable || (maker->variant & WRITING);
    if (has_op && (at = add(maker, program, run, made)) < 0) return -1;
    maker->is_live[column] = 1;
    in_default = in_default || (is_tagged && !field->is_null);
    const TextLayout *layout = &maker->plan->text.layouts[op->layout];
    if (add_struct(maker, program, run, layout, column, in_default) < 0) return -1;
    if (has_op) {
        program->ops[at].span = program->count - (uint32_t)at - 1;
        *run = -1;
    }
    return 0;
}

/* Adds a column that the version lacks. */
static int add_absent(Maker *maker, Program *program, int64_t *run, uint32_t column, int is_refused, int in_default)
{
    Op op = {.field = column, .kind = maker->plan->fields[column].kind};
    if (maker->variant & WRITING) {
        op.code = OP_ABSENT;
        op.flags = is_refused ? REFUSED : 0;
        return add(maker, program, run, op) < 0 ? -1 : 0;
    }
    if (maker->variant & EMITTING) {
        op.code = OP_DEFAULT;
    } else if ((maker->variant & MIXED) || in_default) {
        op.code = OP_NULL;
    } else {
        return 0;
    }
    memset(maker->is_live + column, 1, maker->plan->fields[column].span);
    return add(maker, program, run, op) < 0 ? -1 : 0;
}

static int add_tags(Maker *maker, Program *program, int64_t *run, const TextLayout *layout, const uint32_t *kids,
                    uint32_t map, int in_default)
{
    const TextStruct *structure = &maker->plan->text.structs[layout->structure];
    Tags *tags = get_from(&maker->plan->arena, sizeof(Tags));
    if (tags == NULL) return -1;
    tags->tags = get_from(&maker->plan->arena, (layout->tag_count + 1) * (int64_t)sizeof(Tag));
    if (tags->tags == NULL) return -1;
    tags->count = (uint32_t)layout->tag_count;
    tags->foreign = layout->foreign;
    tags->foreign_count = (uint32_t)layout->foreign_count;
    Op made = {.code = OP_TAGS, .kind = KIND_MAP, .tags = tags, .field = map, .flags = maker->plan->has_unknown ? UNKNOWN : 0};
    if (maker->plan->has_unknown) made.domain = maker->plan->fields[map].inner;
    int64_t at = add(maker, program, run, made);
    if (at < 0) return -1;
    if (maker->plan->has_unknown) memset(maker->is_live + element_of(maker->plan, map), 1, 3);
    for (int i = 0; i < layout->tag_count; i++) {
        const TextOp *op = &layout->tags[i];
        uint32_t first = program->count;
        *run = -1;
        if (add_value(maker, program, run, &structure->fields[op->place], op, kids[op->place], 1, in_default) < 0) return -1;
        tags->tags[i] = (Tag){op->tag, kids[op->place], first - (uint32_t)at - 1, program->count - first};
    }
    program->ops[at].span = program->count - (uint32_t)at - 1;
    *run = -1;
    return 0;
}

static int add_struct(Maker *maker, Program *program, int64_t *run, const TextLayout *layout, uint32_t column, int in_default)
{
    const Plan *plan = maker->plan;
    const TextStruct *structure = &plan->text.structs[layout->structure];
    uint32_t kids[MAX_FIELDS + 1], at = column + 1;
    for (int i = 0; i < structure->count; i++) {
        kids[i] = at;
        at += plan->fields[at].span;
    }
    maker->is_live[column] = 1;
    for (int i = 0; i < layout->op_count; i++) {
        const TextOp *op = &layout->ops[i];
        uint32_t kid = kids[op->place];
        int failed = op->is_absent
                         ? add_absent(maker, program, run, kid, op->is_refused, in_default)
                         : add_value(maker, program, run, &structure->fields[op->place], op, kid, 0, in_default);
        if (failed) return -1;
    }
    if (layout->has_tags) return add_tags(maker, program, run, layout, kids, plan->has_unknown ? at : column, in_default);
    if (!plan->has_unknown || maker->variant & WRITING || !(maker->variant || in_default)) return 0;
    Op no_tags = {.code = OP_NULL, .kind = KIND_MAP, .field = at};           /* a struct without tags in this version */
    return add(maker, program, run, no_tags) < 0 ? -1 : 0;
}

const VersionPrograms *version_programs(Plan *plan, int version, int variant)
{
    const Text *text = &plan->text;
    int place = version - text->lowest;
    if (plan->programs_by_version[variant] == NULL) {
        plan->programs_by_version[variant] = get_from(&plan->arena, text->version_count * (int64_t)sizeof(VersionPrograms *));
        if (plan->programs_by_version[variant] == NULL) return NULL;
    }
    if (plan->programs_by_version[variant][place] != NULL) return plan->programs_by_version[variant][place];
    VersionPrograms *programs = get_from(&plan->arena, sizeof(VersionPrograms));
    Program *rows = get_from(&plan->arena, sizeof(Program));
    uint8_t *is_live = get_from(&plan->arena, plan->field_count);
    if (programs == NULL || rows == NULL || is_live == NULL) return NULL;
    Maker maker = {plan, variant, is_live};
    int64_t run = -1;
    if (add_struct(&maker, rows, &run, &text->layouts[text->versions[place]], 0, 0) < 0) return NULL;
    programs->rows = rows;
    programs->is_live = is_live;
    return plan->programs_by_version[variant][place] = programs;
}
