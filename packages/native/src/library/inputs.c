/* Input columns, found by name and checked for supported types.
 *
 * The sizes of buffers follow from the lengths of arrays, which pyarrow has validated; that of a text's data from its last
 * offset, which another thread may change meanwhile, so it is compared with the buffer. Children that are too short and
 * missing buffers are declined. Other types are declined; the package converts them first. */
#include "writing.h"

static int width_of(const struct ArrowSchema *schema)
{
    static const char letters[] = "csil";
    const char *found = schema->format[0] == 0 || schema->format[1] != 0 ? NULL : strchr(letters, schema->format[0]);
    return found == NULL ? 0 : 1 << (found - letters);
}

static int is_kind(const struct ArrowSchema *schema, int kind)
{
    static const char *const formats[] = {FIXED_KINDS(ARROW_FORMAT) "u", "z", "+s", "+l"};
    return kind >= KIND_INT8 && kind <= KIND_INT64 ? width_of(schema) > 0 : is_format(schema, formats[kind]);
}

/* Maximum bytes of a value in a message, without the contents of texts and lists. */
static int64_t most_of(int kind)
{
    static const uint8_t most[] = {FIXED_KINDS(WIDTH) 5, 5, 16, 5};
    return most[kind];
}

/* Returns the index of the child with a name; -1 for none, -2 for several. */
static int64_t child_called(const struct ArrowSchema *schema, const char *name)
{
    int64_t found = -1;
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (strcmp(schema->children[i]->name, name) != 0) continue;
        if (found >= 0) return -2;
        found = i;
    }
    return found;
}

/* Python code writes unknown tagged fields, so only columns without any are accepted. */
static int has_unknown_tags(const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    int64_t child = child_called(schema, "_unknown_tagged_fields");
    if (child == -1) return 0;
    if (child < 0) return 1;
    if (is_format(schema->children[child], "n")) return 0;
    const struct ArrowArray *map = array->children[child];
    return map->n_children != 1 || map->children[0]->length > 0;
}

int64_t buffers_of(const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    int64_t count = is_format(schema, "n") ? 1 : array->n_buffers;             /* pyarrow lists one of a null array */
    if (schema->n_children != array->n_children) return INT32_MIN;             /* declined, as no list has this length */
    for (int64_t i = 0; i < array->n_children; i++) count += buffers_of(schema->children[i], array->children[i]);
    return count;
}

static int bind_children(Writing *writing, uint32_t field, const Source *source, Span span)
{
    const struct ArrowSchema *schema = source->schema;
    const struct ArrowArray *array = source->array;
    const Field *fields = writing->plan->fields;
    int64_t next = 0, at = source->place + array->n_buffers;        /* `at` is the first buffer of child `next` */
    if (array->n_children != schema->n_children || has_unknown_tags(schema, array)) return -1;
    for (uint32_t kid = field + 1; kid < field + fields[field].span; kid += fields[kid].span) {
        int64_t child = child_called(schema, fields[kid].name);
        if (child == -1 && !writing->programs->is_live[kid]) { writing->inputs[kid].is_unsent = 1; continue; }
        if (child < 0) return -1;
        if (child < next) { next = 0; at = source->place + array->n_buffers; }
        for (; next < child; next++) at += buffers_of(schema->children[next], array->children[next]);
        if (bind_columns(writing, kid, &(Source){schema->children[child], array->children[child], at}, span) < 0) return -1;
    }
    return 0;
}

/* Returns the number of bytes or elements that the rows use and sets `first` to their start; -1 for invalid offsets. */
static int64_t used_of(const Input *input, Span span, int64_t *first)
{
    *first = 0;
    if (span.used == 0) return 0;
    int64_t at = input->base + span.first, from = int32_in(input->offsets, at), to = int32_in(input->offsets, at + span.used);
    *first = from;
    return from < 0 || to < from ? -1 : to - from;
}

static int bind_list(Writing *writing, uint32_t field, const Source *source, Span span)
{
    if (source->array->n_children != 1 || source->schema->n_children != 1) return -1;
    Source elements = {source->schema->children[0], source->array->children[0], source->place + source->array->n_buffers};
    Span inner = {.count = elements.array->length};
    inner.used = used_of(&writing->inputs[field], span, &inner.first);
    if (inner.used < 0 || inner.first > inner.count - inner.used) return -1;
    return bind_columns(writing, element_of(writing->plan, field), &elements, inner);
}

int bind_columns(Writing *writing, uint32_t field, const Source *source, Span span)
{
    const struct ArrowSchema *schema = source->schema;
    const struct ArrowArray *array = source->array;
    Input *input = &writing->inputs[field];
    int kind = writing->plan->fields[field].kind;
    if (schema->dictionary != NULL || array->offset < 0 || array->length < 0 || array->length - span.start < span.count) return -1;
    *input = (Input){.base = array->offset + span.start, .count = span.count};
    if (is_format(schema, "n")) { input->is_unsent = 1; return 0; }
    int buffers = kind == KIND_STRUCT ? 1 : kind == KIND_LIST || kind < KIND_UUID ? 2 : 3;
    if (!is_kind(schema, kind) || array->n_buffers != buffers) return -1;
    if (array->null_count != 0) input->valid = array->buffers[0];
    if (writing->programs->is_live[field]) writing->estimate += most_of(kind) * span.used;
    if (kind == KIND_STRUCT) {
        span.start = input->base;
        return bind_children(writing, field, source, span);
    }
    if (array->length > 0 && array->buffers[1] == NULL) return -1;
    input->width = (uint8_t)width_of(schema);
    if (kind < KIND_UUID) { input->data = array->buffers[1]; return 0; }
    input->offsets = array->buffers[1];
    if (kind == KIND_LIST) return bind_list(writing, field, source, span);
    input->data = array->buffers[2];
    input->bytes = array->length == 0 ? 0 : int32_in(input->offsets, array->offset + array->length);
    if (writing->sizes != NULL && input->bytes > writing->sizes[source->place + 2]) return -1;
    int64_t first, bytes = used_of(input, span, &first);
    if (bytes < 0 || first > input->bytes - bytes || (input->bytes > 0 && input->data == NULL)) return -1;
    if (writing->programs->is_live[field]) writing->estimate += bytes;
    return 0;
}
