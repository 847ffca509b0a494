/* CRC-32C, the checksum of record batches (RFC 3720, appendix B.4): by a processor instruction, or else eight bytes
 * at a time by tables.
 *
 * The instruction has a latency of three cycles, so three stretches are summed in parallel and combined: appending
 * zeros is linear over GF(2), and the effect of a fixed number of zeros is looked up by byte. */
#include "batches.h"

#define POLYNOMIAL 0x82F63B78u /* reflected */

static uint32_t by_byte[8][256]; /* [k][b]: CRC, from 0, of byte b followed by k zero bytes */

static uint32_t by_tables(uint32_t sum, const uint8_t *p, size_t size)
{
    for (; size >= 8; p += 8, size -= 8) {
        sum ^= (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
        sum = by_byte[7][sum & 255] ^ by_byte[6][sum >> 8 & 255] ^ by_byte[5][sum >> 16 & 255] ^ by_byte[4][sum >> 24] ^
              by_byte[3][p[4]] ^ by_byte[2][p[5]] ^ by_byte[1][p[6]] ^ by_byte[0][p[7]];
    }
    for (; size; size--) sum = by_byte[0][(sum ^ *p++) & 255] ^ sum >> 8;
    return sum;
}

#if defined(__GNUC__) && defined(__x86_64__)
#define HAS_INSTRUCTION 1
#include <nmmintrin.h>

#define LONG 2048
#define SHORT 128

static uint32_t after_long[4][256], after_short[4][256]; /* [i][b]: CRC of b in byte i, then the zeros */
static int can_use_instruction;

static inline uint32_t after(uint32_t table[4][256], uint32_t sum)
{
    return table[0][sum & 255] ^ table[1][sum >> 8 & 255] ^ table[2][sum >> 16 & 255] ^ table[3][sum >> 24];
}

static void fill_after(uint32_t table[4][256], size_t zeros)
{
    for (int place = 0; place < 4; place++) {
        table[place][0] = 0;
        for (uint32_t byte = 1; byte < 256; byte++) {
            uint32_t lowest = byte & (0u - byte);
            if (byte != lowest) {
                table[place][byte] = table[place][lowest] ^ table[place][byte ^ lowest];
                continue;
            }
            uint32_t sum = byte << 8 * place;
            for (size_t k = 0; k < zeros; k++) sum = by_byte[0][sum & 255] ^ sum >> 8;
            table[place][byte] = sum;
        }
    }
}

__attribute__((target("sse4.2"))) static inline uint32_t three(uint32_t sum, const uint8_t *p, size_t stretch,
                                                               uint32_t table[4][256])
{
    uint64_t one = sum, two = 0, last = 0;
    for (const uint8_t *end = p + stretch; p < end; p += 8) {
        one = _mm_crc32_u64(one, (uint64_t)int64_in(p, 0));
        two = _mm_crc32_u64(two, (uint64_t)int64_in(p + stretch, 0));
        last = _mm_crc32_u64(last, (uint64_t)int64_in(p + 2 * stretch, 0));
    }
    return after(table, after(table, (uint32_t)one) ^ (uint32_t)two) ^ (uint32_t)last;
}

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t sum, const uint8_t *p, size_t size)
{
    for (; size >= 3 * LONG; p += 3 * LONG, size -= 3 * LONG) sum = three(sum, p, LONG, after_long);
    for (; size >= 3 * SHORT; p += 3 * SHORT, size -= 3 * SHORT) sum = three(sum, p, SHORT, after_short);
    uint64_t wide = sum;
    for (; size >= 8; p += 8, size -= 8) wide = _mm_crc32_u64(wide, (uint64_t)int64_in(p, 0));
    sum = (uint32_t)wide;
    for (; size; size--) sum = _mm_crc32_u8(sum, *p++);
    return sum;
}
#endif

void crc_begin(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t sum = byte;
        for (int bit = 0; bit < 8; bit++) sum = sum >> 1 ^ (sum & 1 ? POLYNOMIAL : 0);
        by_byte[0][byte] = sum;
    }
    for (int k = 1; k < 8; k++) {
        for (int byte = 0; byte < 256; byte++) {
            uint32_t sum = by_byte[k - 1][byte];
            by_byte[k][byte] = by_byte[0][sum & 255] ^ sum >> 8;
        }
    }
#if HAS_INSTRUCTION
    can_use_instruction = __builtin_cpu_supports("sse4.2");
    if (can_use_instruction) {
        fill_after(after_long, LONG);
        fill_after(after_short, SHORT);
    }
#endif
}

uint32_t crc32c_portable(const uint8_t *data, size_t size) { return ~by_tables(~0u, data, size); }

uint32_t crc32c(const uint8_t *data, size_t size)
{
#if HAS_INSTRUCTION
    if (can_use_instruction) return ~by_instruction(~0u, data, size);
#endif
    return crc32c_portable(data, size);
}
