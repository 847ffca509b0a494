/* Plans as Python objects: a capsule for each message, kept by the package. */
#include "plan.h"

#define NAME "kafka_messages_native.columns"

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
    (void)module;
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
