/* Values of texts: validation of UTF-8, which reads only before `end`, and uuids in base64: 16 bytes, 22 letters. */
#include "plan.h"

static int is_continuation(uint8_t byte) { return (byte & 0xc0) == 0x80; }

/* Checks bytes against the table of well-formed UTF-8 in chapter 3 of the Unicode standard. */
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
int are_utf8(const uint8_t *data, int64_t size, const int32_t *offsets, int64_t count)
{
    uint8_t any = 0;
    for (int64_t i = 0; i < size; i++) any |= data[i];
    if (any < 0x80) return 1;
    if (!is_utf8(data, data + size)) return 0;
    for (int64_t i = 0; i < count; i++) {
        uint32_t start = (uint32_t)offsets[i];
        if (start < size && is_continuation(data[start])) return 0;
    }
    return 1;
}

void uuid_text(uint8_t *to, const uint8_t *p)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (int i = 0; i < 5; i++, p += 3) {
        uint32_t bits = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
        *to++ = (uint8_t)letters[bits >> 18];
        *to++ = (uint8_t)letters[bits >> 12 & 63];
        *to++ = (uint8_t)letters[bits >> 6 & 63];
        *to++ = (uint8_t)letters[bits & 63];
    }
    *to++ = (uint8_t)letters[*p >> 2];
    *to = (uint8_t)letters[(*p & 3) << 4];
}

static uint8_t sextet_of(uint8_t letter)
{
    if (letter >= 'A' && letter <= 'Z') return letter - 'A';
    if (letter >= 'a' && letter <= 'z') return letter - 'a' + 26;
    if (letter >= '0' && letter <= '9') return letter - '0' + 52;
    return letter == '-' ? 62 : letter == '_' ? 63 : 255;
}

int uuid_of(uint8_t *to, const uint8_t *text)
{
    uint32_t bits = 0, count = 0, at = 0;
    for (int i = 0; i < 22; i++) {
        uint8_t sextet = sextet_of(text[i]);
        if (sextet > 63) return -1;
        bits = bits << 6 | sextet;
        count += 6;
        if (count >= 8 && at < 16) { count -= 8; to[at++] = (uint8_t)(bits >> count); }
    }
    return 0;
}
