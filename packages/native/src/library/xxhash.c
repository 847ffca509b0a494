/* xxHash32 with seed 0, the checksum of lz4 frames and their blocks (https://github.com/Cyan4973/xxHash). */
#include "batches.h"

static const uint32_t ONE = 2654435761u, TWO = 2246822519u, THREE = 3266489917u, FOUR = 668265263u, FIVE = 374761393u;

static inline uint32_t little32(const uint8_t *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24; }
static inline uint32_t rotated(uint32_t value, int by) { return value << by | value >> (32 - by); }
static inline uint32_t mixed(uint32_t lane, const uint8_t *p) { return rotated(lane + little32(p) * TWO, 13) * ONE; }

uint32_t xxh32(const uint8_t *p, size_t size)
{
    const uint8_t *end = p + size;
    uint32_t value = FIVE;
    if (size >= 16) {
        uint32_t a = ONE + TWO, b = TWO, c = 0, d = 0u - ONE;
        for (; end - p >= 16; p += 16) {
            a = mixed(a, p);
            b = mixed(b, p + 4);
            c = mixed(c, p + 8);
            d = mixed(d, p + 12);
        }
        value = rotated(a, 1) + rotated(b, 7) + rotated(c, 12) + rotated(d, 18);
    }
    value += (uint32_t)size;
    for (; end - p >= 4; p += 4) value = rotated(value + little32(p) * THREE, 17) * FOUR;
    for (; p < end; p++) value = rotated(value + *p * FIVE, 11) * ONE;
    value = (value ^ value >> 15) * TWO;
    value = (value ^ value >> 13) * THREE;
    return value ^ value >> 16;
}
