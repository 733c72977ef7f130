/* See ipv4.h. */
#include "kernel/lib/ipv4.h"

#define PREFIX_MAX 31
#define GROUPS     0xe0000000u /* addresses from there on are no host's */

/* Reads a number up to `most`, without zeros in front. */
static bool read_number(const char **s, unsigned most, unsigned *out)
{
    const char *begin = *s;

    *out = 0;
    while (**s >= '0' && **s <= '9' && *out <= most)
        *out = *out * 10 + (unsigned)(*(*s)++ - '0');
    return *s != begin && *out <= most && (*begin != '0' || *s == begin + 1);
}

static bool read_address(const char **s, uint64_t *out)
{
    uint64_t address = 0;
    unsigned n;

    for (unsigned i = 0; i < 4; i++) {
        if ((i && *(*s)++ != '.') || !read_number(s, 255, &n))
            return false;
        address = address << 8 | n;
    }
    *out = address;
    return true;
}

bool ipv4_parse(const char *s, bool prefix, uint64_t *out)
{
    uint64_t address;
    unsigned n;

    if (!read_address(&s, &address))
        return false;
    if (prefix) {
        if (*s++ != '/' || !read_number(&s, PREFIX_MAX, &n) || !n)
            return false;
        address |= (uint64_t)n << IPV4_PREFIX_SHIFT;
    }
    *out = address;
    return !*s;
}

static bool is_host(uint64_t address)
{
    return address && address < GROUPS;
}

bool ipv4_parse_hosts(const char *s, uint64_t *out)
{
    uint64_t first, second = 0;

    if (!read_address(&s, &first) || !is_host(first))
        return false;
    if (*s == ',') {
        s++;
        if (!read_address(&s, &second) || !is_host(second))
            return false;
    }
    *out = first | second << 32;
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

char *ipv4_format_hosts(uint64_t hosts, char out[IPV4_HOSTS_MAX])
{
    char *to = ipv4_format((uint32_t)hosts, out);

    while (*to)
        to++;
    if (hosts >> 32) {
        *to++ = ',';
        ipv4_format(hosts >> 32, to);
    }
    return out;
}
