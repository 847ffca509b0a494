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

static int damaged(int line, const char *what)
{
    if (!PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "line %d of the plan: %s", line, what);
    return -1;
}

#define EXPECT(condition, what) do { if (!(condition)) return damaged(from->line, (what)); } while (0)
#define GET(target, count)                                                                                            \
    do {                                                                                                              \
        (target) = get_from(&plan->arena, (int64_t)(count) * (int64_t)sizeof *(target));                              \
        if ((target) == NULL) { PyErr_NoMemory(); return -1; }                                                        \
    } while (0)

/* Returns a new reference to a class by name; NULL with an exception. */
static PyTypeObject *class_called(const Binding *binding, const TextStruct *from, const char *name, const char *after)
{
    PyObject *called = name_of(name, after);
    PyObject *found = called == NULL ? NULL : PyObject_GetItem(binding->classes, called);
    int is_missing = found == NULL ? called != NULL && PyErr_ExceptionMatches(PyExc_KeyError) : !PyType_Check(found);
    if (is_missing) {
        Py_CLEAR(found);
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError, "line %d of the plan: unknown class %R", from->line, called);
    }
    Py_XDECREF(called);
    return (PyTypeObject *)found;
}

/* ---- structs */

/* Returns the default of a field that is neither an array nor a struct; NULL with an exception. */
static PyObject *default_from(const Package *package, const TextField *text)
{
    static const char zeros[16];
    double value;
    switch (text->kind) {
    case KIND_BOOL: return PyBool_FromLong((long)text->number);
    case KIND_FLOAT64: memcpy(&value, &text->number, 8); return PyFloat_FromDouble(value);
    case KIND_UUID:
        if (memcmp(text->word, zeros, 16) == 0) return Py_NewRef(package->zero_uuid);
        return new_uuid(package, (const uint8_t *)text->word);
    case KIND_STRING: return PyUnicode_DecodeUTF8(text->word, text->word_size, NULL);
    case KIND_BYTES: return PyBytes_FromStringAndSize(NULL, 0);
    default: return PyLong_FromLongLong(text->number);
    }
}

static int bind_default(const Package *package, const TextField *text, Field *field)
{
    int is_made = text->is_array || text->kind == KIND_STRUCT;
    if (text->is_null) field->value = Py_NewRef(Py_None);
    else if (!is_made && (field->value = default_from(package, text)) == NULL) return -1;
    field->by_default = field->value != NULL ? GIVEN : text->is_array ? NEW_LIST : text->is_late ? MADE_LATE : NEW_STRUCT;
    return 0;
}

static int bind_field(const Binding *binding, const TextStruct *from, const TextField *text, Struct *structure, Field *field)
{
    int is_struct = text->kind == KIND_STRUCT;
    if ((field->name = name_of(text->name, "")) == NULL) return -1;
    field->kind = text->kind;
    field->is_array = text->is_array;
    field->is_nullable = text->is_nullable;
    if (is_struct) {
        field->structure = &binding->plan->structs[text->structure];
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
    if (bind_default(binding->plan->package, text, field) < 0) return -1;
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

static int bind_struct(const Binding *binding, const TextStruct *from)
{
    Plan *plan = binding->plan;
    Struct *structure = &plan->structs[plan->struct_count++];
    structure->is_leaf = 1;
    if ((structure->cls = class_called(binding, from, from->name, "")) == NULL) return -1;
    EXPECT(is_plain_class(structure->cls), "the class of a struct must have only __slots__");
    GET(structure->fields, from->count);
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
        .field = field, .slot = field->slot, .tag = op->tag, .layout = op->layout < 0 ? NULL : &plan->layouts[op->layout],
        .kind = field->is_array ? KIND_LIST : op->kind, .element = op->kind, .is_compact = op->is_compact,
        .is_nullable = op->is_nullable, .is_tagged = (uint8_t)is_tagged, .bits = op->bits, .is_signed = op->is_signed,
        .least = op->least,
    };
}

static int bind_layout(Plan *plan, const TextLayout *from)
{
    Layout *layout = &plan->layouts[plan->layout_count];
    *layout = (Layout){
        .structure = &plan->structs[from->structure], .has_tags = from->has_tags, .least = from->least,
        .is_unsupported = from->is_unsupported, .foreign_count = from->foreign_count,
    };
    GET(layout->ops, from->op_count);
    GET(layout->tags, from->tag_count);
    GET(layout->absent, from->op_count);
    GET(layout->foreign, from->foreign_count);
    plan->layout_count++;                                    /* after its arrays, which free_memos() reads */
    for (int i = 0; i < from->op_count; i++) {
        const TextOp *op = &from->ops[i];
        if (!op->is_absent) layout->ops[layout->op_count++] = bound_op(plan, layout, op, 0);
        else layout->absent[layout->absent_count++] = (Absent){&layout->structure->fields[op->place], op->is_refused};
    }
    for (; layout->tag_count < from->tag_count; layout->tag_count++) {
        layout->tags[layout->tag_count] = bound_op(plan, layout, &from->tags[layout->tag_count], 1);
    }
    memcpy(layout->foreign, from->foreign, from->foreign_count * sizeof(uint32_t));
    return 0;
}

static int bind(const Binding *binding)
{
    const Text *text = binding->text;
    Plan *plan = binding->plan;
    plan->lowest = text->lowest;
    plan->version_count = text->version_count;
    GET(plan->structs, text->struct_count);
    GET(plan->layouts, text->layout_count);
    GET(plan->versions, text->version_count);
    for (int i = 0; i < text->struct_count; i++) if (bind_struct(binding, &text->structs[i]) < 0) return -1;
    for (int i = 0; i < text->layout_count; i++) if (bind_layout(plan, &text->layouts[i]) < 0) return -1;
    for (int i = 0; i < text->version_count; i++) {
        Layout *layout = text->versions[i] < 0 ? NULL : &plan->layouts[text->versions[i]];
        plan->versions[i] = layout == NULL || layout->is_unsupported ? NULL : layout;
    }
    for (int i = 0; i < plan->struct_count; i++) if (own_release(plan->structs[i].cls) < 0) return -1;
    return 0;
}

/* ---- the whole */

static double to_double(const char *word, char **end)
{
    double value = PyOS_string_to_double(word, end, NULL);
    PyErr_Clear();                                           /* `end` shows the failure */
    return value;
}

static int read_plan(Plan *plan, PyObject *string, PyObject *classes)
{
    Py_ssize_t size;
    const char *utf8 = PyUnicode_AsUTF8AndSize(string, &size);
    if (utf8 == NULL) return -1;
    Arena arena = {NULL};
    Text text = {0};
    Binding binding = {.plan = plan, .classes = classes, .text = &text};
    int failed = read_text(&arena, utf8, size, to_double, &text) < 0;
    if (!failed) failed = bind(&binding) < 0;
    else if (arena.error.why == NO_MEMORY) PyErr_NoMemory();
    else damaged(arena.error.line, arena.error.text);
    free_arena(&arena);
    return failed ? -1 : 0;
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
    PyObject_GC_UnTrack(plan);                               /* hidden from other code until complete */
    plan->package = (Package *)Py_NewRef(package);
    plan->hint = 256;
    if (read_plan(plan, string, classes) < 0) { Py_DECREF(plan); return NULL; }
    PyObject_GC_Track(plan);
    return (PyObject *)plan;
}

static int plan_traverse(Plan *plan, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(plan));
    Py_VISIT(plan->package);
    for (int i = 0; i < plan->struct_count; i++) {
        const Struct *structure = &plan->structs[i];
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

static void free_memos(Op *ops, int count) { for (int i = 0; i < count; i++) Py_XDECREF(ops[i].memo); }

static void plan_dealloc(Plan *plan)
{
    PyTypeObject *type = Py_TYPE(plan);
    PyObject_GC_UnTrack(plan);
    for (int i = 0; i < plan->layout_count; i++) {
        free_memos(plan->layouts[i].ops, plan->layouts[i].op_count);
        free_memos(plan->layouts[i].tags, plan->layouts[i].tag_count);
    }
    for (int i = 0; i < plan->struct_count; i++) {
        const Struct *structure = &plan->structs[i];
        for (int k = 0; k < structure->count; k++) {
            Py_XDECREF(structure->fields[k].name);
            Py_XDECREF(structure->fields[k].value);
            Py_XDECREF(structure->fields[k].list);
        }
        Py_XDECREF(structure->cls);
    }
    free_arena(&plan->arena);
    plan_clear(plan);
    Py_XDECREF(plan->package);
    type->tp_free(plan);
    Py_DECREF(type);
}

static PyMemberDef plan_members[] = {
    {"declined", T_PYSSIZET, offsetof(Plan, declined), READONLY, "Number of calls passed on to the pure methods."},
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
