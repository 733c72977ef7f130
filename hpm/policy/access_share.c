/* Plans who shares which sampler, and divides the records; see access_share.h. */
#include "hpm/policy/access_share.h"
#include "hpm/policy/draw.h"

/* ---- The plan -------------------------------------------------------------------------------- */

void access_share_init(struct access_share *s, unsigned samplers)
{
    *s = (struct access_share){.samplers = samplers};
    memset(s->sampler, ACCESS_NO_SAMPLER, sizeof s->sampler);
}

static void add_want(struct hpm_sampling *sum, const struct hpm_sampling *want)
{
    sum->sources |= want->sources;
    sum->walks |= want->walks;
    sum->fetches |= want->fetches;
    sum->user |= want->user;
    sum->kernel |= want->kernel;
    sum->min_latency = MIN(sum->min_latency, want->min_latency);
    if (want->period >= sum->period)
        return;
    sum->period = want->period;
    sum->jitter = want->jitter;
}

/* A sampler of one handle does what the handle wants. One that is shared draws its distances at
 * random, for its records must not be in step with what some of them are passed over for. */
static void make_programme(struct access_share *s, unsigned n)
{
    uint32_t members = s->members[n];
    struct hpm_sampling *p = &s->programme[n];

    *p = s->want[__builtin_ctz(members)];
    for (uint32_t left = members & (members - 1); left; left &= left - 1)
        add_want(p, &s->want[__builtin_ctz(left)]);
    p->apart = members & (members - 1);
    if (p->apart)
        p->jitter = MAX(p->jitter, p->period / 2);
}

/* Returns a free sampler, or else the last, which is shared. */
static unsigned free_sampler(const struct access_share *s)
{
    unsigned n = 0;

    while (n + 1 < s->samplers && s->members[n])
        n++;
    return n;
}

static void join(struct access_share *s, unsigned h, unsigned n)
{
    if (s->sampler[h] != ACCESS_NO_SAMPLER)
        s->members[s->sampler[h]] &= ~(1u << h);
    s->sampler[h] = (uint8_t)n;
    if (n != ACCESS_NO_SAMPLER)
        s->members[n] |= 1u << h;
}

/* Gives handles that share a sampler those that are free, but for the last of them. */
static void spread(struct access_share *s)
{
    unsigned last = s->samplers - 1;

    while (s->members[last] & (s->members[last] - 1)) {
        unsigned n = free_sampler(s);
        if (n == last)
            break;
        join(s, (unsigned)__builtin_ctz(s->members[last]), n);
    }
}

void access_share_set(struct access_share *s, unsigned h, const struct hpm_sampling *want)
{
    if (want) {
        s->begun[h] += !(s->on >> h & 1);
        s->want[h] = *want;
        s->on |= 1u << h;
        if (s->sampler[h] == ACCESS_NO_SAMPLER)
            join(s, h, free_sampler(s));
    } else {
        s->on &= ~(1u << h);
        join(s, h, ACCESS_NO_SAMPLER);
        spread(s);
    }
    for (unsigned n = 0; n < s->samplers; n++)
        if (s->members[n])
            make_programme(s, n);
}

static bool same_programme(const struct hpm_sampling *a, const struct hpm_sampling *b)
{
    return a->sources == b->sources && a->walks == b->walks && a->fetches == b->fetches &&
           a->min_latency == b->min_latency && a->period == b->period && a->jitter == b->jitter &&
           a->apart == b->apart && a->user == b->user && a->kernel == b->kernel;
}

bool access_share_changed(const struct access_share *before, const struct access_share *now,
                          unsigned n)
{
    bool was = before->members[n], is = now->members[n];

    return was != is || (is && !same_programme(&before->programme[n], &now->programme[n]));
}

/* ---- A CPU's records ------------------------------------------------------------------------- */

void access_deal_init(struct access_deal *d, unsigned cpu)
{
    *d = (struct access_deal){.random = draw_begin(cpu)};
}

static bool is_alone(const struct access_share *s, unsigned h)
{
    return s->members[s->sampler[h]] == 1u << h;
}

/* Returns a number of records around that at which handle h has its period. */
static uint32_t draw_records(struct access_deal *d, const struct access_share *s, unsigned h)
{
    uint32_t base = s->programme[s->sampler[h]].period,
             records = is_alone(s, h) ? 1 : (s->want[h].period + base / 2) / base;

    return records > 1 ? draw_around(&d->random, records, records / 4) : 1;
}

void access_deal_follow(struct access_deal *d, const struct access_share *before,
                        const struct access_share *now)
{
    for (unsigned h = 0; h < ACCESS_HANDLES; h++) {
        bool is = now->on >> h & 1;
        if (!is || before->begun[h] != now->begun[h])
            d->left[h] = d->passed[h] = 0;
        if (!is)
            continue;
        uint32_t fresh = draw_records(d, now, h);
        if (!d->left[h] || fresh < d->left[h])
            d->left[h] = fresh;
    }
}

void access_deal_cut(struct access_deal *d, const struct access_share *before, unsigned n,
                     uint32_t left)
{
    uint32_t members = before->members[n];
    int64_t lacks = left ? (int64_t)before->programme[n].period - left : 0;

    if (members & (members - 1))
        d->cut[n] += lacks;
    else if (members)
        d->passed[__builtin_ctz(members)] += lacks;
}

/* Ends handle h's distance, with which it has passed `sum` in all. Returns the sample's period: it
 * stands for 1 at least, at the next one's expense. */
static uint32_t end_distance(struct access_deal *d, unsigned h, int64_t sum)
{
    uint32_t period = (uint32_t)MIN(MAX(sum, 1), (int64_t)UINT32_MAX);

    d->passed[h] = sum - period;
    return period;
}

/* Offers a record that stands for `worth` to those that share its sampler. */
static uint32_t divide(struct access_deal *d, const struct access_share *s, uint32_t members,
                       const struct hpm_sample *record, int64_t worth, uint32_t *period)
{
    uint32_t takers = 0;

    for (; members; members &= members - 1) {
        unsigned h = (unsigned)__builtin_ctz(members);
        if (!sample_wanted(&s->want[h], record))
            continue;
        d->passed[h] += worth;
        if (--d->left[h])
            continue;
        period[h] = end_distance(d, h, d->passed[h]);
        d->left[h] = draw_records(d, s, h);
        takers |= 1u << h;
    }
    return takers;
}

uint32_t access_deal(struct access_deal *d, const struct access_share *s,
                     const struct hpm_sample *record, uint32_t period[ACCESS_HANDLES])
{
    uint32_t takers = 0;

    for (uint32_t by = record->samplers; by; by &= by - 1) {
        unsigned n = (unsigned)__builtin_ctz(by);
        uint32_t members = s->members[n];
        int64_t worth = s->programme[n].period + d->cut[n];
        d->cut[n] = 0;
        if (members & (members - 1)) {
            takers |= divide(d, s, members, record, worth, period);
        } else if (members) { /* the hardware took it for this handle */
            unsigned h = (unsigned)__builtin_ctz(members);
            period[h] = end_distance(d, h, d->passed[h] + worth);
            takers |= members;
        }
    }
    return takers;
}
