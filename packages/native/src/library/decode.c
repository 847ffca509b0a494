/* Decoder of a binary array of messages to columns: versions by row, bad rows, and validation of texts. */
#include "builder.h"

#define SAMPLED ((int64_t)1 << 18)           /* minimum data size for sampling the first rows */
#define SAMPLE 32                            /* the sample is the first 1/32 of the rows */

typedef struct {
    const Plan *plan;
    const Messages *messages;
    const uint8_t *valid, *data;             /* `data` is the start of the first row */
    int32_t *bounds;                         /* row offsets, a private copy */
    int64_t rows, base;
    const Programs **programs;               /* by layout; NULL if not used */
    uint8_t *is_live;
} Call;

/* Returns the version of a row, or -1 if it has none, and sets `start` to its message. */
static int64_t version_of(const Call *call, int64_t row, const uint8_t **start, const uint8_t *end)
{
    if (call->messages->has_prefix) {
        if (end - *start < 2) return -1;
        *start += 2;
        return (int16_t)get16(*start - 2);
    }
    const struct ArrowArray *versions = call->messages->versions;
    if (versions == NULL) return call->messages->version;
    int64_t at = versions->offset + row;
    if (versions->buffers[1] == NULL || (versions->null_count != 0 && !is_set(versions->buffers[0], at))) return -1;
    return int64_in(versions->buffers[1], at);
}

/* Copies and validates the offsets, because another thread may write to the original. They must ascend, span less than
 * 2 GiB, and stay within the data; so each row is inside it. */
static Outcome take_offsets(Call *call)
{
    const struct ArrowArray *array = call->messages->array;
    const void *offsets = array->buffers[1];
    call->valid = array->null_count == 0 ? NULL : array->buffers[0];
    call->data = array->buffers[2] == NULL ? (const uint8_t *)"" : array->buffers[2];
    call->rows = array->length;
    call->base = array->offset;
    if (call->rows == 0) return SUCCEEDED;
    if (call->rows < 0 || call->base < 0 || offsets == NULL) return DECLINED;
    if ((call->bounds = get_memory(4 * (call->rows + 1))) == NULL) return NO_MEMORY;
    int64_t first = 0, before = 0;
    for (int64_t i = 0; i <= call->rows; i++) {
        int64_t next = call->messages->is_large ? int64_in(offsets, call->base + i) : int32_in(offsets, call->base + i);
        if (i == 0) first = before = next;
        if (next < before || next < 0 || next - first > INT32_MAX) return DECLINED;
        call->bounds[i] = (int32_t)(next - first);
        before = next;
    }
    if (before > (array->buffers[2] == NULL ? 0 : call->messages->size)) return DECLINED;
    call->data += first;
    return SUCCEEDED;
}

/* Sets `used` to 1 for the layout of each known version; returns their number, or -1 if one is not supported. */
static int survey(const Call *call, uint8_t *used)
{
    int count = 0;
    for (int64_t i = 0; i < call->rows; i++) {
        if (!is_set(call->valid, call->base + i)) continue;
        const uint8_t *start = call->data + call->bounds[i];
        int layout = layout_of(&call->plan->text, version_of(call, i, &start, call->data + call->bounds[i + 1]));
        if (layout >= 0 && !is_supported(call->plan, layout)) return -1;
        if (layout >= 0) { count += !used[layout]; used[layout] = 1; }
        if (call->messages->versions == NULL && !call->messages->has_prefix) break;
    }
    return count;
}

/* Finds the programs of all layouts, and their columns. */
static Outcome prepare(Call *call, uint8_t *used)
{
    const Plan *plan = call->plan;
    int count = survey(call, used);
    int variant = (call->messages->options & EMIT_DEFAULTS ? EMITTING : 0) | (count > 1 ? MIXED : 0);
    if (count < 0) return DECLINED;
    for (int i = 0; i < plan->text.layout_count; i++) {
        if (!used[i]) continue;
        if ((call->programs[i] = programs_of(plan, i, variant)) == NULL) return NO_MEMORY;
        for (uint32_t k = 0; k < plan->field_count; k++) call->is_live[k] |= call->programs[i]->is_live[k];
    }
    call->is_live[0] = 1;
    call->is_live[plan->trailing] = call->messages->trailing != NULL;
    call->is_live[plan->corrupt] = call->messages->corrupt != NULL;
    return SUCCEEDED;
}

/* Stores a row without a message as null. A bad row is not null if its bytes are kept in the column `corrupt`. */
static int put_none(const Call *call, Decoding *decoding, int64_t i, int is_bad)
{
    const Plan *plan = call->plan;
    if (fill_null(decoding, plan->trailing, i) < 0) return -1;
    if (!is_bad || call->messages->corrupt == NULL) {
        return fill_null(decoding, 0, i) < 0 || fill_null(decoding, plan->corrupt, i) < 0 ? -1 : 0;
    }
    for (uint32_t kid = 1; kid < plan->fields[0].span; kid += plan->fields[kid].span) {
        if (fill_null(decoding, kid, i) < 0) return -1;
    }
    return append(decoding, &decoding->builders[plan->corrupt], i, call->data + call->bounds[i], call->bounds[i + 1] - call->bounds[i]);
}

static Outcome read_row(const Call *call, Decoding *decoding, int64_t i)
{
    const Plan *plan = call->plan;
    const uint8_t *start = call->data + call->bounds[i], *end = call->data + call->bounds[i + 1];
    int layout = layout_of(&plan->text, version_of(call, i, &start, end));
    if (UNLIKELY(layout < 0)) return MALFORMED;
    const Programs *programs = call->programs[layout];
    if (UNLIKELY(programs == NULL)) return DECLINED;   /* another thread changed the versions */
    const Program *program = programs->rows;
    const uint8_t *behind = read_elements(decoding, program->ops, program->count, i, 1, start, end);
    if (UNLIKELY(behind == NULL)) return decoding->why;
    if (UNLIKELY(behind != end) && !(call->messages->options & IGNORE_REST)) return MALFORMED;
    if (call->messages->corrupt != NULL && fill_null(decoding, plan->corrupt, i) < 0) return decoding->why;
    if (call->messages->trailing == NULL) return SUCCEEDED;
    int failed = behind == end ? fill_null(decoding, plan->trailing, i)
                               : append(decoding, &decoding->builders[plan->trailing], i, behind, end - behind);
    return failed ? decoding->why : SUCCEEDED;
}

/* Allocates memory for all rows, estimated from the first ones. */
static int settle(const Call *call, Decoding *decoding, int64_t done)
{
    int64_t first = call->bounds[0], all = call->bounds[call->rows] - first;
    double part = (double)(call->bounds[done] - first) / (double)all;
    int64_t most = 16 * all + 16 * call->rows * (int64_t)call->plan->domains[0].count + 4096;
    if (part > 0) make_block(decoding, call->rows, 1.03 / part, most);
    return decoding->extents[0].capacity < call->rows ? reserve(decoding, 0, call->rows - done) : 0;
}

/* Reads all rows. Returns MALFORMED and the number of the first bad row if bad rows are errors. */
static Outcome read_rows(const Call *call, Decoding *decoding, int64_t *bad)
{
    int64_t rows = call->rows, all = rows == 0 ? 0 : call->bounds[rows] - call->bounds[0];
    int64_t sample = all > SAMPLED ? (rows + SAMPLE - 1) / SAMPLE : rows;
    if (rows > 0 && reserve(decoding, 0, sample) < 0) return decoding->why;
    decoding->safe = all < SLACK ? NULL : call->data + call->bounds[rows] - SLACK + 1;
    for (int64_t i = 0; i < rows; i++) {
        if (UNLIKELY(i == sample) && settle(call, decoding, i) < 0) return decoding->why;
        decoding->extents[0].length = i + 1;
        int is_null = !is_set(call->valid, call->base + i);
        Outcome outcome = is_null ? SUCCEEDED : read_row(call, decoding, i);
        if (LIKELY(outcome == SUCCEEDED && !is_null)) continue;
        if (outcome == MALFORMED) {
            if (!(call->messages->options & PERMISSIVE)) { *bad = i; return MALFORMED; }
            roll_back(decoding, 0, i);
            decoding->extents[0].length = i + 1;
        } else if (outcome != SUCCEEDED) {
            return outcome;
        }
        if (put_none(call, decoding, i, outcome == MALFORMED) < 0) return decoding->why;
    }
    return SUCCEEDED;
}

static int has_bad_text(const Decoding *decoding)
{
    const Plan *plan = decoding->plan;
    for (uint32_t i = 0; i < plan->field_count; i++) {
        const ColumnBuilder *builder = &decoding->builders[i];
        if (plan->fields[i].kind != KIND_STRING || !decoding->is_live[i]) continue;
        if (!are_utf8(builder->data, builder->used, builder->offsets, decoding->extents[plan->fields[i].domain].length)) return 1;
    }
    return 0;
}

/* Validates the texts of each column together, at the end. If one is invalid, or the first bad row is needed, all
 * rows are read again with immediate validation. */
static Outcome decode_rows(const Call *call, struct ArrowSchema *schema, struct ArrowArray *array, int64_t *bad)
{
    Decoding decoding;
    if (start_builders(&decoding, call->plan, call->is_live) < 0) return NO_MEMORY;
    Outcome outcome = read_rows(call, &decoding, bad);
    int is_checked = outcome == SUCCEEDED || outcome == MALFORMED ? call->messages->options & VALIDATE_UTF8 : 0;
    if (is_checked && (outcome == MALFORMED || has_bad_text(&decoding))) {
        drop_builders(&decoding);
        if (start_builders(&decoding, call->plan, call->is_live) < 0) return NO_MEMORY;
        decoding.checks_texts = 1;
        outcome = read_rows(call, &decoding, bad);
    }
    if (outcome == SUCCEEDED) return export_columns(&decoding, call->messages->trailing, call->messages->corrupt, schema, array);
    drop_builders(&decoding);
    return outcome;
}

Outcome decode_messages(const Plan *plan, const Messages *messages, struct ArrowSchema *schema, struct ArrowArray *array,
                        int64_t *bad)
{
    Call call = {.plan = plan, .messages = messages};
    int64_t layouts = plan->text.layout_count;
    char *memory = get_zeros(layouts * (int64_t)sizeof(Programs *) + layouts + plan->field_count);
    Outcome outcome = memory == NULL ? NO_MEMORY : take_offsets(&call);
    if (outcome == SUCCEEDED) {
        call.programs = (const Programs **)memory;
        call.is_live = (uint8_t *)(call.programs + layouts) + layouts;
        outcome = prepare(&call, call.is_live - layouts);
    }
    if (outcome == SUCCEEDED) outcome = decode_rows(&call, schema, array, bad);
    free_memory(call.bounds);
    free_memory(memory);
    return outcome;
}
