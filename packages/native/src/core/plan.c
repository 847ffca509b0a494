/* Plans: the structs of a message bound to their classes, and the layouts of its versions. Fields are slots of checked
 * classes, each filled exactly once: the parser lists each field once (text.c), and slots are distinct (see below). */
#include "core.h"
#include <structmember.h>

static int damaged(int line, const char *what)
{
    if (!PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "line %d of the plan: %s", line, what);
    return -1;
}

/* Returns a new reference to a class by name; NULL with an exception. */
static PyObject *class_called(PyObject *classes, int line, const char *name, const char *after)
{
    PyObject *called = name_of(name, after);
    PyObject *found = called == NULL ? NULL : PyObject_GetItem(classes, called);
    int is_missing = found == NULL ? called != NULL && PyErr_ExceptionMatches(PyExc_KeyError) : !PyType_Check(found);
    if (is_missing) {
        Py_CLEAR(found);
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError, "line %d of the plan: unknown class %R", line, called);
    }
    Py_XDECREF(called);
    return found;
}

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

static int bind_default(const Package *package, TextField *field)
{
    int is_made = field->is_array || field->kind == KIND_STRUCT;
    if (field->is_null) field->value = Py_NewRef(Py_None);
    else if (!is_made && (field->value = default_from(package, field)) == NULL) return -1;
    field->by_default = field->value != NULL ? GIVEN : field->is_array ? NEW_LIST : field->is_late ? MADE_LATE : NEW_STRUCT;
    return 0;
}

static int bind_field(const Package *package, PyObject *classes, const TextStruct *structure, TextField *field)
{
    if ((field->keyword = name_of(field->name, "")) == NULL) return -1;
    if (field->is_keyed) {
        field->list = class_called(classes, structure->line, field->structure->name, "Collection");
        if (field->list == NULL) return -1;
        if (!is_list_class(field->list) || field->list == &PyList_Type)
            return damaged(structure->line, "a collection must be a list with exactly one slot");
    } else if (field->is_array) {
        field->list = Py_NewRef((PyObject *)&PyList_Type);
        field->is_leaf_list = field->structure == NULL || field->structure->is_leaf;
    }
    if (bind_default(package, field) < 0) return -1;
    return find_slot(structure->cls, field->is_late ? "_" : "", field->name, &field->slot);
}

/* Two fields in one slot would leak the value of the first. */
static int slots_are_distinct(const TextStruct *structure)
{
    for (int i = 0; i < structure->count; i++) {
        if (structure->fields[i].slot == structure->unknown) return 0;
        for (int k = 0; k < i; k++) if (structure->fields[i].slot == structure->fields[k].slot) return 0;
    }
    return 1;
}

static int bind_struct(const Package *package, PyObject *classes, TextStruct *structure)
{
    if ((structure->cls = class_called(classes, structure->line, structure->name, "")) == NULL) return -1;
    if (!is_plain_class(structure->cls)) return damaged(structure->line, "the class of a struct must have only __slots__");
    structure->is_leaf = 1;
    for (int i = 0; i < structure->count; i++) {
        if (structure->fields[i].kind == KIND_STRUCT) structure->is_leaf = 0;
        if (bind_field(package, classes, structure, &structure->fields[i]) < 0) return -1;
    }
    if (find_slot(structure->cls, "", "unknown_tagged_fields", &structure->unknown) < 0) return -1;
    return slots_are_distinct(structure) ? 0 : damaged(structure->line, "two fields of a struct have the same slot");
}

static int bind(Plan *plan, PyObject *classes)
{
    const Text *text = &plan->text;
    for (int i = 0; i < text->struct_count; i++) if (bind_struct(plan->package, classes, &text->structs[i]) < 0) return -1;
    for (int i = 0; i < text->layout_count; i++) {
        const TextLayout *layout = &text->layouts[i];
        for (int k = 0; k < layout->op_count + layout->tag_count; k++) layout->ops[k].slot = layout->ops[k].field->slot;
    }
    for (int i = 0; i < text->version_count; i++) {
        if (text->versions[i] >= 0 && text->layouts[text->versions[i]].is_unsupported) text->versions[i] = -1;
    }
    for (int i = 0; i < text->struct_count; i++) if (own_release(text->structs[i].cls) < 0) return -1;
    return 0;
}

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
    if (read_text(&plan->arena, utf8, size, to_double, &plan->text) == 0) return bind(plan, classes);
    const Error *error = &plan->arena.error;
    if (error->why != NO_MEMORY) return damaged(error->line, error->text);
    PyErr_NoMemory();
    return -1;
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
    for (int i = 0; i < plan->text.struct_count; i++) {
        const TextStruct *structure = &plan->text.structs[i];
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

static void plan_dealloc(Plan *plan)
{
    PyTypeObject *type = Py_TYPE(plan);
    PyObject_GC_UnTrack(plan);
    for (int i = 0; i < plan->text.layout_count; i++) {
        const TextLayout *layout = &plan->text.layouts[i];
        for (int k = 0; k < layout->op_count + layout->tag_count; k++) Py_XDECREF(layout->ops[k].memo);
    }
    for (int i = 0; i < plan->text.struct_count; i++) {
        const TextStruct *structure = &plan->text.structs[i];
        for (int k = 0; k < structure->count; k++) {
            Py_XDECREF(structure->fields[k].keyword);
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
