/* See quantum.h. */
#include "sched/policy/quantum.h"

static uint64_t since(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

void quantum_begin(struct quantum *q, uint64_t ready_ns, uint64_t now_ns)
{
    if (!q->quanta) {
        q->start_ns = now_ns;
        q->waker = q->next_waker;
        q->woken = q->next_woken;
    }
    q->next_waker = q->next_woken = 0;
    q->waited_ns += since(ready_ns, now_ns);
    q->began_ns = now_ns;
}

bool quantum_end(struct quantum *q, const struct quantum_rule *rule, uint64_t now_ns,
                 const uint64_t *count, bool last)
{
    q->ran_ns += since(q->began_ns, now_ns);
    q->end_ns = MAX(now_ns, q->began_ns);
    q->quanta++;
    if (last)
        return true;
    return rule->cycles ? count[0] - q->told[0] >= rule->cycles : q->quanta >= rule->every;
}

void quantum_told(struct quantum *q, const uint64_t *count)
{
    for (unsigned i = 0; i < QUANTUM_COUNTS_MAX; i++)
        q->told[i] = count[i];
    q->told_ran_ns += q->ran_ns;
    q->told_waited_ns += q->waited_ns;
    q->told_quanta += q->quanta;
    q->ran_ns = q->waited_ns = 0;
    q->quanta = 0;
}

void quantum_late(struct quantum *q)
{
    q->late++;
}
