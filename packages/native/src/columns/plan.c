/* Plans: columns of the fields of all versions, in definition order, in a capsule kept by the package. */
#include "plan.h"

#define NAME "kafka_messages_native.columns"

typedef struct {
    Plan *plan;
    uint32_t field_capacity, domain_capacity;
    const TextField **sources;               /* by domain: its array; NULL for the rows and for unknown tags */
} Maker;

static int ensure_capacity(Maker *maker, void **array, uint32_t count, uint32_t *capacity, int64_t size)
{
    if (count < *capacity) return 1;
    if (count >= MAX_COLUMNS) { PyErr_SetString(PyExc_ValueError, "the plan has too many columns"); return 0; }
    uint32_t wanted = *capacity * 2 + 16;
    void *grown = get_from(&maker->plan->arena, wanted * size);
    if (grown == NULL) return 0;
    if (count > 0) memcpy(grown, *array, (size_t)(count * size));
    *array = grown;
    *capacity = wanted;
    return 1;
}

static Field *add_field(Maker *maker, const char *name, int kind, uint32_t domain)
{
    Plan *plan = maker->plan;
    if (!ensure_capacity(maker, (void **)&plan->fields, plan->field_count, &maker->field_capacity, sizeof(Field))) return NULL;
    Field *field = &plan->fields[plan->field_count++];
    *field = (Field){.name = name, .kind = (uint8_t)kind, .domain = domain, .span = 1, .text = ""};
    return field;
}

static int add_domain(Maker *maker, const TextField *source, uint32_t *number)
{
    Plan *plan = maker->plan;
    uint32_t capacity = maker->domain_capacity;
    if (!ensure_capacity(maker, (void **)&plan->domains, plan->domain_count, &capacity, sizeof(Domain)) ||
        !ensure_capacity(maker, (void **)&maker->sources, plan->domain_count, &maker->domain_capacity, sizeof(TextField *))) {
        return -1;
    }
    *number = plan->domain_count++;
    maker->sources[*number] = source;
    return 0;
}

static int add_list(Maker *maker, const char *name, int kind, const TextField *source, uint32_t domain)
{
    uint32_t inner;
    Field *field = add_field(maker, name, kind, domain);
    if (field == NULL || add_domain(maker, source, &inner) < 0) return -1;
    field->inner = inner;
    field->is_null = source == NULL || source->is_null;
    return 0;
}

static int add_struct(Maker *maker, const char *name, int structure, int is_null, uint32_t domain);

static int add_value(Maker *maker, const char *name, const TextField *source, uint32_t domain)
{
    Plan *plan = maker->plan;
    if (source->kind == KIND_STRUCT) return add_struct(maker, name, source->structure, source->is_null, domain);
    Field *field = add_field(maker, name, source->kind, domain);
    if (field == NULL) return -1;
    field->is_null = source->is_null;
    return make_default(&plan->arena, source, field);
}

static int add_struct(Maker *maker, const char *name, int structure, int is_null, uint32_t domain)
{
    Plan *plan = maker->plan;
    const TextStruct *from = &plan->text.structs[structure];
    uint32_t number = plan->field_count;
    Field *field = add_field(maker, name, KIND_STRUCT, domain);
    if (field == NULL) return -1;
    field->is_null = (uint8_t)is_null;
    for (int i = 0; i < from->count; i++) {
        const TextField *each = &from->fields[i];
        int failed = each->is_array ? add_list(maker, each->name, KIND_LIST, each, domain) : add_value(maker, each->name, each, domain);
        if (failed) return -1;
    }
    if (plan->has_unknown && add_list(maker, "_unknown_tagged_fields", KIND_MAP, NULL, domain) < 0) return -1;
    plan->fields[number].span = plan->field_count - number;
    return 0;
}

/* Adds the columns of a map from tag to bytes. */
static int add_entries(Maker *maker, uint32_t domain)
{
    Field *entries = add_field(maker, "entries", KIND_STRUCT, domain);
    if (entries == NULL) return -1;
    entries->span = 3;
    return add_field(maker, "key", KIND_INT64, domain) == NULL || add_field(maker, "value", KIND_BYTES, domain) == NULL ? -1 : 0;
}

static int add_rows(Maker *maker)
{
    Plan *plan = maker->plan;
    if (add_struct(maker, "", plan->text.struct_count - 1, 0, 0) < 0) return -1;
    plan->trailing = plan->field_count;
    plan->corrupt = plan->field_count + 1;
    return add_field(maker, "", KIND_BYTES, 0) == NULL || add_field(maker, "", KIND_BYTES, 0) == NULL ? -1 : 0;
}

static int make_columns(Plan *plan)
{
    Maker maker = {.plan = plan};
    uint32_t rows;
    if (add_domain(&maker, NULL, &rows) < 0) return -1;
    for (uint32_t domain = 0; domain < plan->domain_count; domain++) {
        const TextField *source = maker.sources[domain];
        uint32_t first = plan->field_count;
        int failed = domain == 0      ? add_rows(&maker)
                     : source == NULL ? add_entries(&maker, domain)
                                      : add_value(&maker, "element", source, domain);
        if (failed) return -1;
        plan->domains[domain] = (Domain){first, plan->field_count - first};
    }
    return 0;
}

uint32_t element_of(const Plan *plan, uint32_t list) { return plan->domains[plan->fields[list].inner].first; }

/* ---- capsules */

static void free_plan(PyObject *capsule)
{
    Plan *plan = PyCapsule_GetPointer(capsule, NAME);
    free_arena(&plan->arena);
    free_memory(plan);
}

Plan *plan_in(PyObject *capsule) { return PyCapsule_GetPointer(capsule, NAME); }

PyObject *new_plan(PyObject *module, PyObject *args)
{
    const char *text;
    Py_ssize_t size;
    int has_unknown;
    if (!PyArg_ParseTuple(args, "s#p", &text, &size, &has_unknown)) return NULL;
    Plan *plan = get_zeros(sizeof(Plan));
    if (plan == NULL) return PyErr_NoMemory();
    plan->has_unknown = has_unknown;
    PyObject *capsule = NULL;
    if (read_text(&plan->arena, text, size, &plan->text, NULL, NULL) == 0 && make_columns(plan) == 0) {
        capsule = PyCapsule_New(plan, NAME, free_plan);
    }
    if (capsule != NULL) return capsule;
    free_arena(&plan->arena);
    free_memory(plan);
    return NULL;
}

const TextLayout *layout_of(const Plan *plan, int64_t version)
{
    const Text *text = &plan->text;
    if (version < text->lowest || version >= text->lowest + text->version_count) return NULL;
    int layout = text->versions[version - text->lowest];
    return layout < 0 ? NULL : &text->layouts[layout];
}
