/* The columns that a caller has, found by their names and looked at: whether they are of the types that are written.
 *
 * Nothing of an input is believed but the lengths of its buffers, which its owner has checked: children must be as long
 * as their parents need, and buffers have to be there. Other types are declined; the package makes these plain first.
 */
#include "writing.h"

static int is_format(const struct ArrowSchema *schema, const char *format) { return strcmp(schema->format, format) == 0; }

static int width_of(const struct ArrowSchema *schema)
{
    static const char letters[] = "csil";
    const char *found = schema->format[0] == 0 || schema->format[1] != 0 ? NULL : strchr(letters, schema->format[0]);
    return found == NULL ? 0 : 1 << (found - letters);
}

static int is_kind(const struct ArrowSchema *schema, int kind)
{
    static const char *const formats[] = {"b", "", "", "", "", "", "", "g", "u", "u", "z", "+s", "+l"};
    return kind >= INT8 && kind <= INT64 ? width_of(schema) > 0 : is_format(schema, formats[kind]);
}

/* Bytes of a message that each value takes at most, but those of a text or of elements. */
static int64_t most_of(int kind)
{
    static const uint8_t most[] = {1, 1, 2, 2, 4, 4, 8, 8, 16, 5, 5, 16, 5};
    return most[kind];
}

/* Which child has a name: the one at the same place, else whichever; -1 for none, -2 for several. */
static int64_t child_called(const struct ArrowSchema *schema, const char *name, int64_t place)
{
    if (place >= 0 && place < schema->n_children && strcmp(schema->children[place]->name, name) == 0) {
        for (int64_t i = 0; i < schema->n_children; i++) if (i != place && strcmp(schema->children[i]->name, name) == 0) return -2;
        return place;
    }
    int64_t found = -1;
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (strcmp(schema->children[i]->name, name) != 0) continue;
        if (found >= 0) return -2;
        found = i;
    }
    return found;
}

/* Unknown tagged fields are written by the package: only a column without any is taken. */
static int has_unknown_tags(const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    int64_t child = child_called(schema, "_unknown_tagged_fields", schema->n_children - 1);
    if (child == -1) return 0;
    if (child < 0) return 1;
    if (is_format(schema->children[child], "n")) return 0;
    const struct ArrowArray *map = array->children[child];
    return map->n_children != 1 || map->children[0]->length > 0;
}

static int bind_children(Writing *writing, uint32_t field, const struct ArrowSchema *schema, const struct ArrowArray *array,
                         int64_t start, int64_t count, int64_t used)
{
    const Field *fields = writing->plan->fields;
    int64_t place = 0;
    if (array->n_children != schema->n_children || has_unknown_tags(schema, array)) return -1;
    for (uint32_t kid = field + 1; kid < field + fields[field].span; kid += fields[kid].span, place++) {
        int64_t child = child_called(schema, fields[kid].name, place);
        if (child == -1 && !writing->way->is_live[kid]) { writing->inputs[kid].is_unsent = 1; continue; }
        if (child < 0) return -1;
        if (bind_columns(writing, kid, schema->children[child], array->children[child], start, count, used) < 0) return -1;
    }
    return 0;
}

static int bind_list(Writing *writing, uint32_t field, const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    Input *input = &writing->inputs[field];
    if (array->n_children != 1 || schema->n_children != 1) return -1;
    int64_t length = array->children[0]->length, used = 0;
    if (input->count > 0) used = (int64_t)input->offsets[input->base + input->count] - input->offsets[input->base];
    if (used < 0 || used > length) return -1;
    return bind_columns(writing, element_of(writing->plan, field), schema->children[0], array->children[0], 0, length, used);
}

int bind_columns(Writing *writing, uint32_t field, const struct ArrowSchema *schema, const struct ArrowArray *array,
                 int64_t start, int64_t count, int64_t used)
{
    Input *input = &writing->inputs[field];
    int kind = writing->plan->fields[field].kind;
    if (array->length < start + count || schema->dictionary != NULL || array->offset < 0) return -1;
    *input = (Input){.base = array->offset + start, .count = count};
    if (is_format(schema, "n")) { input->is_unsent = 1; return 0; }
    int buffers = kind == STRUCT ? 1 : kind == LIST || kind < UUID ? 2 : 3;
    if (!is_kind(schema, kind) || array->n_buffers != buffers) return -1;
    if (array->null_count != 0) input->valid = array->buffers[0];
    if (writing->way->is_live[field]) writing->estimate += most_of(kind) * used;
    if (kind == STRUCT) return bind_children(writing, field, schema, array, input->base, count, used);
    if (count > 0 && array->buffers[1] == NULL) return -1;
    input->width = (uint8_t)width_of(schema);
    if (kind < UUID) { input->data = array->buffers[1]; return 0; }
    input->offsets = array->buffers[1];
    if (kind == LIST) return bind_list(writing, field, schema, array);
    input->data = array->buffers[2];
    input->bytes = array->length == 0 ? 0 : input->offsets[array->offset + array->length];
    int64_t last = count == 0 ? 0 : input->offsets[input->base + count];
    int64_t bytes = last - (count == 0 ? 0 : input->offsets[input->base]);
    if (bytes < 0 || last > input->bytes || (input->bytes > 0 && input->data == NULL)) return -1;
    if (writing->way->is_live[field]) writing->estimate += bytes;
    return 0;
}
