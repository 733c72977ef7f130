/* See ipv4.h. */
#include "kernel/lib/ipv4.h"

#define PREFIX_MAX 31

/* Reads a number up to `most`, without zeros in front. */
static bool read_number(const char **s, unsigned most, unsigned *out)
{
    const char *begin = *s;

    *out = 0;
    while (**s >= '0' && **s <= '9' && *out <= most)
        *out = *out * 10 + (unsigned)(*(*s)++ - '0');
    return *s != begin && *out <= most && (*begin != '0' || *s == begin + 1);
}

bool ipv4_parse(const char *s, bool prefix, uint64_t *out)
{
    uint64_t address = 0;
    unsigned n;

    for (unsigned i = 0; i < 4; i++) {
        if ((i && *s++ != '.') || !read_number(&s, 255, &n))
            return false;
        address = address << 8 | n;
    }
    if (prefix) {
        if (*s++ != '/' || !read_number(&s, PREFIX_MAX, &n) || !n)
            return false;
        address |= (uint64_t)n << IPV4_PREFIX_SHIFT;
    }
    *out = address;
    return !*s;
}

/* Writes a number below 1000. */
static char *put_number(char *to, unsigned n)
{
    if (n >= 100)
        *to++ = (char)('0' + n / 100);
    if (n >= 10)
        *to++ = (char)('0' + n / 10 % 10);
    *to++ = (char)('0' + n % 10);
    return to;
}

char *ipv4_format(uint64_t address, char out[IPV4_TEXT_MAX])
{
    unsigned prefix = (unsigned)(address >> IPV4_PREFIX_SHIFT);
    char *to = out;

    for (int shift = 24; shift >= 0; shift -= 8) {
        to = put_number(to, (uint8_t)(address >> shift));
        *to++ = shift ? '.' : '/';
    }
    if (prefix)
        to = put_number(to, prefix);
    else
        to--;
    *to = '\0';
    return out;
}
