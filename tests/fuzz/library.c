/* Fuzzing of the C library without Python: as a target of libFuzzer, or with -DTHREADS as a program of 8 threads.
 *
 * FUZZ_SEEDS names a file of seeds, each after its size in 4 bytes (big-endian). A seed is a plan text, a zero byte, the
 * version as int16, and a message of it. If the text is empty, records follow. The first byte of an input chooses what
 * is done, the second the plan. */
#include <stdio.h>

#include "../../packages/native/src/library/batches.h"
#include "../../packages/native/src/library/builder.h"
#include "../../packages/native/src/library/writing.h"

#define SEEDS 64

static struct { const uint8_t *data, *message; size_t size; Plan *plan, *with_unknown; } seeds[SEEDS];
static size_t seed_count;
static size_t done[4];                       /* inputs by kind, over all threads */
enum { TEXT, DECODE, RECORDS, HEADERS, KINDS };

static void stop(const char *why) { fprintf(stderr, "%s\n", why); abort(); }

static Plan *plan_of(const uint8_t *text, size_t size, int has_unknown)
{
    Error error;
    Plan *plan = new_plan((const char *)text, (int64_t)size, has_unknown, strtod, &error);
    if (plan == NULL && (error.why != MALFORMED || error.text == NULL)) stop("a plan failed without a reason");
    return plan;
}

/* Decodes rows that end where `data` says, and encodes the columns again. */
static void decode_rows(const Plan *plan, int version, int options, const uint8_t *data, size_t size)
{
    int32_t offsets[4] = {0, (int32_t)(size / 3), (int32_t)(size / 2), (int32_t)size};
    const void *buffers[3] = {NULL, offsets, data};
    struct ArrowArray rows = {.length = 3, .n_buffers = 3, .buffers = buffers}, array, again;
    struct ArrowSchema schema, binary;
    Messages messages = {
        .array = &rows, .size = (int64_t)size, .version = version, .options = options & 15,
        .has_prefix = options >> 4 & 1, .trailing = options & 32 ? "rest" : NULL, .corrupt = options & 64 ? "bad" : NULL,
    };
    int64_t bad = 0;
    if (decode_messages(plan, &messages, &schema, &array, &bad) != SUCCEEDED) return;
    Rows columns = {.schema = &schema, .array = &array, .version = version, .has_prefix = options >> 7 & 1};
    if (encode_messages(plan, &columns, &binary, &again, &bad) == SUCCEEDED) {
        again.release(&again);
        binary.release(&binary);
    }
    schema.release(&schema);
    array.release(&array);
}

static void read_all_records(const uint8_t *data, size_t size)
{
    enum { ROWS = 8, BYTES = 256 };
    if (size == 0) return;
    int64_t sections[SECTION_FIELDS] = {[POS] = 1, [END] = (int64_t)size, [COUNT] = data[0] % (ROWS + 1)}, numbers[2][ROWS];
    int32_t offsets[5][ROWS + 1];
    uint8_t valid[5][ROWS / 8 + 1], bytes[4][BYTES];
    Scan scan = {.data = data, .stop = data + size, .sections = sections, .batches = 1, .rows = sections[COUNT]};
    Binary *columns[] = {&scan.key, &scan.value, &scan.header_key, &scan.header_value};
    for (int i = 0; i < 4; i++) {
        *columns[i] = (Binary){.is_wanted = 1, .bytes = bytes[i], .capacity = BYTES, .offsets = offsets[i], .valid = valid[i], .elements = ROWS};
    }
    scan.offset = numbers[0];
    scan.timestamp = numbers[1];
    scan.lists = offsets[4];
    scan.has_headers = valid[4];
    if (read_records(&scan) == DONE && (scan.key.used > BYTES || scan.row != scan.rows)) stop("records beyond their buffers");
}

static void read_all_headers(const uint8_t *data, size_t size)
{
    int64_t starts[8], fields[HEADER_FIELD_COUNT * 8];
    uint8_t faults[8], agrees[8];
    Walk walk = {
        .log = data, .last = (long long)size, .size = (long long)size, .shortest = SMALLEST_0 - OVERHEAD, .longest = 1 << 20,
        .is_summed = 1, .starts = starts, .faults = faults, .agrees = agrees, .capacity = 8,
    };
    follow(&walk);
    read_batch_headers(data, (int64_t)size, starts, walk.found, fields);
    if (crc32c(data, size) != crc32c_portable(data, size)) stop("checksums differ");
    uint32_t sum = xxh32(data, size);
    if (size == 0 && sum != 0x02CC5D05u) stop("wrong checksum of no bytes");
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *path = getenv("FUZZ_SEEDS");
    FILE *file = path == NULL ? NULL : fopen(path, "rb");
    uint8_t head[4];
    if (file == NULL) stop("FUZZ_SEEDS names no file");
    while (seed_count < SEEDS && fread(head, 1, 4, file) == 4) {
        size_t size = get32(head);
        uint8_t *data = malloc(size);
        if (data == NULL || fread(data, 1, size, file) != size) stop("the file of seeds is truncated");
        size_t text = strlen((char *)data);
        seeds[seed_count].data = data;
        seeds[seed_count].size = size;
        seeds[seed_count].message = data + text + 1;
        seeds[seed_count].plan = plan_of(data, text, 0);
        seeds[seed_count++].with_unknown = plan_of(data, text, 1);
    }
    fclose(file);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4) return 0;
    int kind = data[0] % KINDS, options = data[2], has_unknown = data[3] & 1;
    size_t number = data[1] % seed_count;
    const uint8_t *rest = data + 4;
    size_t left = size - 4;
    if (kind == TEXT) {
        const uint8_t *zero = memchr(rest, 0, left);
        Plan *plan = plan_of(rest, zero == NULL ? left : (size_t)(zero - rest), has_unknown);
        if (plan != NULL && zero != NULL) decode_rows(plan, plan->text.lowest, options, zero + 1, left - (size_t)(zero - rest) - 1);
        if (plan != NULL) free_plan(plan);
    } else if (kind == DECODE && left >= 2) {
        const Plan *plan = has_unknown ? seeds[number].with_unknown : seeds[number].plan;
        if (plan != NULL) decode_rows(plan, (int16_t)get16(rest), options, rest + 2, left - 2);
    } else if (kind == RECORDS) {
        read_all_records(rest, left);
    } else if (kind == HEADERS) {
        read_all_headers(rest, left);
    }
    __atomic_add_fetch(&done[kind], 1, __ATOMIC_RELAXED);
    return 0;
}

#ifdef THREADS
#include <pthread.h>

static pthread_barrier_t start;
static long inputs_per_thread;

static uint64_t next(uint64_t *state) { *state ^= *state << 13; *state ^= *state >> 7; return *state ^= *state << 17; }

/* Runs inputs made from seeds: whole plans, or messages, each with up to three bytes changed. */
static void *run(void *seed)
{
    uint64_t state = 0x9E3779B97F4A7C15u * (uint64_t)(uintptr_t)seed;
    uint8_t *input = malloc(1 << 20);
    pthread_barrier_wait(&start);                            /* all threads create the programs of a plan at once */
    for (long i = 0; i < inputs_per_thread; i++) {
        size_t number = (uint64_t)i < 64 ? (size_t)i % seed_count : next(&state) % seed_count;
        const uint8_t *from = seeds[number].data;
        int kind = i < 64 ? DECODE : next(&state) % 16 == 0 ? TEXT : DECODE + (int)(next(&state) % 3);
        if (kind != TEXT) from = seeds[number].message;
        size_t size = seeds[number].size - (size_t)(from - seeds[number].data);
        if (size > (1 << 20) - 4) size = (1 << 20) - 4;
        uint8_t head[4] = {(uint8_t)kind, (uint8_t)number, (uint8_t)(i < 64 ? 8 : next(&state)), (uint8_t)next(&state)};
        memcpy(input, head, 4);
        memcpy(input + 4, from, size);
        for (uint64_t k = i < 64 ? 0 : next(&state) % 4; k > 0 && size > 0; k--) input[4 + next(&state) % size] = (uint8_t)next(&state);
        LLVMFuzzerTestOneInput(input, size + 4);
    }
    free(input);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[8];
    LLVMFuzzerInitialize(NULL, NULL);
    inputs_per_thread = (argc > 1 ? atol(argv[1]) : 8000) / 8;
    pthread_barrier_init(&start, NULL, 8);
    for (uintptr_t i = 0; i < 8; i++) pthread_create(&threads[i], NULL, run, (void *)(i + 1));
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    printf("%zu plans, %zu columns, %zu records, %zu headers\n", done[TEXT], done[DECODE], done[RECORDS], done[HEADERS]);
    for (size_t i = 0; i < seed_count; i++) {
        if (seeds[i].plan != NULL) free_plan(seeds[i].plan);
        if (seeds[i].with_unknown != NULL) free_plan(seeds[i].with_unknown);
        free((void *)seeds[i].data);
    }
    return 0;
}
#endif
