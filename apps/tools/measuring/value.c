/* See value.h. */
#include "apps/tools/measuring/value.h"
#include "apps/tools/measuring/record.h"

const char *value_trouble(uint32_t trouble)
{
    static const char *const words[] = {"", "not counted", "nothing to divide by", "too large"};

    return trouble < sizeof words / sizeof words[0] ? words[trouble] : "unknown";
}

static void record_count(const struct sys_hpm_value *v)
{
    static const char *const sure[] = {[SYS_SURE_EXACT] = "exact",
                                       [SYS_SURE_INTERVAL] = "interval",
                                       [SYS_SURE_SHORT] = "short",
                                       [SYS_SURE_UNSEEN] = "unseen",
                                       [SYS_SURE_PUBLISHED] = "published",
                                       [SYS_SURE_BEYOND] = "beyond",
                                       [SYS_SURE_NONE] = "none"};
    bool exact = v->sure == SYS_SURE_EXACT, limits = exact || v->sure == SYS_SURE_INTERVAL;

    record_number_if("value", v->sure != SYS_SURE_UNSEEN && v->count != UINT64_MAX, v->count);
    record_none("unit");
    record_number_if("low", limits, exact ? v->count : v->low);
    record_number_if("high", limits, exact ? v->count : v->high);
    record_text("sure", v->sure < sizeof sure / sizeof sure[0] ? sure[v->sure] : "unknown");
    record_real("seen_pct", v->seen_permille / 10.0, 1);
    record_number("counted", v->counted);
    record_number("counted_in", v->seen);
    record_number("of_length", v->length);
}

static void record_metric(const struct sys_hpm_value *v)
{
    record_real_if("value", !v->trouble, (double)v->millionths / 1e6, 6);
    record_text("unit", v->unit);
    record_none("low");
    record_none("high");
    record_text_if("sure", value_trouble(v->trouble));
    record_real("seen_pct", v->seen_permille / 10.0, 1);
    record_none("counted");
    record_none("counted_in");
    record_none("of_length");
}

void record_value(const struct sys_hpm_value *v)
{
    if (v->kind == SYS_VALUE_METRIC)
        record_metric(v);
    else
        record_count(v);
    record_number("fitted", v->fitted);
}
