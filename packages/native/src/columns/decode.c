/* Decoder of a binary array of messages to columns: versions by row, bad rows, and the function `decode`. */
#include "builder.h"

#define SAMPLED ((int64_t)1 << 18)           /* minimum data size for sampling the first rows */
#define SAMPLE 32                            /* the sample is the first 1/32 of the rows */

enum { EMIT_DEFAULTS = 1, VALIDATE_UTF8 = 2, IGNORE_REST = 4, PERMISSIVE = 8 };

typedef struct {
    Plan *plan;
    const uint8_t *valid, *data;             /* `data` is the start of the first row */
    int32_t *bounds;                         /* row offsets, a private copy */
    int64_t rows, base;
    int has_prefix, options;
    int64_t version;                         /* version of all rows */
    const void *versions;                    /* int64 versions by row */
    const uint8_t *versions_valid;
    int64_t versions_base;
    const char *trailing, *corrupt;
    const VersionPrograms **programs_by_version;
    uint8_t *is_live;
} Call;

typedef enum { GOOD, BAD, STOPPED } Outcome;

INLINE int is_set(const uint8_t *bits, int64_t i) { return bits == NULL || bits[i >> 3] >> (i & 7) & 1; }

/* Returns the version of a row, or -1 if it has none, and sets `start` to its message. */
static int64_t version_of(const Call *call, int64_t row, const uint8_t **start, const uint8_t *end)
{
    if (call->has_prefix) {
        if (end - *start < 2) return -1;
        *start += 2;
        return (int16_t)get16(*start - 2);
    }
    if (call->versions == NULL) return call->version;
    int64_t at = call->versions_base + row;
    return is_set(call->versions_valid, at) ? int64_in(call->versions, at) : -1;
}

/* Copies and validates the offsets; another thread may write to the original. Returns 0 if they ascend, span less
 * than 2 GiB and stay within `size` bytes of data; otherwise -1, perhaps with an exception. */
static int take_offsets(Call *call, const void *offsets, int is_large, int64_t size)
{
    if (call->rows == 0) return 0;
    if (call->rows < 0 || call->base < 0 || offsets == NULL) return -1;
    if ((call->bounds = get_memory(4 * (call->rows + 1))) == NULL) { PyErr_NoMemory(); return -1; }
    int64_t first = 0, before = 0;
    for (int64_t i = 0; i <= call->rows; i++) {
        int64_t next = is_large ? int64_in(offsets, call->base + i) : int32_in(offsets, call->base + i);
        if (i == 0) first = before = next;
        if (next < before || next < 0 || next - first > INT32_MAX) return -1;
        call->bounds[i] = (int32_t)(next - first);
        before = next;
    }
    if (before > size) return -1;
    call->data += first;
    return 0;
}

/* Sets `used` to 1 for each known version; returns their number, or -1 if one is unsupported. */
static int survey(const Call *call, uint8_t *used)
{
    int count = 0;
    for (int64_t i = 0; i < call->rows; i++) {
        if (!is_set(call->valid, call->base + i)) continue;
        const uint8_t *start = call->data + call->bounds[i];
        int64_t version = version_of(call, i, &start, call->data + call->bounds[i + 1]);
        const TextLayout *layout = layout_of(call->plan, version);
        if (layout != NULL && (layout->is_unsupported || layout->has_wire_types)) return -1;
        if (layout != NULL && !used[version - call->plan->text.lowest]) {
            used[version - call->plan->text.lowest] = 1;
            count++;
        }
        if (call->versions == NULL && !call->has_prefix) break;
    }
    return count;
}

/* Finds the programs of all versions and their columns; -1 without an exception if declined. */
static int prepare(Call *call)
{
    Plan *plan = call->plan;
    int64_t versions = plan->text.version_count;
    uint8_t *used = get_zeros(versions);
    call->programs_by_version = get_zeros(versions * (int64_t)sizeof(VersionPrograms *));
    call->is_live = get_zeros(plan->field_count);
    int count = -1;
    if (used == NULL || call->programs_by_version == NULL || call->is_live == NULL) PyErr_NoMemory();
    else count = survey(call, used);
    int variant = (call->options & EMIT_DEFAULTS ? EMITTING : 0) | (count > 1 ? MIXED : 0);
    for (int64_t i = 0; count > 0 && i < versions; i++) {
        if (!used[i]) continue;
        if ((call->programs_by_version[i] = version_programs(plan, plan->text.lowest + (int)i, variant)) == NULL) { count = -1; break; }
        for (uint32_t k = 0; k < plan->field_count; k++) call->is_live[k] |= call->programs_by_version[i]->is_live[k];
    }
    free_memory(used);
    if (count < 0) return -1;
    call->is_live[0] = 1;
    call->is_live[plan->trailing] = call->trailing != NULL;
    call->is_live[plan->corrupt] = call->corrupt != NULL;
    return 0;
}

/* ---- rows */

/* Stores a row without a message as null. A bad row is not null if its bytes are kept in the column `corrupt`. */
static int put_none(const Call *call, Decoding *decoding, int64_t i, int is_bad)
{
    const Plan *plan = call->plan;
    if (fill_null(decoding, plan->trailing, i) < 0) return -1;
    if (!is_bad || call->corrupt == NULL) {
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
    int64_t version = version_of(call, i, &start, end);
    if (UNLIKELY(layout_of(plan, version) == NULL)) return BAD;
    const VersionPrograms *programs = call->programs_by_version[version - plan->text.lowest];
    if (UNLIKELY(programs == NULL)) { decoding->why = DECLINED; return STOPPED; }   /* another thread changed the versions */
    const Program *program = programs->rows;
    const uint8_t *behind = read_elements(decoding, program->ops, program->count, i, 1, start, end);
    if (UNLIKELY(behind == NULL)) return decoding->why == MALFORMED ? BAD : STOPPED;
    if (UNLIKELY(behind != end) && !(call->options & IGNORE_REST)) return BAD;
    if (call->corrupt != NULL && fill_null(decoding, plan->corrupt, i) < 0) return STOPPED;
    if (call->trailing == NULL) return GOOD;
    int failed = behind == end ? fill_null(decoding, plan->trailing, i)
                               : append(decoding, &decoding->builders[plan->trailing], i, behind, end - behind);
    return failed ? STOPPED : GOOD;
}

/* Allocates memory for all rows, estimated from the first ones. */
static int settle(const Call *call, Decoding *decoding, int64_t done)
{
    int64_t first = call->bounds[0], all = call->bounds[call->rows] - first;
    double part = (double)(call->bounds[done] - first) / (double)all;
    int64_t most = 16 * all + 16 * call->rows * (int64_t)call->plan->domains[0].count + 4096;
    if (part > 0 && make_block(decoding, call->rows, 1.03 / part, most) < 0) return -1;
    return decoding->extents[0].capacity < call->rows ? reserve(decoding, 0, call->rows - done) : 0;
}

/* Reads all rows. Returns GOOD; BAD and the number of the first bad row if bad rows are errors; STOPPED with `why`. */
static Outcome read_rows(const Call *call, Decoding *decoding, int64_t *bad)
{
    int64_t rows = call->rows, all = rows == 0 ? 0 : call->bounds[rows] - call->bounds[0];
    int64_t sample = all > SAMPLED ? (rows + SAMPLE - 1) / SAMPLE : rows;
    if (rows > 0 && reserve(decoding, 0, sample) < 0) return STOPPED;
    decoding->safe = all < SLACK ? NULL : call->data + call->bounds[rows] - SLACK + 1;
    for (int64_t i = 0; i < rows; i++) {
        if (UNLIKELY(i == sample) && settle(call, decoding, i) < 0) return STOPPED;
        decoding->extents[0].length = i + 1;
        Outcome outcome = GOOD;
        int is_null = !is_set(call->valid, call->base + i);
        if (!is_null) outcome = read_row(call, decoding, i);
        if (LIKELY(outcome == GOOD && !is_null)) continue;
        if (outcome == STOPPED) return STOPPED;
        if (outcome == BAD && !(call->options & PERMISSIVE)) { *bad = i; return BAD; }
        if (outcome == BAD) {
            roll_back(decoding, 0, i);
            decoding->extents[0].length = i + 1;
        }
        if (put_none(call, decoding, i, outcome == BAD) < 0) return STOPPED;
    }
    return GOOD;
}

static int has_bad_text(const Decoding *decoding)
{
    const Plan *plan = decoding->plan;
    for (uint32_t i = 0; i < plan->field_count; i++) {
        const ColumnBuilder *builder = &decoding->builders[i];
        if (plan->fields[i].kind != KIND_STRING || !decoding->is_live[i]) continue;
        if (!are_utf8(builder->data, builder->offsets, decoding->extents[plan->fields[i].domain].length)) return 1;
    }
    return 0;
}

/* Validates the texts of each column together, at the end. If one is invalid, or the first bad row is needed, all
 * rows are read again with immediate validation. */
static Outcome read_all(const Call *call, Decoding *decoding, int64_t *bad)
{
    Outcome outcome = read_rows(call, decoding, bad);
    int is_checked = call->options & VALIDATE_UTF8;
    if (!is_checked || outcome == STOPPED || (outcome == GOOD && !has_bad_text(decoding))) return outcome;
    drop_builders(decoding);
    if (start_builders(decoding, call->plan, call->is_live) < 0) {
        *decoding = (Decoding){.why = NO_MEMORY};
        return STOPPED;
    }
    decoding->checks_texts = 1;
    return read_rows(call, decoding, bad);
}

static PyObject *decoded(Call *call)
{
    Decoding decoding;
    int64_t bad = 0;
    if (start_builders(&decoding, call->plan, call->is_live) < 0) return PyErr_NoMemory();
    Outcome outcome;
    Py_BEGIN_ALLOW_THREADS
    outcome = read_all(call, &decoding, &bad);
    Py_END_ALLOW_THREADS
    if (outcome == GOOD) return columns_of(&decoding, call->trailing, call->corrupt);
    if (decoding.plan != NULL) drop_builders(&decoding);
    if (outcome == BAD) return PyLong_FromLongLong(bad);
    if (decoding.why == NO_MEMORY) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

/* ---- the call */

static int take_array(Call *call, PyObject *schemas, PyObject *arrays, int64_t size)
{
    const struct ArrowSchema *schema = PyCapsule_GetPointer(schemas, "arrow_schema");
    const struct ArrowArray *array = PyCapsule_GetPointer(arrays, "arrow_array");
    if (schema == NULL || array == NULL) return -1;
    int is_large = schema->format != NULL && strcmp(schema->format, "Z") == 0;
    if (schema->format == NULL || (!is_large && strcmp(schema->format, "z") != 0) || array->n_buffers != 3) {
        PyErr_SetString(PyExc_TypeError, "expected encoded messages as a binary or large_binary array");
        return -1;
    }
    call->valid = array->null_count == 0 ? NULL : array->buffers[0];
    call->data = array->buffers[2] == NULL ? (const uint8_t *)"" : array->buffers[2];
    call->rows = array->length;
    call->base = array->offset;
    return take_offsets(call, array->buffers[1], is_large, array->buffers[2] == NULL ? 0 : size);
}

static int take_versions(Call *call, PyObject *version)
{
    if (version == Py_None) { call->has_prefix = 1; return 0; }
    if (!PyTuple_Check(version)) {
        call->version = PyLong_AsLongLong(version);
        return call->version == -1 && PyErr_Occurred() ? -1 : 0;
    }
    PyObject *schemas, *arrays;
    if (!PyArg_ParseTuple(version, "OO", &schemas, &arrays)) return -1;
    const struct ArrowSchema *schema = PyCapsule_GetPointer(schemas, "arrow_schema");
    const struct ArrowArray *array = PyCapsule_GetPointer(arrays, "arrow_array");
    if (schema == NULL || array == NULL) return -1;
    if (schema->format == NULL || strcmp(schema->format, "l") != 0 || array->n_buffers != 2 || array->length != call->rows ||
        array->offset < 0) {
        PyErr_SetString(PyExc_TypeError, "expected versions as an int64 array with one element per row");
        return -1;
    }
    static const int64_t none;
    call->versions = array->buffers[1] == NULL ? &none : array->buffers[1];
    call->versions_valid = array->null_count == 0 ? NULL : array->buffers[0];
    call->versions_base = array->offset;
    return 0;
}

PyObject *decode(PyObject *module, PyObject *args)
{
    PyObject *plan, *schemas, *arrays, *version, *result = NULL;
    Py_ssize_t size = PY_SSIZE_T_MAX;        /* size of the data buffer, if known */
    Call call = {0};
    if (!PyArg_ParseTuple(args, "OOOOizz|n", &plan, &schemas, &arrays, &version, &call.options, &call.trailing, &call.corrupt,
                          &size)) {
        return NULL;
    }
    int is_accepted = (call.plan = plan_in(plan)) != NULL && take_array(&call, schemas, arrays, size) == 0;
    if (is_accepted && take_versions(&call, version) == 0 && prepare(&call) == 0) result = decoded(&call);
    else if (!PyErr_Occurred()) result = Py_NewRef(Py_None);
    free_memory(call.bounds);
    free_memory(call.programs_by_version);
    free_memory(call.is_live);
    return result;
}
