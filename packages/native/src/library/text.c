/* Parser of plan texts, which plan/text.py of the generator writes; docs/adr/0007 has the grammar.
 *
 * Invalid texts cannot cause invalid memory accesses: a layout refers only to earlier layouts and structs, each field
 * is handled exactly once, and numbers are bounded. */
#include "library.h"

#include <errno.h>

typedef struct { int layout, lowest, highest; } Range;       /* versions of a layout */

typedef struct {
    const char *p, *end;
    int line, ranges;
    Arena *arena;
    ToDouble to_double;
    Text *text;
    Range *range;                                            /* of the current struct */
} Reader;

#define EXPECT(condition, what) do { if (!(condition)) give_up(reader->arena, MALFORMED, reader->line, (what)); } while (0)
#define GET(count, type) get_from(reader->arena, (int64_t)(count) * (int64_t)sizeof(type))

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

static int64_t number(Reader *reader, int64_t highest)
{
    const char *start = reader->p;
    int64_t value = 0;
    for (; reader->p < reader->end && *reader->p >= '0' && *reader->p <= '9'; reader->p++) {
        value = value * 10 + (*reader->p - '0');
        EXPECT(value <= highest, "a number is too large");
    }
    EXPECT(reader->p > start, "expected a number");
    return value;
}

static int is_name(char c)
{
    int is_ascii = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    return is_ascii || (unsigned char)c > 127;           /* letters beyond ASCII */
}

#define LONGEST_NAME 1000

static const char *name(Reader *reader)
{
    const char *start = reader->p;
    while (reader->p < reader->end && is_name(*reader->p)) reader->p++;
    int64_t size = reader->p - start;
    EXPECT(size > 0 && size <= LONGEST_NAME, "expected a name of 1 to 1000 bytes");
    return memcpy(GET(size + 1, char), start, (size_t)size);
}

static int kind_of(char letter)
{
    static const char letters[] = {FIXED_KINDS(LETTER) 's', 'y', 'r', 0};
    const char *found = letter == 0 ? NULL : strchr(letters, letter);
    return found == NULL ? -1 : *found == 'r' ? KIND_BYTES : (int)(found - letters);
}

/* ---- structs */

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads an unescaped word, followed by a null byte, which it may also contain. */
static void read_word(Reader *reader, TextField *field)
{
    const char *start = reader->p;
    while (!at_end_of_word(reader)) reader->p++;
    char *to = GET(reader->p - start + 1, char);
    field->word = to;
    for (const char *from = start; from < reader->p; from++) {
        int is_escaped = *from == '%' && reader->p - from > 2 && hex(from[1]) >= 0 && hex(from[2]) >= 0;
        *to++ = is_escaped ? (char)(hex(from[1]) << 4 | hex(from[2])) : *from;
        if (is_escaped) from += 2;
    }
    field->word_size = (int32_t)(to - field->word);
}

/* Converts the word of a default to the type of its field; 0 if that fails. */
static int convert(const Reader *reader, TextField *field)
{
    const char *word = field->word;
    char *end = (char *)word;
    uint8_t bytes[16] = {0};
    double value;
    switch (field->kind) {
    case KIND_STRING: return 1;
    case KIND_BYTES: return 0;
    case KIND_FLOAT64:
        value = reader->to_double(word, &end);
        memcpy(&field->number, &value, 8);
        break;
    case KIND_UUID:
        if (field->word_size != 32) return 0;
        for (int i = 0; i < 32; i++) {
            if (hex(word[i]) < 0) return 0;
            bytes[i / 2] = (uint8_t)(bytes[i / 2] << 4 | hex(word[i]));
        }
        memcpy((char *)word, bytes, 16);
        return 1;
    default:
        errno = 0;
        field->number = strtoll(word, &end, 10);
        if (errno == ERANGE) return 0;
    }
    return end > word && end == word + field->word_size && (field->kind != KIND_BOOL || field->number == 1);
}

static void read_default(Reader *reader, TextField *field)
{
    int is_given = take(reader, '=');
    field->is_null = (uint8_t)(is_given && take(reader, '~'));
    int is_made = field->is_array || field->kind == KIND_STRUCT;
    EXPECT(!is_made || !is_given || field->is_null, "the default of an array or struct can only be null");
    int is_struct = field->kind == KIND_STRUCT && !field->is_array && !field->is_null;
    EXPECT(!field->is_late || is_struct, "'~' requires a struct whose default is not null");
    static const char zeros[16];
    field->word = zeros;                                     /* the uuid of zeros, or an empty string */
    if (!is_given || field->is_null) return;
    read_word(reader, field);
    EXPECT(convert(reader, field), "a default does not have the type of its field");
}

static void read_type(Reader *reader, TextStruct *structure, TextField *field)
{
    Text *text = reader->text;
    field->is_keyed = (uint8_t)take(reader, '{');
    field->is_array = (uint8_t)(field->is_keyed || take(reader, '['));
    if (!take(reader, '@')) {
        EXPECT(!field->is_keyed && reader->p < reader->end, "expected a type, and after '{' a struct");
        int kind = kind_of(*reader->p++);
        EXPECT(kind >= 0, "unknown type letter");
        field->kind = (uint8_t)kind;
        return;
    }
    const char *called = name(reader);
    int found = 0;
    while (found < text->struct_count && strcmp(text->structs[found].name, called) != 0) found++;
    EXPECT(found < text->struct_count, "a field has a struct that is not defined before it");
    field->kind = KIND_STRUCT;
    field->structure = &text->structs[found];
    if (field->structure->depth >= structure->depth) structure->depth = field->structure->depth + 1;
    EXPECT(structure->depth <= MAX_DEPTH, "structs are nested more than 100 levels deep");
}

static void read_field(Reader *reader, TextStruct *structure, TextField *field)
{
    field->name = name(reader);
    EXPECT(take(reader, '/'), "expected '/' after the name of a field");
    field->is_late = (uint8_t)take(reader, '~');
    read_type(reader, structure, field);
    field->is_nullable = (uint8_t)take(reader, '?');
    read_default(reader, field);
    EXPECT(at_end_of_word(reader), "unexpected characters after a field");
}

static int count_words(const Reader *reader)
{
    int count = 0;
    for (const char *p = reader->p; p < reader->end && *p != '\n'; p++) count += *p == ' ';
    return count;
}

static void read_struct(Reader *reader)
{
    TextStruct *structure = &reader->text->structs[reader->text->struct_count];
    structure->depth = 1;
    structure->line = reader->line;
    structure->name = name(reader);
    structure->count = count_words(reader);
    EXPECT(structure->count <= MAX_FIELDS, "a struct has more than 512 fields");
    structure->fields = GET(structure->count + 1, TextField);
    for (int i = 0; i < structure->count; i++) {
        EXPECT(take(reader, ' '), "expected a field");
        read_field(reader, structure, &structure->fields[i]);
    }
    reader->text->struct_count++;                            /* after its fields, since a struct cannot contain itself */
    reader->ranges = 0;
}

/* ---- layouts */

/* Reads the number of a field, of which `seen` has not had any before: so each field of a layout is handled once. */
static void read_place(Reader *reader, const TextLayout *layout, uint8_t *seen, TextOp *op)
{
    int64_t place = number(reader, MAX_FIELDS);
    EXPECT(place < layout->structure->count, "a layout has a field that its struct does not have");
    EXPECT(!seen[place], "a layout has a field twice");
    seen[place] = 1;
    op->field = &layout->structure->fields[place];
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
static void read_wire_type(Reader *reader, TextLayout *layout, TextOp *op)
{
    const TextField *field = op->field;
    int64_t which;
    op->element = field->kind;
    if (take(reader, '@')) {
        EXPECT(field->kind == KIND_STRUCT, "a layout for a field that is not a struct");
        which = number(reader, INT32_MAX);
        EXPECT(which < reader->text->layout_count, "a field has a layout that is not defined before it");
        const TextLayout *inner = op->layout = &reader->text->layouts[which];
        EXPECT(inner->structure == field->structure, "the layout of another struct");
        layout->is_unsupported |= inner->is_unsupported;
        layout->has_wire_types |= inner->has_wire_types;
        return;
    }
    if (take(reader, ':')) {
        int kind = reader->p < reader->end ? kind_of(*reader->p++) : -1;
        EXPECT(kind >= 0 && is_integer(kind) && is_integer(field->kind), "':' requires an integer type and an integer field");
        op->element = (uint8_t)kind;
        layout->has_wire_types = 1;
        return;
    }
    op->is_signed = (uint8_t)take(reader, 'z');
    if (!op->is_signed && !take(reader, 'v')) return;
    EXPECT(is_integer(field->kind), "a varint for a field that is not an integer");
    which = number(reader, 64);
    EXPECT(which == 16 || which == 32 || which == 64, "a varint must have 16, 32 or 64 bits");
    op->bits = (uint8_t)which;
    op->element = KIND_VARINT;
    layout->has_wire_types = 1;
}

static void read_op(Reader *reader, TextLayout *layout, uint8_t *seen, TextOp *op)
{
    read_place(reader, layout, seen, op);
    read_wire_type(reader, layout, op);
    const TextField *field = op->field;
    op->kind = field->is_array ? KIND_LIST : op->element;
    EXPECT((field->kind == KIND_STRUCT) == (op->layout != NULL), "a struct field without a layout");
    op->is_compact = (uint8_t)take(reader, 'c');
    op->is_nullable = (uint8_t)take(reader, 'n');
    int is_empty = take(reader, 'e'), has_length = field->is_array || field->kind == KIND_STRING || field->kind == KIND_BYTES;
    EXPECT(at_end_of_word(reader), "unexpected characters after an operation");
    EXPECT(has_length || (!op->is_compact && (!op->is_nullable || field->kind == KIND_STRUCT)), "the field cannot be compact or nullable");
    op->least = op->layout != NULL ? op->layout->least : least_of(op->element, op->is_compact);
    EXPECT(!is_empty == !(field->is_array && op->least == 0), "flag 'e' contradicts the element size");
}

static void read_tags(Reader *reader, TextLayout *layout, uint8_t *seen)
{
    layout->is_unsupported |= *reader->p++ == '&' || take(reader, ';');
    layout->has_tags = 1;
    layout->tags = layout->ops + layout->op_count;     /* directly: the core iterates over both at once */
    layout->least += 1;
    EXPECT(at_end_of_word(reader), "unexpected characters at the start of a tag section");
    while (take(reader, ' ')) {
        int is_foreign = take(reader, '^');
        int64_t tag = number(reader, UINT32_MAX);
        if (is_foreign) {
            for (int i = 0; i < layout->tag_count; i++) {
                EXPECT(layout->tags[i].tag != tag, "a tag is listed both with a field and with '^'");
            }
            layout->foreign[layout->foreign_count++] = (uint32_t)tag;
            EXPECT(at_end_of_word(reader), "unexpected characters after a tag");
            continue;
        }
        EXPECT(take(reader, '='), "expected '=' and a field after a tag");
        TextOp *op = &layout->tags[layout->tag_count++];
        EXPECT(layout->tag_count == 1 || op[-1].tag < tag, "tags must be in ascending order");
        op->tag = (uint32_t)tag;
        op->is_tagged = 1;
        read_op(reader, layout, seen, op);
    }
    layout->is_unsupported |= layout->tag_count > MAX_TAGS;
}

static void read_operations(Reader *reader, TextLayout *layout, uint8_t *seen)
{
    while (take(reader, ' ')) {
        if (reader->p < reader->end && (*reader->p == ';' || *reader->p == '&')) {
            read_tags(reader, layout, seen);
            return;
        }
        if (take(reader, '-')) {
            layout->absent_count++;
            read_place(reader, layout, seen, --layout->absent);
            layout->absent->is_refused = (uint8_t)take(reader, '!');
            EXPECT(at_end_of_word(reader), "unexpected characters after an absent field");
            continue;
        }
        TextOp *op = &layout->ops[layout->op_count++];
        read_op(reader, layout, seen, op);
        int is_one = op->kind == KIND_STRUCT && op->is_nullable;             /* at least, for null */
        layout->least += op->kind == KIND_LIST ? (op->is_compact ? 1 : 4) : is_one ? 1 : op->least;
        EXPECT(layout->least <= INT32_MAX / 2, "the minimum size of a struct is 1 GiB or more");
    }
}

/* Reads ranges such as `0-3,5`, kept until the struct of the message is known. */
static void read_versions(Reader *reader)
{
    do {
        int64_t lowest = number(reader, MAX_VERSION), highest = lowest;
        if (take(reader, '+')) highest = MAX_VERSION;
        else if (take(reader, '-')) highest = number(reader, MAX_VERSION);
        EXPECT(lowest <= highest, "the first version of a range is higher than the last");
        reader->range[reader->ranges++] = (Range){reader->text->layout_count, (int)lowest, (int)highest};
    } while (take(reader, ','));
    EXPECT(at_end_of_word(reader), "unexpected characters after versions");
}

static void read_layout(Reader *reader)
{
    Text *text = reader->text;
    EXPECT(text->struct_count > 0, "a layout before the first struct");
    TextLayout *layout = &text->layouts[text->layout_count];
    int words = count_words(reader) + 1;
    layout->structure = &text->structs[text->struct_count - 1];
    layout->ops = GET(words, TextOp);                        /* each takes a word, so that they cannot overflow */
    layout->absent = layout->ops + words;                    /* which grows downwards */
    layout->foreign = GET(words, uint32_t);
    uint8_t seen[MAX_FIELDS + 1] = {0};
    read_versions(reader);
    read_operations(reader, layout, seen);
    for (int i = 0; i < layout->structure->count; i++) EXPECT(seen[i], "a layout does not list every field");
    text->layout_count++;                                    /* after its ops, since a layout cannot contain itself */
}

static void bind_versions(Reader *reader)
{
    Text *text = reader->text;
    int highest = -1;
    text->lowest = MAX_VERSION;
    EXPECT(reader->ranges > 0, "the message has no versions");
    for (const Range *range = reader->range; range < reader->range + reader->ranges; range++) {
        if (range->lowest < text->lowest) text->lowest = range->lowest;
        if (range->highest > highest) highest = range->highest;
    }
    text->version_count = highest - text->lowest + 1;
    text->versions = GET(text->version_count, int);
    for (int i = 0; i < text->version_count; i++) text->versions[i] = -1;
    for (const Range *range = reader->range; range < reader->range + reader->ranges; range++) {
        for (int version = range->lowest; version <= range->highest; version++) {
            EXPECT(text->versions[version - text->lowest] < 0, "a version is listed twice");
            text->versions[version - text->lowest] = range->layout;
        }
    }
}

static void read_lines(Reader *reader)
{
    int64_t lines = 1, structs = 0, commas = 0;
    EXPECT(reader->end - reader->p <= INT32_MAX, "the text has 2 GiB or more");    /* so that counts of words are ints */
    for (const char *p = reader->p; p < reader->end; p++) {
        lines += *p == '\n';
        structs += *p == '\n' && p + 1 < reader->end && p[1] == ':';
        commas += *p == ',';
    }
    reader->text->structs = GET(structs, TextStruct);
    reader->text->layouts = GET(lines - structs, TextLayout);
    reader->range = GET(lines + commas, Range);              /* one more for each comma */
    EXPECT(number(reader, INT32_MAX) == FORMAT, "unsupported plan format");
    while (take(reader, '\n')) {
        reader->line++;
        if (reader->p == reader->end) {
            bind_versions(reader);
            return;
        }
        if (take(reader, ':')) read_struct(reader);
        else read_layout(reader);
    }
    EXPECT(0, "expected a newline");
}

int read_text(Arena *arena, const char *start, int64_t size, ToDouble to_double, Text *text)
{
    Reader reader = {.p = start, .end = start + size, .line = 1, .arena = arena, .to_double = to_double, .text = text};
    jmp_buf stop;
    arena->stop = &stop;
    if (setjmp(stop) == 0) read_lines(&reader);
    arena->stop = NULL;
    return arena->error.why == SUCCEEDED ? 0 : -1;
}
