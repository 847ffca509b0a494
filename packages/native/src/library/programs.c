/* Compiler of layouts to programs: flat lists of operations for the rows and for the elements of each list. */
#include "plan.h"

typedef struct {
    const Plan *plan;
    Arena *arena;
    int variant;
    uint8_t *is_live;
    Program *program;            /* under construction */
    int64_t run;                 /* the first op of the preceding ones of fixed width, or -1 */
} Maker;

static const uint8_t widths[] = {FIXED_KINDS(WIDTH)};

/* Maximum bytes that an operation writes to a message, without the contents of texts and lists. */
static uint32_t most_of(const Op *op)
{
    if (op->code <= OP_UUID) return widths[op->code];
    if (op->code == OP_TAGS) return 5 + 10 * (uint32_t)op->layout->tag_count;
    return op->code <= OP_PRESENCE ? 5 : 0;
}

/* Adds an operation; returns its number. The first op of a run of fixed width checks the bytes
 * of all, so only an op that always follows it may join the run. */
static uint32_t add(Maker *maker, Op op)
{
    Program *program = maker->program;
    Op *place = next_in(maker->arena, &program->ops, &program->count, &program->capacity, sizeof(Op));
    program->most += most_of(&op);
    if (op.code <= OP_UUID && !(maker->variant & WRITING)) {
        op.need = widths[op.code];
        if (maker->run < 0) maker->run = place - program->ops;
        else {
            program->ops[maker->run].need += op.need;
            op.code += OP_REST;
        }
    } else if (op.code != OP_NULL && op.code != OP_DEFAULT) {
        maker->run = -1;
    }
    *place = op;
    if (op.code != OP_ABSENT) maker->is_live[op.field] = 1;
    return (uint32_t)(place - program->ops);
}

static void add_struct(Maker *maker, const TextLayout *layout, uint32_t column, int in_default);

static Op plain_op(int kind, int flags, uint32_t column)
{
    int is_compact = flags & COMPACT, code = OP_BOOL + kind;
    if (kind == KIND_STRING) code = is_compact ? OP_COMPACT_TEXT : OP_TEXT;
    if (kind == KIND_BYTES) code = is_compact ? OP_COMPACT_BLOB : OP_BLOB;
    return (Op){.code = (uint8_t)code, .flags = (uint8_t)flags, .kind = (uint8_t)kind, .field = column};
}

static void add_list(Maker *maker, const TextOp *op, int flags, uint32_t column)
{
    const Plan *plan = maker->plan;
    int kind = op->field->kind;
    uint32_t element = element_of(plan, column);
    Maker inner = *maker;
    inner.run = -1;
    inner.program = get_from(maker->arena, sizeof(Program));
    maker->is_live[element] = 1;
    if (kind == KIND_STRUCT) {
        Op null_check = {.code = OP_STRUCT, .kind = KIND_STRUCT, .field = element};
        if (maker->variant & WRITING) add(&inner, null_check);
        add_struct(&inner, op->layout, element, 0);
    } else {
        add(&inner, plain_op(kind, flags & COMPACT, element));
    }
    int is_number = kind > KIND_BOOL && kind < KIND_UUID;
    Op list = {
        .code = is_number ? OP_NUMBERS : OP_LIST, .flags = (uint8_t)(flags | (op->least == 0 ? EMPTY : 0)), .kind = KIND_LIST,
        .element = (uint8_t)kind, .field = column, .need = op->least, .domain = plan->fields[column].inner,
        .program = inner.program,
    };
    add(maker, list);
}

/* Sets the span of a preceding operation, whose following ops are skipped as a whole. */
static void end_span(Maker *maker, uint32_t at)
{
    maker->program->ops[at].span = maker->program->count - at - 1;
    maker->run = -1;
}

/* Adds a field that the version has. `in_default`: an enclosing struct may be absent, and then has its default value. */
static void add_value(Maker *maker, const TextOp *op, uint32_t column, int in_default)
{
    const TextField *field = op->field;
    int flags = (op->is_nullable ? NULLABLE : 0) | (op->is_compact ? COMPACT : 0) | (op->is_tagged ? TAGGED : 0);
    if (field->is_array) {
        add_list(maker, op, flags, column);
    } else if (field->kind != KIND_STRUCT) {
        add(maker, plain_op(field->kind, flags, column));
    } else {
        int has_op = op->is_nullable || (maker->variant & WRITING), code = op->is_nullable ? OP_PRESENCE : OP_STRUCT;
        Op made = {.code = (uint8_t)code, .flags = (uint8_t)flags, .kind = KIND_STRUCT, .field = column};
        uint32_t at = has_op ? add(maker, made) : 0;
        in_default = in_default || (op->is_tagged && !field->is_null);
        add_struct(maker, op->layout, column, in_default);
        if (has_op) end_span(maker, at);
    }
}

static void add_absent(Maker *maker, uint32_t column, int is_refused, int in_default)
{
    Op op = {.code = OP_ABSENT, .field = column, .kind = maker->plan->fields[column].kind, .flags = is_refused ? REFUSED : 0};
    if (!(maker->variant & WRITING)) {
        if (!maker->variant && !in_default) return;
        op.code = maker->variant & EMITTING ? OP_DEFAULT : OP_NULL;
        memset(maker->is_live + column, 1, maker->plan->fields[column].span);
    }
    add(maker, op);
}

static void add_tags(Maker *maker, const TextLayout *layout, const uint32_t *kids, uint32_t map, int in_default)
{
    const Plan *plan = maker->plan;
    Program *program = maker->program;
    Tag *tags = get_from(maker->arena, layout->tag_count * (int64_t)sizeof(Tag));
    Op made = {.code = OP_TAGS, .kind = KIND_MAP, .layout = layout, .tags = tags, .field = map};
    if (plan->has_unknown) {
        made.flags = UNKNOWN;
        made.domain = plan->fields[map].inner;
        memset(maker->is_live + element_of(plan, map), 1, 3);
    }
    uint32_t at = add(maker, made);
    for (int i = 0; i < layout->tag_count; i++) {
        uint32_t first = program->count, column = kids[layout->tags[i].field - layout->structure->fields];
        maker->run = -1;
        add_value(maker, &layout->tags[i], column, in_default);
        tags[i] = (Tag){column, first - at - 1, program->count - first};
    }
    end_span(maker, at);
}

/* Adds the fields of a struct. The depth of structs in a text bounds the recursion. */
static void add_struct(Maker *maker, const TextLayout *layout, uint32_t column, int in_default)
{
    const Plan *plan = maker->plan;
    const TextField *fields = layout->structure->fields;
    uint32_t kids[MAX_FIELDS + 1], at = column + 1;
    for (int i = 0; i < layout->structure->count; i++) {
        kids[i] = at;
        at += plan->fields[at].span;
    }
    maker->is_live[column] = 1;
    for (const TextOp *op = layout->ops, *last = op + layout->op_count; op < last; op++) {
        add_value(maker, op, kids[op->field - fields], in_default);
    }
    for (const TextOp *op = layout->absent, *last = op + layout->absent_count; op < last; op++) {
        add_absent(maker, kids[op->field - fields], op->is_refused, in_default);
    }
    if (layout->has_tags) {
        add_tags(maker, layout, kids, plan->has_unknown ? at : column, in_default);
    } else if (plan->has_unknown && !(maker->variant & WRITING) && (maker->variant || in_default)) {
        add(maker, (Op){.code = OP_NULL, .kind = KIND_MAP, .field = at});     /* a struct without tags in this version */
    }
}

static void free_programs(Programs *programs)
{
    if (programs != NULL) free_arena(&programs->arena);
    free_memory(programs);
}

static Programs *new_programs(const Plan *plan, int layout, int variant)
{
    Programs *programs = get_zeros(sizeof(Programs));
    if (programs == NULL) return NULL;
    Arena *arena = &programs->arena;
    jmp_buf stop;
    arena->stop = &stop;
    if (setjmp(stop) != 0) {
        free_programs(programs);
        return NULL;
    }
    Maker maker = {plan, arena, variant, get_from(arena, plan->field_count), get_from(arena, sizeof(Program)), -1};
    add_struct(&maker, &plan->text.layouts[layout], 0, 0);
    programs->rows = maker.program;
    programs->is_live = maker.is_live;
    arena->stop = NULL;
    return programs;
}

/* Threads that need the same programs at once each create them, and all use those that were published first. */
const Programs *programs_of(const Plan *plan, int layout, int variant)
{
    Programs **place = &plan->programs[variant][layout], *found = GET_SHARED(place);
    if (found != NULL || (found = new_programs(plan, layout, variant)) == NULL || PUBLISH(place, found)) return found;
    free_programs(found);
    return GET_SHARED(place);
}

void free_plan(Plan *plan)
{
    for (int i = 0; i < VARIANTS; i++) {
        for (int k = 0; k < plan->text.layout_count; k++) free_programs(plan->programs[i][k]);
    }
    free_arena(&plan->arena);
    free_memory(plan);
}
