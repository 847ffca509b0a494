/* Parser of plan texts, which plan/text.py of the generator writes; docs/adr/0007 has the grammar.
 *
 * Invalid texts cannot cause invalid memory accesses: a layout refers only to earlier layouts and structs, each field
 * is handled exactly once, and numbers are bounded. */
#include "shared.h"

typedef struct {
    const char *p, *end;
    int line, ranges, range_capacity;
    Arena *arena;
    Text *text;
    StructReader read;
    void *context;
    struct { int layout, lowest, highest; } *range;          /* of the current struct */
} Reader;

void *get_from(Arena *arena, int64_t size)
{
    size = (size + 15) & ~(int64_t)15;
    Chunk *chunk = arena->chunks;
    if (chunk == NULL || chunk->size - chunk->used < size) {
        int64_t capacity = size > 4096 ? size : 4096;
        if ((chunk = get_zeros((int64_t)sizeof(Chunk) + 16 + capacity)) == NULL) { PyErr_NoMemory(); return NULL; }
        chunk->size = capacity;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    char *start = (char *)(chunk + 1) + chunk->used;
    chunk->used += size;
    return start + (-(uintptr_t)(chunk + 1) & 15);
}

void free_arena(Arena *arena)
{
    while (arena->chunks != NULL) {
        Chunk *next = arena->chunks->next;
        free_memory(arena->chunks);
        arena->chunks = next;
    }
}

static int damaged(const Reader *reader, const char *what)
{
    if (!PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "line %d of the plan: %s", reader->line, what);
    return -1;
}

#define EXPECT(condition, what) do { if (!(condition)) return damaged(reader, (what)); } while (0)
#define GET(target, count) EXPECT(((target) = get_from(reader->arena, (int64_t)(count) * (int64_t)sizeof *(target))), "")

static int take(Reader *reader, char wanted)
{
    if (reader->p >= reader->end || *reader->p != wanted) return 0;
    reader->p++;
    return 1;
}

static int at_end_of_word(const Reader *reader)
{
    return reader->p >= reader->end || *reader->p == ' ' || *reader->p == '\n';
}

static int number(Reader *reader, int64_t highest, int64_t *value)
{
    const char *start = reader->p;
    for (*value = 0; reader->p < reader->end && *reader->p >= '0' && *reader->p <= '9'; reader->p++) {
        *value = *value * 10 + (*reader->p - '0');
        EXPECT(*value <= highest, "a number is too large");
    }
    EXPECT(reader->p > start, "expected a number");
    return 0;
}

static int is_name(char c)
{
    int is_ascii = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    return is_ascii || (unsigned char)c > 127;           /* letters beyond ASCII */
}

#define LONGEST_NAME 1000

static int name(Reader *reader, const char **result)
{
    const char *start = reader->p;
    while (reader->p < reader->end && is_name(*reader->p)) reader->p++;
    int64_t size = reader->p - start;
    EXPECT(size > 0 && size <= LONGEST_NAME, "expected a name of 1 to 1000 bytes");
    char *copy;
    GET(copy, size + 1);
    memcpy(copy, start, (size_t)size);
    *result = copy;
    return 0;
}

static int kind_of(char letter)
{
    static const char letters[] = {FIXED_KINDS(LETTER) 's', 'y', 'r', 0};
    const char *found = letter == 0 ? NULL : strchr(letters, letter);
    return found == NULL ? -1 : *found == 'r' ? KIND_BYTES : (int)(found - letters);
}

/* ---- structs */

int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int read_word(Reader *reader, TextField *field)
{
    const char *start = reader->p;
    while (!at_end_of_word(reader)) reader->p++;
    char *to;
    GET(to, reader->p - start + 1);
    field->word = to;
    for (const char *from = start; from < reader->p; from++) {
        int is_escaped = *from == '%' && reader->p - from > 2 && hex(from[1]) >= 0 && hex(from[2]) >= 0;
        *to++ = is_escaped ? (char)(hex(from[1]) << 4 | hex(from[2])) : *from;
        if (is_escaped) from += 2;
    }
    field->word_size = (int32_t)(to - field->word);
    return 0;
}

static int read_default(Reader *reader, TextField *field)
{
    int is_given = take(reader, '=');
    field->is_null = (uint8_t)(is_given && take(reader, '~'));
    int is_made = field->is_array || field->kind == KIND_STRUCT;
    EXPECT(!is_made || !is_given || field->is_null, "the default of an array or struct can only be null");
    int is_struct = field->kind == KIND_STRUCT && !field->is_array && !field->is_null;
    EXPECT(!field->is_late || is_struct, "'~' requires a struct whose default is not null");
    return is_given && !field->is_null ? read_word(reader, field) : 0;
}

static int read_type(Reader *reader, TextStruct *structure, TextField *field)
{
    Text *text = reader->text;
    field->is_keyed = (uint8_t)take(reader, '{');
    field->is_array = (uint8_t)(field->is_keyed || take(reader, '['));
    field->structure = -1;
    if (!take(reader, '@')) {
        EXPECT(!field->is_keyed && reader->p < reader->end, "expected a type, and after '{' a struct");
        int kind = kind_of(*reader->p++);
        EXPECT(kind >= 0, "unknown type letter");
        field->kind = (uint8_t)kind;
        return 0;
    }
    const char *called;
    if (name(reader, &called) < 0) return -1;
    int found = 0;
    while (found < text->struct_count && strcmp(text->structs[found].name, called) != 0) found++;
    EXPECT(found < text->struct_count, "a field has a struct that is not defined before it");
    field->kind = KIND_STRUCT;
    field->structure = found;
    if (text->structs[found].depth >= structure->depth) structure->depth = text->structs[found].depth + 1;
    EXPECT(structure->depth <= MAX_DEPTH, "structs are nested more than 100 levels deep");
    return 0;
}

static int read_field(Reader *reader, TextStruct *structure, TextField *field)
{
    if (name(reader, &field->name) < 0) return -1;
    EXPECT(take(reader, '/'), "expected '/' after the name of a field");
    field->is_late = (uint8_t)take(reader, '~');
    if (read_type(reader, structure, field) < 0) return -1;
    field->is_nullable = (uint8_t)take(reader, '?');
    if (read_default(reader, field) < 0) return -1;
    EXPECT(at_end_of_word(reader), "unexpected characters after a field");
    return 0;
}

static int count_words(const Reader *reader)
{
    int count = 0;
    for (const char *p = reader->p; p < reader->end && *p != '\n'; p++) count += *p == ' ';
    return count;
}

static int read_struct(Reader *reader)
{
    TextStruct *structure = &reader->text->structs[reader->text->struct_count];
    structure->depth = 1;
    structure->line = reader->line;
    if (name(reader, &structure->name) < 0) return -1;
    structure->count = count_words(reader);
    EXPECT(structure->count <= MAX_FIELDS, "a struct has more than 512 fields");
    GET(structure->fields, structure->count + 1);
    for (int i = 0; i < structure->count; i++) {
        EXPECT(take(reader, ' '), "expected a field");
        if (read_field(reader, structure, &structure->fields[i]) < 0) return -1;
    }
    reader->text->struct_count++;                            /* after its fields, since a struct cannot contain itself */
    reader->ranges = 0;
    return reader->read == NULL ? 0 : reader->read(reader->context, structure);
}

/* ---- layouts */

static int read_place(Reader *reader, const TextStruct *structure, uint8_t *seen, TextOp *op)
{
    int64_t place;
    if (number(reader, MAX_FIELDS, &place) < 0) return -1;
    EXPECT(place < structure->count, "a layout has a field that its struct does not have");
    EXPECT(!seen[place], "a layout has a field twice");
    seen[place] = 1;
    op->place = (int)place;
    op->layout = -1;
    return 0;
}

static int is_integer(int kind) { return kind >= KIND_INT8 && kind <= KIND_INT64; }

/* Minimum bytes of a value that is not a struct. */
static uint32_t least_of(int kind, int is_compact)
{
    static const uint8_t widths[] = {FIXED_KINDS(WIDTH) 2, 4};
    if (kind > KIND_BYTES) return 1;                         /* a varint */
    return is_compact && kind >= KIND_STRING ? 1 : widths[kind];
}

/* Reads the layout of a struct, or a type that differs by version. */
static int read_wire_type(Reader *reader, TextLayout *layout, const TextField *field, TextOp *op)
{
    int64_t which;
    op->kind = field->kind;
    if (take(reader, '@')) {
        EXPECT(field->kind == KIND_STRUCT, "a layout for a field that is not a struct");
        if (number(reader, INT32_MAX, &which) < 0) return -1;
        EXPECT(which < reader->text->layout_count, "a field has a layout that is not defined before it");
        const TextLayout *inner = &reader->text->layouts[which];
        op->layout = (int)which;
        EXPECT(inner->structure == field->structure, "the layout of another struct");
        layout->is_unsupported |= inner->is_unsupported;
        layout->has_wire_types |= inner->has_wire_types;
        return 0;
    }
    if (take(reader, ':')) {
        int kind = reader->p < reader->end ? kind_of(*reader->p++) : -1;
        EXPECT(kind >= 0 && is_integer(kind) && is_integer(field->kind), "':' requires an integer type and an integer field");
        op->kind = (uint8_t)kind;
        layout->has_wire_types = 1;
        return 0;
    }
    op->is_signed = (uint8_t)take(reader, 'z');
    if (!op->is_signed && !take(reader, 'v')) return 0;
    EXPECT(is_integer(field->kind), "a varint for a field that is not an integer");
    if (number(reader, 64, &which) < 0) return -1;
    EXPECT(which == 16 || which == 32 || which == 64, "a varint must have 16, 32 or 64 bits");
    op->bits = (uint8_t)which;
    op->kind = KIND_VARINT;
    layout->has_wire_types = 1;
    return 0;
}

static int read_op(Reader *reader, TextLayout *layout, uint8_t *seen, TextOp *op)
{
    const TextStruct *structure = &reader->text->structs[layout->structure];
    if (read_place(reader, structure, seen, op) < 0) return -1;
    const TextField *field = &structure->fields[op->place];
    if (read_wire_type(reader, layout, field, op) < 0) return -1;
    EXPECT((field->kind == KIND_STRUCT) == (op->layout >= 0), "a struct field without a layout");
    op->is_compact = (uint8_t)take(reader, 'c');
    op->is_nullable = (uint8_t)take(reader, 'n');
    int is_empty = take(reader, 'e'), has_length = field->is_array || field->kind == KIND_STRING || field->kind == KIND_BYTES;
    EXPECT(at_end_of_word(reader), "unexpected characters after an operation");
    EXPECT(has_length || (!op->is_compact && (!op->is_nullable || field->kind == KIND_STRUCT)), "the field cannot be compact or nullable");
    op->least = op->kind == KIND_STRUCT ? reader->text->layouts[op->layout].least : least_of(op->kind, op->is_compact);
    EXPECT(!is_empty == !(field->is_array && op->least == 0), "flag 'e' contradicts the element size");
    return 0;
}

static uint32_t least_of_op(const TextField *field, const TextOp *op)
{
    if (field->is_array) return op->is_compact ? 1 : 4;
    return field->kind == KIND_STRUCT && op->is_nullable ? 1 : op->least;
}

static int read_tags(Reader *reader, TextLayout *layout, uint8_t *seen)
{
    int64_t tag;
    while (take(reader, ' ')) {
        int is_foreign = take(reader, '^');
        if (number(reader, UINT32_MAX, &tag) < 0) return -1;
        for (int i = 0; is_foreign && i < layout->tag_count; i++) {
            EXPECT(layout->tags[i].tag != tag, "a tag is listed both with a field and with '^'");
        }
        if (is_foreign) {
            layout->foreign[layout->foreign_count++] = (uint32_t)tag;
            EXPECT(at_end_of_word(reader), "unexpected characters after a tag");
            continue;
        }
        EXPECT(take(reader, '='), "expected '=' and a field after a tag");
        TextOp *op = &layout->tags[layout->tag_count++];
        EXPECT(layout->tag_count == 1 || op[-1].tag < tag, "tags must be in ascending order");
        op->tag = (uint32_t)tag;
        if (read_op(reader, layout, seen, op) < 0) return -1;
    }
    layout->is_unsupported |= layout->tag_count > MAX_TAGS;
    return 0;
}

static int read_section(Reader *reader, TextLayout *layout, uint8_t *seen)
{
    int is_optional = take(reader, '&');
    EXPECT(is_optional || take(reader, ';'), "expected a tag section");
    layout->is_unsupported |= is_optional || take(reader, ';');
    layout->has_tags = 1;
    layout->least += 1;
    EXPECT(at_end_of_word(reader), "unexpected characters at the start of a tag section");
    return read_tags(reader, layout, seen);
}

static int read_operations(Reader *reader, TextLayout *layout, uint8_t *seen)
{
    const TextStruct *structure = &reader->text->structs[layout->structure];
    while (take(reader, ' ')) {
        if (reader->p < reader->end && (*reader->p == ';' || *reader->p == '&')) return read_section(reader, layout, seen);
        TextOp *op = &layout->ops[layout->op_count++];
        if ((op->is_absent = (uint8_t)take(reader, '-')) != 0) {
            if (read_place(reader, structure, seen, op) < 0) return -1;
            op->is_refused = (uint8_t)take(reader, '!');
            EXPECT(at_end_of_word(reader), "unexpected characters after an absent field");
            continue;
        }
        if (read_op(reader, layout, seen, op) < 0) return -1;
        layout->least += least_of_op(&structure->fields[op->place], op);
        EXPECT(layout->least <= INT32_MAX / 2, "the minimum size of a struct is 1 GiB or more");
    }
    return 0;
}

/* Reads ranges such as `0-3,5`, kept until the struct of the message is known. */
static int read_versions(Reader *reader)
{
    do {
        int64_t lowest, highest;
        if (number(reader, MAX_VERSION, &lowest) < 0) return -1;
        highest = lowest;
        if (take(reader, '+')) highest = MAX_VERSION;
        else if (take(reader, '-') && number(reader, MAX_VERSION, &highest) < 0) return -1;
        EXPECT(lowest <= highest, "the first version of a range is higher than the last");
        if (reader->ranges == reader->range_capacity) {
            void *old = reader->range;
            reader->range_capacity = reader->range_capacity * 2 + 8;
            GET(reader->range, reader->range_capacity);
            if (old != NULL) memcpy(reader->range, old, reader->ranges * sizeof *reader->range);
        }
        reader->range[reader->ranges].layout = reader->text->layout_count;
        reader->range[reader->ranges].lowest = (int)lowest;
        reader->range[reader->ranges++].highest = (int)highest;
    } while (take(reader, ','));
    EXPECT(at_end_of_word(reader), "unexpected characters after versions");
    return 0;
}

static int read_layout(Reader *reader)
{
    Text *text = reader->text;
    EXPECT(text->struct_count > 0, "a layout before the first struct");
    TextLayout *layout = &text->layouts[text->layout_count];
    int words = count_words(reader) + 1;
    layout->structure = text->struct_count - 1;
    GET(layout->ops, words);
    GET(layout->tags, words);
    GET(layout->foreign, words);
    uint8_t seen[MAX_FIELDS + 1] = {0};
    if (read_versions(reader) < 0 || read_operations(reader, layout, seen) < 0) return -1;
    for (int i = 0; i < text->structs[layout->structure].count; i++) EXPECT(seen[i], "a layout does not list every field");
    text->layout_count++;                                    /* after its ops, since a layout cannot contain itself */
    return 0;
}

static int bind_versions(Reader *reader)
{
    Text *text = reader->text;
    int highest = -1;
    text->lowest = MAX_VERSION;
    EXPECT(reader->ranges > 0, "the message has no versions");
    for (int i = 0; i < reader->ranges; i++) {
        if (reader->range[i].lowest < text->lowest) text->lowest = reader->range[i].lowest;
        if (reader->range[i].highest > highest) highest = reader->range[i].highest;
    }
    text->version_count = highest - text->lowest + 1;
    GET(text->versions, text->version_count);
    for (int i = 0; i < text->version_count; i++) text->versions[i] = -1;
    for (int i = 0; i < reader->ranges; i++) {
        for (int version = reader->range[i].lowest; version <= reader->range[i].highest; version++) {
            EXPECT(text->versions[version - text->lowest] < 0, "a version is listed twice");
            text->versions[version - text->lowest] = reader->range[i].layout;
        }
    }
    return 0;
}

static int read_lines(Reader *reader)
{
    int64_t format, lines = 1;
    for (const char *p = reader->p; p < reader->end; p++) lines += *p == '\n';
    GET(reader->text->structs, lines);
    GET(reader->text->layouts, lines);
    if (number(reader, INT32_MAX, &format) < 0) return -1;
    EXPECT(format == FORMAT, "unsupported plan format");
    while (take(reader, '\n')) {
        reader->line++;
        if (reader->p == reader->end) return bind_versions(reader);
        if ((take(reader, ':') ? read_struct(reader) : read_layout(reader)) < 0) return -1;
    }
    return damaged(reader, "expected a newline");
}

int read_text(Arena *arena, const char *start, int64_t size, Text *text, StructReader read, void *context)
{
    Reader reader = {.p = start, .end = start + size, .line = 1, .arena = arena, .text = text, .read = read, .context = context};
    return read_lines(&reader);
}
