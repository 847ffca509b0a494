/* The text of a plan, taken apart. plan/text.py of the generator prints it; docs/adr/0007 has the grammar.
 *
 * Whatever a text says, reader and writer stay inside objects and input: a layout names only layouts and structs before
 * it, fields are slots of the class that was looked at, each of them is filled exactly once, numbers have bounds.
 */
#include "core.h"
#include <structmember.h>

typedef struct {
    const char *p, *end;         /* `end` is the text's last newline or its terminating NUL: always readable */
    int line;
    Plan *plan;
    PyObject *classes;
    struct { Layout *layout; int lowest, highest; } *ranges;   /* of the struct at hand */
    int range_count, range_room;
} Text;

static int damaged(Text *text, const char *what)
{
    if (!PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "line %d of the plan: %s", text->line, what);
    return -1;
}

#define EXPECT(condition, what) do { if (!(condition)) return damaged(text, (what)); } while (0)

static int take(Text *text, char wanted)
{
    if (text->p >= text->end || *text->p != wanted) return 0;
    text->p++;
    return 1;
}

static int at_end_of_word(const Text *text) { return text->p >= text->end || *text->p == ' ' || *text->p == '\n'; }

static int number(Text *text, int64_t highest, int64_t *value)
{
    const char *start = text->p;
    *value = 0;
    while (text->p < text->end && *text->p >= '0' && *text->p <= '9') {
        *value = *value * 10 + (*text->p++ - '0');
        EXPECT(*value <= highest, "a number is too large");
    }
    EXPECT(text->p > start, "a number is expected");
    return 0;
}

static int is_name(char c)
{
    int is_ascii = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    return is_ascii || (unsigned char)c > 127;           /* Python's letters are more than these */
}

#define LONGEST_NAME 1000

/* A name as an interned string, with `before` and `after`, short ones, around it; NULL with ValueError for none. */
static PyObject *name(Text *text, const char *before, const char *after)
{
    char whole[LONGEST_NAME + 20];
    const char *start = text->p;
    while (text->p < text->end && is_name(*text->p)) text->p++;
    size_t size = text->p - start, ahead = strlen(before), behind = strlen(after);
    if (size == 0 || size > LONGEST_NAME) { damaged(text, "a name is expected"); return NULL; }
    memcpy(whole, before, ahead);
    memcpy(whole + ahead, start, size);
    memcpy(whole + ahead + size, after, behind);
    PyObject *result = PyUnicode_FromStringAndSize(whole, ahead + size + behind);
    if (result != NULL) PyUnicode_InternInPlace(&result);
    return result;
}

/* The class that a name stands for, borrowed; NULL with an exception. */
static PyTypeObject *class_called(Text *text, PyObject *called)
{
    PyObject *found = called == NULL ? NULL : PyDict_GetItemWithError(text->classes, called);
    if (found == NULL || !PyType_Check(found)) {
        if (!PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "line %d of the plan: no class %R", text->line, called);
        return NULL;
    }
    return (PyTypeObject *)found;
}

static int kind_of(char letter)
{
    static const char letters[] = "tbhHiIqdusyr";
    static const uint8_t kinds[] = {
        KIND_BOOL, KIND_INT8, KIND_INT16, KIND_UINT16, KIND_INT32, KIND_UINT32, KIND_INT64, KIND_FLOAT64, KIND_UUID, KIND_STRING,
        KIND_BYTES, KIND_BYTES,
    };
    const char *found = letter == 0 ? NULL : strchr(letters, letter);
    return found == NULL ? -1 : kinds[found - letters];
}

static int is_integer(int kind) { return kind >= KIND_INT8 && kind <= KIND_INT64; }

/* Bytes that a value takes at least; a struct's are those of its layout. */
static uint32_t least_of(int kind)
{
    static const uint8_t widths[] = {
        [KIND_BOOL] = 1, [KIND_INT8] = 1, [KIND_INT16] = 2, [KIND_UINT16] = 2, [KIND_INT32] = 4, [KIND_UINT32] = 4,
        [KIND_INT64] = 8, [KIND_FLOAT64] = 8, [KIND_UUID] = 16,
    };
    return kind <= KIND_UUID ? widths[kind] : 1;
}

/* ---- defaults */

static int hex(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; }

static PyObject *default_text(Text *text)
{
    const char *start = text->p;
    while (!at_end_of_word(text)) text->p++;
    char *bytes = PyMem_Malloc(text->p - start + 1);
    if (bytes == NULL) return PyErr_NoMemory();
    Py_ssize_t size = 0;
    for (const char *p = start; p < text->p; p++) {
        int is_escaped = *p == '%' && text->p - p > 2 && hex(p[1]) >= 0 && hex(p[2]) >= 0;
        bytes[size++] = is_escaped ? (char)(hex(p[1]) << 4 | hex(p[2])) : *p;
        if (is_escaped) p += 2;
    }
    PyObject *result = PyUnicode_DecodeUTF8(bytes, size, NULL);
    PyMem_Free(bytes);
    return result;
}

/* The default of a number or UUID from its word, by Python's own conversions. */
static PyObject *default_from(Text *text, const Field *field)
{
    PyObject *word = default_text(text), *result = NULL;
    if (word == NULL || field->kind == KIND_STRING) return word;
    if (field->kind == KIND_UUID) {
        result = PyObject_CallOneArg((PyObject *)text->plan->package->uuid, word);
    } else if (field->kind == KIND_FLOAT64) {
        result = PyFloat_FromString(word);
    } else if (field->kind != KIND_BYTES) {
        result = PyLong_FromUnicodeObject(word, 10);
    }
    Py_DECREF(word);
    int64_t value = 0;
    if (result == NULL || field->kind == KIND_FLOAT64 || field->kind == KIND_UUID) return result;
    if (int_of(result, &value) == 0 && field->kind != KIND_BOOL) return result;
    Py_DECREF(result);
    return field->kind == KIND_BOOL && value == 1 ? Py_NewRef(Py_True) : NULL;
}

/* What a type is without a default of its own. */
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

static int field_default(Text *text, Field *field, int is_late)
{
    int is_given = take(text, '='), is_null = is_given && take(text, '~');
    if (is_null) field->value = Py_NewRef(Py_None);
    else if (field->is_array || field->kind == KIND_STRUCT) EXPECT(!is_given, "arrays and structs have no default but null");
    else field->value = is_given ? default_from(text, field) : zero_of(text->plan->package, field->kind);
    if (field->value != NULL) field->by_default = GIVEN;
    else if (field->is_array) field->by_default = NEW_LIST;
    else if (field->kind == KIND_STRUCT) field->by_default = is_late ? MADE_LATE : NEW_STRUCT;
    else return damaged(text, "a default is not one of its type");
    EXPECT(!is_late || field->by_default == MADE_LATE, "only a default that is a struct is made late");
    return 0;
}

/* ---- structs */

static Struct *struct_called(Text *text, PyTypeObject *cls)
{
    for (int i = 0; cls != NULL && i < text->plan->struct_count; i++) {
        if (text->plan->structs[i]->cls == cls) return text->plan->structs[i];
    }
    damaged(text, "a struct is used that does not stand before");
    return NULL;
}

static int field_type(Text *text, Struct *structure, Field *field)
{
    int is_keyed = take(text, '{');
    field->is_array = is_keyed || take(text, '[');
    if (!take(text, '@')) {
        EXPECT(!is_keyed && text->p < text->end, "a type is expected");
        int kind = kind_of(*text->p++);
        EXPECT(kind >= 0, "a letter that is no type");
        field->kind = (uint8_t)kind;
        if (field->is_array) field->list = (PyTypeObject *)Py_NewRef((PyObject *)&PyList_Type);
        field->is_leaf_list = field->is_array;
        return 0;
    }
    const char *start = text->p;
    PyObject *called = name(text, "", "");
    field->kind = KIND_STRUCT;
    field->structure = struct_called(text, class_called(text, called));
    Py_XDECREF(called);
    if (field->structure == NULL) return -1;
    structure->is_leaf = 0;
    if (field->structure->depth >= structure->depth) structure->depth = field->structure->depth + 1;
    EXPECT(structure->depth <= MAX_DEPTH, "structs are too deep inside each other");
    if (!field->is_array) return 0;
    PyTypeObject *list = &PyList_Type;
    if (is_keyed) {
        text->p = start;
        called = name(text, "", "Collection");
        list = class_called(text, called);
        Py_XDECREF(called);
        if (list == NULL) return -1;
        EXPECT(is_list_class(list) && list != &PyList_Type, "a collection is no list with an index");
    }
    field->list = (PyTypeObject *)Py_NewRef((PyObject *)list);
    field->is_leaf_list = list == &PyList_Type && field->structure->is_leaf;
    return 0;
}

static int read_field(Text *text, Struct *structure, Field *field)
{
    const char *start = text->p;
    if ((field->name = name(text, "", "")) == NULL) return -1;
    EXPECT(take(text, '/'), "a slash is expected behind a field's name");
    int is_late = take(text, '~');
    if (field_type(text, structure, field) < 0) return -1;
    field->is_nullable = (uint8_t)take(text, '?');
    if (field_default(text, field, is_late) < 0) return -1;
    EXPECT(at_end_of_word(text), "a field is not understood");
    const char *behind = text->p;
    text->p = start;
    PyObject *slot = name(text, is_late ? "_" : "", "");
    text->p = behind;
    int result = slot == NULL ? -1 : slot_of(structure->cls, slot, &field->slot);
    Py_XDECREF(slot);
    return result;
}

/* Two fields in one slot would lose what the first one holds. */
static int slots_are_distinct(const Struct *structure)
{
    for (int i = 0; i < structure->count; i++) {
        if (structure->fields[i].slot == structure->unknown) return 0;
        for (int k = 0; k < i; k++) if (structure->fields[i].slot == structure->fields[k].slot) return 0;
    }
    return 1;
}

static int count_words(const Text *text)
{
    int count = 0;
    for (const char *p = text->p; p < text->end && *p != '\n'; p++) count += *p == ' ';
    return count;
}

static int read_struct_line(Text *text)
{
    Plan *plan = text->plan;
    Struct *structure = plan->structs[plan->struct_count] = PyMem_Calloc(1, sizeof(Struct));
    if (structure == NULL) { PyErr_NoMemory(); return -1; }
    structure->is_leaf = structure->depth = 1;
    PyObject *called = name(text, "", "");
    PyTypeObject *cls = class_called(text, called);
    Py_XDECREF(called);
    if (cls != NULL) structure->cls = (PyTypeObject *)Py_NewRef((PyObject *)cls);
    if (cls == NULL) { plan->struct_count++; return -1; }
    int count = count_words(text), failed = !is_plain_class(cls) || count > MAX_FIELDS;
    if (!failed && (structure->fields = PyMem_Calloc(count + 1, sizeof(Field))) == NULL) { PyErr_NoMemory(); failed = 1; }
    structure->count = failed ? 0 : count;
    for (int i = 0; !failed && i < structure->count; i++) {
        failed = !take(text, ' ') || read_field(text, structure, &structure->fields[i]) < 0;
    }
    failed = failed || slot_called(cls, "unknown_tagged_fields", &structure->unknown) < 0 ||
             !slots_are_distinct(structure);
    plan->struct_count++;        /* only now: a struct does not contain itself */
    text->range_count = 0;
    return failed ? damaged(text, "a struct is not as its class") : 0;
}

/* ---- layouts */

/* The operation of one field; `seen` are the fields that the layout has dealt with. */
static int read_place(Text *text, const Struct *structure, uint64_t *seen, const Field **field)
{
    int64_t place;
    if (number(text, MAX_FIELDS, &place) < 0) return -1;
    EXPECT(place < structure->count, "a field that the struct does not have");
    EXPECT(!(seen[place / 64] >> place % 64 & 1), "a field stands twice in a layout");
    seen[place / 64] |= 1ULL << place % 64;
    *field = &structure->fields[place];
    return 0;
}

static int read_layout_of(Text *text, Op *op)
{
    int64_t which;
    EXPECT(op->field->kind == KIND_STRUCT, "a layout for a field that is no struct");
    if (number(text, INT32_MAX, &which) < 0) return -1;
    EXPECT(which < text->plan->layout_count, "a layout that does not stand before");
    op->layout = text->plan->layouts[which];
    EXPECT(op->layout->structure == op->field->structure, "a layout of another struct");
    return 0;
}

static int read_wire_type(Text *text, Op *op, int *kind)
{
    int64_t bits;
    if (take(text, '@')) return read_layout_of(text, op);
    if (take(text, ':')) {
        *kind = text->p < text->end ? kind_of(*text->p++) : -1;
        EXPECT(*kind >= 0 && is_integer(*kind) && is_integer(op->field->kind), "a wire type that the field cannot have");
        return 0;
    }
    op->is_signed = (uint8_t)take(text, 'z');
    if (!op->is_signed && !take(text, 'v')) return 0;
    EXPECT(is_integer(*kind), "a varint for a field that is no integer");
    if (number(text, 64, &bits) < 0) return -1;
    EXPECT(bits == 16 || bits == 32 || bits == 64, "a varint is of 16, 32 or 64 bits");
    op->bits = (uint8_t)bits;
    *kind = KIND_VARINT;
    return 0;
}

static int read_op(Text *text, const Struct *structure, uint64_t *seen, Op *op)
{
    if (read_place(text, structure, seen, &op->field) < 0) return -1;
    op->slot = op->field->slot;
    int kind = op->field->kind, is_array = op->field->is_array;
    if (read_wire_type(text, op, &kind) < 0) return -1;
    EXPECT((kind == KIND_STRUCT) == (op->layout != NULL), "a struct without its layout");
    op->is_compact = (uint8_t)take(text, 'c');
    op->is_nullable = (uint8_t)take(text, 'n');
    int is_empty = take(text, 'e');
    EXPECT(at_end_of_word(text), "an operation is not understood");
    int has_length = is_array || kind == KIND_STRING || kind == KIND_BYTES;
    EXPECT(has_length || (!op->is_compact && (!op->is_nullable || kind == KIND_STRUCT)), "a flag that the field cannot have");
    op->kind = is_array ? KIND_ARRAY : (uint8_t)kind;
    op->element = (uint8_t)kind;
    op->least = kind == KIND_STRUCT ? op->layout->least : least_of(kind);
    if (kind == KIND_STRING && !op->is_compact) op->least = 2;
    if (kind == KIND_BYTES && !op->is_compact) op->least = 4;
    EXPECT(!is_empty == !(is_array && op->least == 0), "empty elements where there are none");
    return 0;
}

/* Bytes that the value of an operation takes at least. */
static uint32_t least_of_op(const Op *op)
{
    if (op->kind == KIND_ARRAY) return op->is_compact ? 1 : 4;
    return op->kind == KIND_STRUCT && op->is_nullable ? 1 : op->least;
}

static int read_absent(Text *text, Layout *layout, uint64_t *seen)
{
    Absent *absent = &layout->absent[layout->absent_count++];
    if (read_place(text, layout->structure, seen, &absent->field) < 0) return -1;
    absent->refuse = take(text, '!');
    EXPECT(at_end_of_word(text), "an absent field is not understood");
    return 0;
}

static int read_tagged_op(Text *text, Layout *layout, uint64_t *seen)
{
    Op *op = &layout->tags[layout->tag_count++];
    int64_t tag;
    if (number(text, UINT32_MAX, &tag) < 0) return -1;
    EXPECT(take(text, '='), "a tag without its field");
    EXPECT(layout->tag_count == 1 || op[-1].tag < tag, "tags are not in order");
    op->tag = (uint32_t)tag;
    op->is_tagged = 1;
    return read_op(text, layout->structure, seen, op);
}

static int read_foreign(Text *text, Layout *layout)
{
    int64_t tag;
    if (number(text, UINT32_MAX, &tag) < 0) return -1;
    for (int k = 0; k < layout->tag_count; k++) EXPECT(layout->tags[k].tag != tag, "a tag is known and foreign");
    layout->foreign[layout->foreign_count++] = (uint32_t)tag;
    EXPECT(at_end_of_word(text), "a tag is not understood");
    return 0;
}

/* `;` tags, `;;` tags with interleaved headers, `&` the buffer of optional fields: the pure code's alone, the last two. */
static int read_section(Text *text, Layout *layout, uint64_t *seen)
{
    int is_optional = take(text, '&');
    EXPECT(is_optional || take(text, ';'), "a section is expected");
    layout->is_unsupported |= is_optional || take(text, ';');
    layout->section = TAGS;
    layout->least += 1;
    EXPECT(at_end_of_word(text), "a section is not understood");
    while (take(text, ' ')) {
        if ((take(text, '^') ? read_foreign(text, layout) : read_tagged_op(text, layout, seen)) < 0) return -1;
    }
    return 0;
}

static int read_operations(Text *text, Layout *layout, uint64_t *seen)
{
    uint64_t least = 0;
    while (take(text, ' ')) {
        if (text->p < text->end && (*text->p == ';' || *text->p == '&')) {
            if (read_section(text, layout, seen) < 0) return -1;
            break;
        }
        if (take(text, '-')) {
            if (read_absent(text, layout, seen) < 0) return -1;
            continue;
        }
        Op *op = &layout->ops[layout->op_count++];
        if (read_op(text, layout->structure, seen, op) < 0) return -1;
        least += least_of_op(op);
        EXPECT(least <= INT32_MAX / 2, "a struct is too large");
    }
    layout->least += (uint32_t)least;
    return 0;
}

/* Ranges such as `0-3,5`, kept until it is known which struct is the message itself. */
static int read_versions(Text *text, Layout *layout)
{
    do {
        int64_t lowest, highest;
        if (number(text, MAX_VERSION, &lowest) < 0) return -1;
        highest = lowest;
        if (take(text, '+')) highest = MAX_VERSION;
        else if (take(text, '-') && number(text, MAX_VERSION, &highest) < 0) return -1;
        EXPECT(lowest <= highest, "a range of versions runs backwards");
        if (text->range_count == text->range_room) {
            int room = text->range_room * 2 + 8;
            void *ranges = PyMem_Realloc(text->ranges, room * sizeof *text->ranges);
            if (ranges == NULL) { PyErr_NoMemory(); return -1; }
            text->ranges = ranges;
            text->range_room = room;
        }
        text->ranges[text->range_count].layout = layout;
        text->ranges[text->range_count].lowest = (int)lowest;
        text->ranges[text->range_count++].highest = (int)highest;
    } while (take(text, ','));
    EXPECT(at_end_of_word(text), "versions are not understood");
    return 0;
}

static int is_any_unsupported(const Layout *layout)
{
    if (layout->is_unsupported || layout->tag_count > MAX_TAGS) return 1;
    for (int i = 0; i < layout->op_count + layout->tag_count; i++) {
        const Op *op = i < layout->op_count ? &layout->ops[i] : &layout->tags[i - layout->op_count];
        if (op->layout != NULL && op->layout->is_unsupported) return 1;
    }
    return 0;
}

static int read_layout_line(Text *text)
{
    Plan *plan = text->plan;
    EXPECT(plan->struct_count > 0, "a layout without a struct");
    Layout *layout = plan->layouts[plan->layout_count] = PyMem_Calloc(1, sizeof(Layout));
    int words = count_words(text) + 1;                   /* a bound for the operations of each sort */
    if (layout == NULL || (layout->ops = PyMem_Calloc(words, sizeof(Op))) == NULL ||
        (layout->tags = PyMem_Calloc(words, sizeof(Op))) == NULL ||
        (layout->absent = PyMem_Calloc(words, sizeof(Absent))) == NULL ||
        (layout->foreign = PyMem_Calloc(words, sizeof(uint32_t))) == NULL) {
        plan->layout_count += layout != NULL;
        PyErr_NoMemory();
        return -1;
    }
    layout->structure = plan->structs[plan->struct_count - 1];
    uint64_t seen[MAX_FIELDS / 64] = {0};
    int failed = read_versions(text, layout) < 0 || read_operations(text, layout, seen) < 0;
    plan->layout_count++;        /* only now: a layout does not contain itself */
    if (failed) return -1;
    for (int i = 0; i < layout->structure->count; i++) {
        EXPECT(seen[i / 64] >> i % 64 & 1, "a layout leaves out a field");
    }
    layout->is_unsupported = is_any_unsupported(layout);
    return 0;
}

/* ---- the whole */

static int bind_versions(Text *text)
{
    Plan *plan = text->plan;
    int lowest = MAX_VERSION, highest = -1;
    EXPECT(text->range_count > 0, "a message without versions");
    for (int i = 0; i < text->range_count; i++) {
        if (text->ranges[i].lowest < lowest) lowest = text->ranges[i].lowest;
        if (text->ranges[i].highest > highest) highest = text->ranges[i].highest;
    }
    plan->lowest = lowest;
    plan->version_count = highest - lowest + 1;
    plan->versions = PyMem_Calloc(plan->version_count, sizeof(Layout *));
    if (plan->versions == NULL) { PyErr_NoMemory(); return -1; }
    for (int i = 0; i < text->range_count; i++) {
        for (int version = text->ranges[i].lowest; version <= text->ranges[i].highest; version++) {
            EXPECT(plan->versions[version - lowest] == NULL, "a version stands twice");
            plan->versions[version - lowest] = text->ranges[i].layout;
        }
    }
    for (int i = 0; i < plan->version_count; i++) {
        if (plan->versions[i] != NULL && plan->versions[i]->is_unsupported) plan->versions[i] = NULL;
    }
    return 0;
}

static int read_lines(Text *text)
{
    int64_t format;
    if (number(text, INT32_MAX, &format) < 0) return -1;
    EXPECT(format == FORMAT, "another format");
    while (take(text, '\n')) {
        text->line++;
        if (text->p == text->end) return bind_versions(text);
        if ((take(text, ':') ? read_struct_line(text) : read_layout_line(text)) < 0) return -1;
    }
    return damaged(text, "the line does not end where it should");
}

/* Room for every struct and layout: a line is one of them. */
static int make_room(Text *text)
{
    Py_ssize_t lines = 1;
    for (const char *p = text->p; p < text->end; p++) lines += *p == '\n';
    text->plan->structs = PyMem_Calloc(lines, sizeof(Struct *));
    text->plan->layouts = PyMem_Calloc(lines, sizeof(Layout *));
    if (text->plan->structs != NULL && text->plan->layouts != NULL) return 0;
    PyErr_NoMemory();
    return -1;
}

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

static PyObject *plan_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"", "", "", NULL};
    PyObject *package, *string, *classes;
    PyTypeObject *wanted = ((State *)PyType_GetModuleState(type))->package;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!UO!", names, wanted, &package, &string, &PyDict_Type, &classes)) {
        return NULL;
    }
    Py_ssize_t size;
    const char *utf8 = PyUnicode_AsUTF8AndSize(string, &size);
    if (utf8 == NULL) return NULL;
    Plan *plan = (Plan *)type->tp_alloc(type, 0);
    if (plan == NULL) return NULL;
    plan->package = (Package *)Py_NewRef(package);
    plan->hint = 256;
    Text text = {.p = utf8, .end = utf8 + size, .line = 1, .plan = plan, .classes = classes};
    int failed = make_room(&text) < 0 || read_lines(&text) < 0 || own_all_releases(plan) < 0;
    PyMem_Free(text.ranges);
    if (!failed) return (PyObject *)plan;
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

/* The classes, in every other circle with it, let go of what they hold. */
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
    {"declined", T_ULONGLONG, offsetof(Plan, declined), READONLY, "Calls that the pure methods had to deal with."},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot plan_slots[] = {
    {Py_tp_new, plan_new},
    {Py_tp_traverse, plan_traverse},
    {Py_tp_clear, plan_clear},
    {Py_tp_dealloc, plan_dealloc},
    {Py_tp_members, plan_members},
    {Py_tp_doc, "Plan(package, text, classes, /)\n--\n\nHow a message is read and written; ValueError or TypeError "
                "for a text that is damaged or not of these classes."},
    {0, NULL},
};

PyType_Spec plan_spec = {
    "kafka_messages_native._core.Plan", sizeof(Plan), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, plan_slots,
};
