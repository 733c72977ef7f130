/*
 * Any bytes as a file and as its description of frames: nothing is read beyond them, and what is
 * found says so of itself. The first byte chooses the machine; then come an address and the bytes.
 */
#include <stdlib.h>
#include <string.h>
#include "hpm/policy/eh_frame.h"

static void check(bool holds)
{
    if (!holds)
        abort();
}

static bool is_word(const struct rule_word *w)
{
    return w->from <= RULE_LOST;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct eh_frames f;
    struct eh_place place;
    struct eh_state work;
    struct frame_rule rule;
    uint64_t address;
    uint32_t at;

    if (!eh_place_find(data, size, &place))
        check(place.bytes > 0);
    (void)eh_code_address(data, size, size, &address);
    if (size < 5)
        return 0;
    memcpy(&at, data + 1, sizeof at);
    uint8_t *copy = malloc(size - 5 + EH_ROWS_AT); /* as long as it is, for the sanitizer */
    static const uint8_t kind[] = {1, 0x1b, 0x03, 0x3b, 0, 0, 0, 0};
    memcpy(copy, kind, sizeof kind);
    memcpy(copy + 8, data + 5, size - 5);
    if (size - 5 >= 4 && !eh_frames_open(copy, size - 5 + 8, 0x1000, *data & 1 ? 62 : 183, &f) &&
        eh_rule_at(&f, at, &work, &rule))
        check(is_word(&rule.link) && is_word(&rule.fp) && is_word(&rule.kept) &&
              (rule.ends || rule.cfa.from < RULE_CFA));
    free(copy);
    return 0;
}
