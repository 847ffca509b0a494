/* Plans: the structs of a message bound to their classes, and the layouts of its versions.
 *
 * Fields are slots of checked classes, and each of them is filled exactly once. */
#include "core.h"
#include <structmember.h>

typedef struct {
    Plan *plan;
    PyObject *classes;
    const Text *text;
} Binding;

static int damaged(const TextStruct *from, const char *what)
{
    if (!PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "line %d of the plan: %s", from->line, what);
    return -1;
}

#define EXPECT(condition, what) do { if (!(condition)) return damaged(from, (what)); } while (0)

void *get_zeros(int64_t size) { return PyMem_Calloc(1, (size_t)size); }
void free_memory(void *memory) { PyMem_Free(memory); }

/* Returns a new reference to a class by name; NULL with an exception. */
static PyTypeObject *class_called(const Binding *binding, const TextStruct *from, const char *name, const char *after)
{
    PyObject *called = name_of(name, after);
    PyObject *found = called == NULL ? NULL : PyDict_GetItemWithError(binding->classes, called);
    if (found != NULL && PyType_Check(found)) {
        Py_DECREF(called);
        return (PyTypeObject *)Py_NewRef(found);
    }
    if (!PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "line %d of the plan: unknown class %R", from->line, called);
    Py_XDECREF(called);
    return NULL;
}

/* ---- defaults */

/* Parses a default; NULL, perhaps without an exception, if it does not have the field's type. */
static PyObject *default_from(const Package *package, const TextField *text)
{
    PyObject *word = PyUnicode_DecodeUTF8(text->word, text->word_size, NULL), *result = NULL;
    if (word == NULL || text->kind == KIND_STRING) return word;
    if (text->kind == KIND_UUID) {
        result = PyObject_CallOneArg((PyObject *)package->uuid, word);
    } else if (text->kind == KIND_FLOAT64) {
        result = PyFloat_FromString(word);
    } else if (text->kind != KIND_BYTES) {
        result = PyLong_FromUnicodeObject(word, 10);
    }
    Py_DECREF(word);
    int64_t value = 0;
    if (result == NULL || text->kind == KIND_FLOAT64 || text->kind == KIND_UUID) return result;
    if (int_of(result, &value) == 0 && text->kind != KIND_BOOL) return result;
    Py_DECREF(result);
    return text->kind == KIND_BOOL && value == 1 ? Py_NewRef(Py_True) : NULL;
}

/* Returns the zero value of a type. */
static PyObject *zero_of(const Package *package, int kind)
{
    switch (kind) {
    case KIND_BOOL: return Py_NewRef(Py_False);
    case KIND_FLOAT64: return PyFloat_FromDouble(0.0);
    case KIND_UUID: return Py_NewRef(package->zero_uuid);
    case KIND_STRING: return PyUnicode_New(0, 0);
    case KIND_BYTES: return PyBytes_FromStringAndSize(NULL, 0);
    default: return PyLong_FromLong(0);
    }
}

static int bind_default(const Package *package, const TextStruct *from, const TextField *text, Field *field)
{
    int is_made = text->is_array || text->kind == KIND_STRUCT;
    if (text->is_null) field->value = Py_NewRef(Py_None);
    else if (!is_made) field->value = text->word != NULL ? default_from(package, text) : zero_of(package, text->kind);
    EXPECT(is_made || field->value != NULL, "a default does not have the type of its field");
    field->by_default = field->value != NULL ? GIVEN : text->is_array ? NEW_LIST : text->is_late ? MADE_LATE : NEW_STRUCT;
    return 0;
}

/* ---- structs */

static int bind_field(const Binding *binding, const TextStruct *from, const TextField *text, Struct *structure, Field *field)
{
    int is_struct = text->kind == KIND_STRUCT;
    if ((field->name = name_of(text->name, "")) == NULL) return -1;
    field->kind = text->kind;
    field->is_array = text->is_array;
    field->is_nullable = text->is_nullable;
    if (is_struct) {
        field->structure = binding->plan->structs[text->structure];
        structure->is_leaf = 0;
    }
    if (text->is_keyed) {
        field->list = class_called(binding, from, binding->text->structs[text->structure].name, "Collection");
        if (field->list == NULL) return -1;
        EXPECT(is_list_class(field->list) && field->list != &PyList_Type, "a collection must be a list with exactly one slot");
    } else if (text->is_array) {
        field->list = (PyTypeObject *)Py_NewRef((PyObject *)&PyList_Type);
        field->is_leaf_list = !is_struct || field->structure->is_leaf;
    }
    if (bind_default(binding->plan->package, from, text, field) < 0) return -1;
    return find_slot(structure->cls, text->is_late ? "_" : "", text->name, &field->slot);
}

/* Two fields in one slot would leak the value of the first. */
static int slots_are_distinct(const Struct *structure)
{
    for (int i = 0; i < structure->count; i++) {
        if (structure->fields[i].slot == structure->unknown) return 0;
        for (int k = 0; k < i; k++) if (structure->fields[i].slot == structure->fields[k].slot) return 0;
    }
    return 1;
}

static int bind_struct(void *context, const TextStruct *from)
{
    const Binding *binding = context;
    Plan *plan = binding->plan;
    void *grown = PyMem_Realloc(plan->structs, (plan->struct_count + 1) * sizeof(Struct *));
    if (grown != NULL) plan->structs = grown;
    Struct *structure = grown == NULL ? NULL : PyMem_Calloc(1, sizeof(Struct));
    if (structure == NULL) { PyErr_NoMemory(); return -1; }
    plan->structs[plan->struct_count++] = structure;
    structure->is_leaf = 1;
    if ((structure->cls = class_called(binding, from, from->name, "")) == NULL) return -1;
    EXPECT(is_plain_class(structure->cls), "the class of a struct must have only __slots__");
    if ((structure->fields = PyMem_Calloc(from->count + 1, sizeof(Field))) == NULL) { PyErr_NoMemory(); return -1; }
    structure->count = from->count;
    for (int i = 0; i < from->count; i++) {
        if (bind_field(binding, from, &from->fields[i], structure, &structure->fields[i]) < 0) return -1;
    }
    if (find_slot(structure->cls, "", "unknown_tagged_fields", &structure->unknown) < 0) return -1;
    EXPECT(slots_are_distinct(structure), "two fields of a struct have the same slot");
    return 0;
}

/* ---- layouts */

static Op bound_op(const Plan *plan, const Layout *layout, const TextOp *op, int is_tagged)
{
    const Field *field = &layout->structure->fields[op->place];
    return (Op){
        .field = field, .slot = field->slot, .tag = op->tag, .layout = op->layout < 0 ? NULL : plan->layouts[op->layout],
        .kind = field->is_array ? KIND_LIST : op->kind, .element = op->kind, .is_compact = op->is_compact,
        .is_nullable = op->is_nullable, .is_tagged = (uint8_t)is_tagged, .bits = op->bits, .is_signed = op->is_signed,
        .least = op->least,
    };
}

static int bind_layout(Plan *plan, const TextLayout *from)
{
    Layout *layout = plan->layouts[plan->layout_count] = PyMem_Calloc(1, sizeof(Layout));
    if (layout == NULL) return -1;
    plan->layout_count++;
    layout->structure = plan->structs[from->structure];
    layout->has_tags = from->has_tags;
    layout->least = from->least;
    layout->is_unsupported = from->is_unsupported;
    layout->ops = PyMem_Calloc(from->op_count + 1, sizeof(Op));
    layout->tags = PyMem_Calloc(from->tag_count + 1, sizeof(Op));
    layout->absent = PyMem_Calloc(from->op_count + 1, sizeof(Absent));
    layout->foreign = PyMem_Calloc(from->foreign_count + 1, sizeof(uint32_t));
    if (layout->ops == NULL || layout->tags == NULL || layout->absent == NULL || layout->foreign == NULL) return -1;
    for (int i = 0; i < from->op_count; i++) {
        const TextOp *op = &from->ops[i];
        if (!op->is_absent) layout->ops[layout->op_count++] = bound_op(plan, layout, op, 0);
        else layout->absent[layout->absent_count++] = (Absent){&layout->structure->fields[op->place], op->is_refused};
    }
    for (; layout->tag_count < from->tag_count; layout->tag_count++) {
        layout->tags[layout->tag_count] = bound_op(plan, layout, &from->tags[layout->tag_count], 1);
    }
    layout->foreign_count = from->foreign_count;
    memcpy(layout->foreign, from->foreign, from->foreign_count * sizeof(uint32_t));
    return 0;
}

static int bind_versions(Plan *plan, const Text *text)
{
    plan->lowest = text->lowest;
    plan->version_count = text->version_count;
    plan->layouts = PyMem_Calloc(text->layout_count + 1, sizeof(Layout *));
    plan->versions = PyMem_Calloc(text->version_count + 1, sizeof(Layout *));
    int failed = plan->layouts == NULL || plan->versions == NULL;
    for (int i = 0; !failed && i < text->layout_count; i++) failed = bind_layout(plan, &text->layouts[i]) < 0;
    if (failed) { PyErr_NoMemory(); return -1; }
    for (int i = 0; i < text->version_count; i++) {
        Layout *layout = text->versions[i] < 0 ? NULL : plan->layouts[text->versions[i]];
        plan->versions[i] = layout == NULL || layout->is_unsupported ? NULL : layout;
    }
    return 0;
}

/* ---- the whole */

static int own_all_releases(const Plan *plan)
{
    for (int i = 0; i < plan->struct_count; i++) {
        const Struct *structure = plan->structs[i];
        if (own_release(structure->cls) < 0) return -1;
        for (int k = 0; k < structure->count; k++) {
            if (structure->fields[k].list != NULL && own_release(structure->fields[k].list) < 0) return -1;
        }
    }
    return 0;
}

static int read_plan(Plan *plan, PyObject *string, PyObject *classes)
{
    Py_ssize_t size;
    const char *utf8 = PyUnicode_AsUTF8AndSize(string, &size);
    if (utf8 == NULL) return -1;
    Arena arena = {NULL};
    Text text = {0};
    Binding binding = {.plan = plan, .classes = classes, .text = &text};
    int failed = read_text(&arena, utf8, size, &text, bind_struct, &binding) < 0 || bind_versions(plan, &text) < 0;
    free_arena(&arena);
    return failed ? -1 : own_all_releases(plan);
}

static PyObject *plan_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"", "", "", NULL};
    PyObject *package, *string, *classes;
    PyTypeObject *wanted = ((State *)PyType_GetModuleState(type))->types[PACKAGE];
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!UO!", names, wanted, &package, &string, &PyDict_Type, &classes)) {
        return NULL;
    }
    Plan *plan = (Plan *)type->tp_alloc(type, 0);
    if (plan == NULL) return NULL;
    plan->package = (Package *)Py_NewRef(package);
    plan->hint = 256;
    if (read_plan(plan, string, classes) == 0) return (PyObject *)plan;
    Py_DECREF(plan);
    return NULL;
}

static int plan_traverse(Plan *plan, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(plan));
    Py_VISIT(plan->package);
    for (int i = 0; i < plan->struct_count; i++) {
        const Struct *structure = plan->structs[i];
        Py_VISIT(structure->cls);
        for (int k = 0; k < structure->count; k++) {
            Py_VISIT(structure->fields[k].list);
            Py_VISIT(structure->fields[k].value);
        }
    }
    Py_VISIT(plan->readers[0]);
    Py_VISIT(plan->readers[1]);
    return 0;
}

/* Clears only the readers: cycles through classes are broken when the classes are cleared. */
static int plan_clear(Plan *plan)
{
    Py_CLEAR(plan->readers[0]);
    Py_CLEAR(plan->readers[1]);
    return 0;
}

static void free_layout(Layout *layout)
{
    for (int i = 0; i < layout->op_count; i++) Py_XDECREF(layout->ops[i].memo);
    for (int i = 0; i < layout->tag_count; i++) Py_XDECREF(layout->tags[i].memo);
    PyMem_Free(layout->ops);
    PyMem_Free(layout->tags);
    PyMem_Free(layout->absent);
    PyMem_Free(layout->foreign);
    PyMem_Free(layout);
}

static void free_struct(Struct *structure)
{
    for (int i = 0; i < structure->count; i++) {
        Py_XDECREF(structure->fields[i].name);
        Py_XDECREF(structure->fields[i].value);
        Py_XDECREF(structure->fields[i].list);
    }
    PyMem_Free(structure->fields);
    Py_XDECREF(structure->cls);
    PyMem_Free(structure);
}

static void plan_dealloc(Plan *plan)
{
    PyTypeObject *type = Py_TYPE(plan);
    PyObject_GC_UnTrack(plan);
    for (int i = 0; i < plan->layout_count; i++) free_layout(plan->layouts[i]);
    for (int i = 0; i < plan->struct_count; i++) free_struct(plan->structs[i]);
    PyMem_Free(plan->layouts);
    PyMem_Free(plan->structs);
    PyMem_Free(plan->versions);
    plan_clear(plan);
    Py_XDECREF(plan->package);
    type->tp_free(plan);
    Py_DECREF(type);
}

static PyMemberDef plan_members[] = {
    {"declined", T_ULONGLONG, offsetof(Plan, declined), READONLY, "Number of calls passed on to the pure methods."},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot plan_slots[] = {
    {Py_tp_new, plan_new},
    {Py_tp_traverse, plan_traverse},
    {Py_tp_clear, plan_clear},
    {Py_tp_dealloc, plan_dealloc},
    {Py_tp_members, plan_members},
    {Py_tp_doc, "Plan(package, text, classes, /)\n--\n\nThe encodings of a message. Raises ValueError or TypeError "
                "if the text is invalid or does not match the classes."},
    {0, NULL},
};

PyType_Spec plan_spec = {
    "kafka_messages_native._core.Plan", sizeof(Plan), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, plan_slots,
};
