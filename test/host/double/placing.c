/* See placing.h. */
#include <stdlib.h>
#include <string.h>
#include "test/host/double/placing.h"

void panic(const char *fmt, ...)
{
    (void)fmt;
    fail_msg("panic");
    abort();
}

void placing_build_machine(struct placing *f, unsigned chips, unsigned cores, unsigned hw)
{
    f->topology = (struct assign_topology){
        .cpus = chips * cores * hw, .chips = chips, .cores = chips * cores, .cpu = f->cpu};
    for (unsigned i = 0; i < f->topology.cpus; i++)
        f->cpu[i] =
            (struct assign_cpu){.chip = (uint16_t)(i / (cores * hw)), .core = (uint16_t)(i / hw)};
}

int placing_set_up(void **state)
{
    struct placing *f = calloc(1, sizeof *f);
    size_t bytes = assign_bytes(PLACING_THREADS, PLACING_CPUS, PLACING_CHIPS);

    f->memory = malloc(bytes);
    assert_int_equal(
        assign_init(&f->placement, PLACING_THREADS, PLACING_CPUS, PLACING_CHIPS, f->memory, bytes),
        0);
    placing_build_machine(f, 2, 2, 2);
    *state = f;
    return 0;
}

int placing_tear_down(void **state)
{
    struct placing *f = *state;

    free(f->memory);
    free(f);
    return 0;
}

void placing_plant(struct placing *f, const char *clusters, const unsigned *cpus)
{
    f->in = (struct assign_input){.topology = &f->topology,
                                  .thread = f->thread,
                                  .threads = (unsigned)strlen(clusters),
                                  .slack_permille = ASSIGN_SLACK_PERMILLE,
                                  .min_gain_permille = ASSIGN_MIN_GAIN_PERMILLE};
    for (unsigned t = 0; t < f->in.threads; t++) {
        char letter = clusters[t];
        int cluster = letter >= 'a' ? letter - 'a' : ASSIGN_NONE;
        f->thread[t] = (struct assign_thread){.cpu = cpus[t],
                                              .cluster = cluster,
                                              .last_cluster = ASSIGN_NONE,
                                              .stated = ASSIGN_NONE,
                                              .silent = letter == '-',
                                              .load = ASSIGN_LOAD_FULL};
        if (cluster != ASSIGN_NONE && (unsigned)cluster >= f->in.clusters)
            f->in.clusters = (unsigned)cluster + 1;
    }
}

void placing_run(struct placing *f, const struct assign_policy *policy)
{
    const char *broken;

    policy->place(&f->placement, &f->in);
    broken = assign_check(&f->placement, &f->in);
    if (broken)
        fail_msg("%s", broken);
}

unsigned placing_chip_of(const struct placing *f, unsigned t)
{
    return f->placement.choice[t].chip;
}

unsigned placing_on_chip(const struct placing *f, unsigned chip)
{
    unsigned n = 0;

    for (unsigned t = 0; t < f->in.threads; t++)
        n += placing_chip_of(f, t) == chip;
    return n;
}

bool placing_is_whole(const struct placing *f, int cluster)
{
    int chip = -1;

    for (unsigned t = 0; t < f->in.threads; t++) {
        if (f->thread[t].cluster != cluster)
            continue;
        if (chip >= 0 && (int)placing_chip_of(f, t) != chip)
            return false;
        chip = (int)placing_chip_of(f, t);
    }
    return true;
}

unsigned placing_cores_of(const struct placing *f, int cluster)
{
    bool used[PLACING_CPUS] = {0};
    unsigned cores = 0;

    for (unsigned t = 0; t < f->in.threads; t++) {
        bool *core = &used[f->cpu[f->placement.choice[t].cpu].core];
        if (f->thread[t].cluster == cluster && !*core) {
            *core = true;
            cores++;
        }
    }
    return cores;
}

void placing_assert_even(const struct placing *f)
{
    unsigned core[PLACING_CPUS] = {0}, cpu[PLACING_CPUS] = {0};

    for (unsigned t = 0; t < f->in.threads; t++) {
        cpu[f->placement.choice[t].cpu]++;
        core[f->cpu[f->placement.choice[t].cpu].core]++;
    }
    for (unsigned a = 0; a < f->topology.cpus; a++) {
        for (unsigned b = 0; b < f->topology.cpus; b++) {
            if (f->cpu[a].chip == f->cpu[b].chip)
                assert_true(core[f->cpu[a].core] <= core[f->cpu[b].core] + 1);
            if (f->cpu[a].core == f->cpu[b].core)
                assert_true(cpu[a] <= cpu[b] + 1);
        }
    }
}
