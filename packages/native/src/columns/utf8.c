/* UTF-8 validation by the table of well-formed sequences in chapter 3 of the Unicode standard. */
#include "builder.h"

static int is_continuation(uint8_t byte) { return (byte & 0xc0) == 0x80; }

int is_utf8(const uint8_t *p, const uint8_t *end)
{
    while (p < end) {
        uint64_t eight;
        while (end - p >= 8 && (memcpy(&eight, p, 8), (eight & 0x8080808080808080u) == 0)) p += 8;
        if (p == end) return 1;
        uint8_t lead = *p++;
        if (lead < 0x80) continue;
        uint8_t lowest = 0x80, highest = 0xbf;
        int more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
        if (lead < 0xc2 || lead > 0xf4 || end - p < more) return 0;
        if (lead == 0xe0) lowest = 0xa0;                     /* no overlong form */
        if (lead == 0xed) highest = 0x9f;                    /* no surrogates */
        if (lead == 0xf0) lowest = 0x90;
        if (lead == 0xf4) highest = 0x8f;                    /* not above U+10FFFF */
        if (*p < lowest || *p > highest) return 0;
        for (int i = 1; i < more; i++) if (!is_continuation(p[i])) return 0;
        p += more;
    }
    return 1;
}

/* Validates all texts of a column: valid if the whole is and none starts inside a character. */
int are_utf8(const uint8_t *data, const int32_t *offsets, int64_t count)
{
    int64_t size = count == 0 || offsets == NULL ? 0 : offsets[count];
    uint8_t any = 0;
    for (int64_t i = 0; i < size; i++) any |= data[i];
    if (any < 0x80) return 1;
    if (!is_utf8(data, data + size)) return 0;
    for (int64_t i = 0; i < count; i++) if (offsets[i] < size && is_continuation(data[offsets[i]])) return 0;
    return 1;
}
