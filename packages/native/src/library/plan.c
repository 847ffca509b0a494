/* Columns of the fields of all versions, in definition order. */
#include "plan.h"

typedef struct {
    Plan *plan;
    uint32_t field_capacity, domain_capacity;
} Maker;

static Field *add_field(Maker *maker, const char *name, int kind, uint32_t domain)
{
    Plan *plan = maker->plan;
    if (plan->field_count >= MAX_COLUMNS) give_up(&plan->arena, MALFORMED, 0, "the plan has too many columns");
    Field *field = next_in(&plan->arena, &plan->fields, &plan->field_count, &maker->field_capacity, sizeof(Field));
    *field = (Field){.name = name, .kind = (uint8_t)kind, .domain = domain, .span = 1};
    return field;
}

static void add_domain(Maker *maker, const TextField *source)
{
    Plan *plan = maker->plan;
    Domain *domain = next_in(&plan->arena, &plan->domains, &plan->domain_count, &maker->domain_capacity, sizeof(Domain));
    domain->source = source;
}

static void add_list(Maker *maker, const char *name, int kind, const TextField *source, uint32_t domain)
{
    Field *field = add_field(maker, name, kind, domain);
    field->inner = maker->plan->domain_count;
    field->is_null = source == NULL || source->is_null;
    add_domain(maker, source);
}

static void add_struct(Maker *maker, const char *name, const TextStruct *from, int is_null, uint32_t domain);

static void add_value(Maker *maker, const char *name, const TextField *source, uint32_t domain)
{
    if (source->kind == KIND_STRUCT) {
        add_struct(maker, name, source->structure, source->is_null, domain);
        return;
    }
    Field *field = add_field(maker, name, source->kind, domain);
    field->is_null = source->is_null;
    field->bits = source->number;
    if (source->is_array || source->is_null) return;
    if (source->kind == KIND_STRING) {
        field->text = source->word;
        field->text_size = source->word_size;
    } else if (source->kind == KIND_UUID) {
        field->text = get_from(&maker->plan->arena, field->text_size = 22);
        uuid_text((uint8_t *)field->text, (const uint8_t *)source->word);
    }
}

/* Adds a struct and its fields. The depth of structs in a text bounds the recursion. */
static void add_struct(Maker *maker, const char *name, const TextStruct *from, int is_null, uint32_t domain)
{
    Plan *plan = maker->plan;
    uint32_t number = plan->field_count;
    add_field(maker, name, KIND_STRUCT, domain)->is_null = (uint8_t)is_null;
    for (int i = 0; i < from->count; i++) {
        const TextField *each = &from->fields[i];
        if (each->is_array) add_list(maker, each->name, KIND_LIST, each, domain);
        else add_value(maker, each->name, each, domain);
    }
    if (plan->has_unknown) add_list(maker, "_unknown_tagged_fields", KIND_MAP, NULL, domain);
    plan->fields[number].span = plan->field_count - number;
}

/* Adds the columns of a map from tag to bytes. */
static void add_entries(Maker *maker, uint32_t domain)
{
    add_field(maker, "entries", KIND_STRUCT, domain)->span = 3;
    add_field(maker, "key", KIND_INT64, domain);
    add_field(maker, "value", KIND_BYTES, domain);
}

static void make_columns(Plan *plan)
{
    Maker maker = {.plan = plan};
    add_domain(&maker, NULL);
    for (uint32_t domain = 0; domain < plan->domain_count; domain++) {           /* lists append their domains */
        const TextField *source = plan->domains[domain].source;
        uint32_t first = plan->field_count;
        if (domain == 0) add_struct(&maker, "", &plan->text.structs[plan->text.struct_count - 1], 0, 0);
        else if (source == NULL) add_entries(&maker, domain);
        else add_value(&maker, "element", source, domain);
        if (domain == 0) {
            plan->trailing = plan->field_count;
            plan->corrupt = plan->field_count + 1;
            add_field(&maker, "", KIND_BYTES, 0);
            add_field(&maker, "", KIND_BYTES, 0);
        }
        plan->domains[domain].first = first;
        plan->domains[domain].count = plan->field_count - first;
    }
    int64_t size = plan->text.layout_count * (int64_t)sizeof(Programs *);
    for (int i = 0; i < VARIANTS; i++) plan->programs[i] = get_from(&plan->arena, size);
}

uint32_t element_of(const Plan *plan, uint32_t list) { return plan->domains[plan->fields[list].inner].first; }

Plan *new_plan(const char *text, int64_t size, int has_unknown, ToDouble to_double, Error *error)
{
    Plan *plan = get_zeros(sizeof(Plan));
    *error = (Error){.why = NO_MEMORY};
    if (plan == NULL) return NULL;
    plan->has_unknown = has_unknown;
    if (read_text(&plan->arena, text, size, to_double, &plan->text) == 0) {
        jmp_buf stop;
        plan->arena.stop = &stop;
        if (setjmp(stop) == 0) {
            make_columns(plan);
            plan->arena.stop = NULL;
            return plan;
        }
    }
    *error = plan->arena.error;
    free_arena(&plan->arena);
    free_memory(plan);                       /* it has no programs yet */
    return NULL;
}

int is_supported(const Plan *plan, int layout)
{
    return layout >= 0 && !plan->text.layouts[layout].is_unsupported && !plan->text.layouts[layout].has_wire_types;
}
