/* CRC-32C, the checksum of record batches (RFC 3720, appendix B.4): by a processor instruction, or else eight bytes
 * at a time by tables.
 *
 * The instruction has a latency of three cycles, so three stretches are summed in parallel and combined: appending
 * zeros is linear over GF(2), and the effect of a fixed number of zeros is looked up by byte.
 *
 * A row of a table lists the CRCs of bytes 0 to 255. ROW computes them from those of 128, 64, 32, 16, 8, 4, 2 and 1,
 * which are successive states of the shift register that starts with the reflected polynomial, 0x82F63B78. */
#include "batches.h"

#define ROW1(v, h) (v), (v) ^ (h)
#define ROW2(v, g, h) ROW1(v, h), ROW1((v) ^ (g), h)
#define ROW3(v, f, g, h) ROW2(v, g, h), ROW2((v) ^ (f), g, h)
#define ROW4(v, e, f, g, h) ROW3(v, f, g, h), ROW3((v) ^ (e), f, g, h)
#define ROW5(v, d, e, f, g, h) ROW4(v, e, f, g, h), ROW4((v) ^ (d), e, f, g, h)
#define ROW6(v, c, d, e, f, g, h) ROW5(v, d, e, f, g, h), ROW5((v) ^ (c), d, e, f, g, h)
#define ROW7(v, b, c, d, e, f, g, h) ROW6(v, c, d, e, f, g, h), ROW6((v) ^ (b), c, d, e, f, g, h)
#define ROW8(v, a, b, c, d, e, f, g, h) ROW7(v, b, c, d, e, f, g, h), ROW7((v) ^ (a), b, c, d, e, f, g, h)
#define ROW(a, b, c, d, e, f, g, h) {ROW8(0u, a, b, c, d, e, f, g, h)}

/* [k][b]: CRC, from 0, of byte b followed by k zero bytes */
static const uint32_t by_byte[8][256] = {
    ROW(0x82F63B78, 0x417B1DBC, 0x20BD8EDE, 0x105EC76F, 0x8AD958CF, 0xC79A971F, 0xE13B70F7, 0xF26B8303),
    ROW(0xFBC3FAF9, 0xFF17C604, 0x7F8BE302, 0x3FC5F181, 0x9D14C3B8, 0x4E8A61DC, 0x274530EE, 0x13A29877),
    ROW(0x8B277743, 0xC76580D9, 0xE144FB14, 0x70A27D8A, 0x38513EC5, 0x9EDEA41A, 0x4F6F520D, 0xA541927E),
    ROW(0x52A0C93F, 0xABA65FE7, 0xD725148B, 0xE964B13D, 0xF64463E6, 0x7B2231F3, 0xBF672381, 0xDD45AAB8),
    ROW(0x6EA2D55C, 0x37516AAE, 0x1BA8B557, 0x8F2261D3, 0xC5670B91, 0xE045BEB0, 0x7022DF58, 0x38116FAC),
    ROW(0x1C08B7D6, 0x0E045BEB, 0x85F4168D, 0xC00C303E, 0x6006181F, 0xB2F53777, 0xDB8CA0C3, 0xEF306B19),
    ROW(0xF56E0EF4, 0x7AB7077A, 0x3D5B83BD, 0x9C5BFAA6, 0x4E2DFD53, 0xA5E0C5D1, 0xD0065990, 0x68032CC8),
    ROW(0x34019664, 0x1A00CB32, 0x0D006599, 0x847609B4, 0x423B04DA, 0x211D826D, 0x9278FA4E, 0x493C7D27),
};

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

#if defined(__clang__) && __clang_major__ >= 14 /* which may have the instruction disabled separately */
#define WITH_INSTRUCTION __attribute__((target("sse4.2,crc32")))
#else
#define WITH_INSTRUCTION __attribute__((target("sse4.2")))
#endif

#define LONG 2048
#define SHORT 128

/* [i][b]: CRC of b in byte i of a sum, followed by LONG or SHORT zeros */
static const uint32_t after_long[4][256] = {
    ROW(0x14DB951A, 0x0A6DCA8D, 0x87C0DE3E, 0x43E06F1F, 0xA3060CF7, 0xD3753D03, 0xEB4CA5F9, 0xF7506984),
    ROW(0x92E3AED4, 0x4971D76A, 0x24B8EBB5, 0x90AA4EA2, 0x48552751, 0xA6DCA8D0, 0x536E5468, 0x29B72A34),
    ROW(0x4B52C390, 0x25A961C8, 0x12D4B0E4, 0x096A5872, 0x04B52C39, 0x80ACAD64, 0x405656B2, 0x202B2B59),
    ROW(0x0D65762A, 0x06B2BB15, 0x81AF66F2, 0x40D7B379, 0xA29DE2C4, 0x514EF162, 0x28A778B1, 0x96A58720),
};
static const uint32_t after_short[4][256] = {
    ROW(0x3D9F3BF4, 0x1ECF9DFA, 0x0F67CEFD, 0x8545DC06, 0x42A2EE03, 0xA3A74C79, 0xD3259D44, 0x6992CEA2),
    ROW(0x414C5F8D, 0xA25014BE, 0x51280A5F, 0xAA623E57, 0xD7C72453, 0xE915A951, 0xF67CEFD0, 0x7B3E77E8),
    ROW(0x37423140, 0x1BA118A0, 0x0DD08C50, 0x06E84628, 0x03742314, 0x01BA118A, 0x00DD08C5, 0x8298BF1A),
    ROW(0xB8FDB1E7, 0xDE88E38B, 0xEDB24ABD, 0xF42F1E26, 0x7A178F13, 0xBFFDFCF1, 0xDD08C500, 0x6E846280),
};

static inline uint32_t after(const uint32_t table[4][256], uint32_t sum)
{
    return table[0][sum & 255] ^ table[1][sum >> 8 & 255] ^ table[2][sum >> 16 & 255] ^ table[3][sum >> 24];
}

WITH_INSTRUCTION static inline uint32_t three(uint32_t sum, const uint8_t *p, size_t stretch, const uint32_t table[4][256])
{
    uint64_t one = sum, two = 0, last = 0;
    for (const uint8_t *end = p + stretch; p < end; p += 8) {
        one = _mm_crc32_u64(one, (uint64_t)int64_in(p, 0));
        two = _mm_crc32_u64(two, (uint64_t)int64_in(p + stretch, 0));
        last = _mm_crc32_u64(last, (uint64_t)int64_in(p + 2 * stretch, 0));
    }
    return after(table, after(table, (uint32_t)one) ^ (uint32_t)two) ^ (uint32_t)last;
}

WITH_INSTRUCTION static uint32_t by_instruction(uint32_t sum, const uint8_t *p, size_t size)
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

uint32_t crc32c_portable(const uint8_t *data, size_t size) { return ~by_tables(~0u, data, size); }

uint32_t crc32c(const uint8_t *data, size_t size)
{
#if HAS_INSTRUCTION
    if (__builtin_cpu_supports("sse4.2")) return ~by_instruction(~0u, data, size);
#endif
    return crc32c_portable(data, size);
}
