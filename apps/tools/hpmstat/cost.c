/* What counting costs the machine while the program runs. */
#include <stdio.h>
#include "apps/tools/hpmstat/hpmstat.h"
#include "apps/tools/measuring/figures.h"
#include "apps/tools/measuring/record.h"
#include "apps/tools/measuring/since.h"

static struct sys_breakdown began;
static bool known; /* the machine may be read, and counts cycles */

static bool read_machine(struct sys_breakdown *out)
{
    const struct sys_hpm_read machine = {.scope = SYS_SCOPE_MACHINE};

    return !hpm_breakdown(&machine, out) && (out->counted & 1);
}

void cost_begin(void)
{
    known = read_machine(&began);
}

void cost_print(unsigned format)
{
    struct sys_breakdown b;

    if (!known || !read_machine(&b))
        return;
    breakdown_since(&b, &began);
    if (!b.cycles)
        return;
    double percent = figure_percent(b.own_cycles, b.cycles);
    if (format == FORMAT_CSV || format == FORMAT_JSON) {
        record_begin(format == FORMAT_CSV ? RECORD_CSV : RECORD_JSON, "hpmstat", "cost");
        record_number("own_cycles", b.own_cycles);
        record_number("busy_cycles", b.cycles);
        record_real("cost_pct", percent, 3);
        record_end();
    } else if (format == FORMAT_TEXT) {
        printf("hpmstat: cost_pct=%.2f: of the machine's busy cycles counting and sampling took "
               "that part\n",
               percent);
    }
}
