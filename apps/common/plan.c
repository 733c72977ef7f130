/*
 * The group of each thread, before and after a change of partners, and the order of creation. Pure:
 * all follows from the plan.
 */
#include "apps/common/team.h"

const char *const team_order_names[] = {"shuffled", "grouped", "striped", NULL};

void team_form_equal(struct team_plan *plan, unsigned groups, unsigned per_group)
{
    struct args_list sizes = {.count = groups};

    for (unsigned g = 0; g < groups; g++)
        sizes.item[g] = per_group;
    team_form_sized(plan, &sizes);
}

void team_form_sized(struct team_plan *plan, const struct args_list *sizes)
{
    plan->count = 0;
    plan->groups = sizes->count;
    for (unsigned g = 0; g < sizes->count; g++) {
        for (uint32_t i = 0; i < sizes->item[g]; i++)
            plan->group[plan->count++] = g;
    }
}

static void group_sizes(const struct team_plan *plan, unsigned *size)
{
    for (unsigned g = 0; g < plan->groups; g++)
        size[g] = 0;
    for (unsigned i = 0; i < plan->count; i++)
        size[plan->group[i]]++;
}

void team_changed_groups(const struct team_plan *plan, unsigned *group)
{
    unsigned room[ARGS_LIST_MAX];
    unsigned next = 0;

    group_sizes(plan, room);
    for (unsigned i = 0; i < plan->count; i++) {
        while (room[next] == 0)
            next = (next + 1) % plan->groups;
        group[i] = next;
        room[next]--;
        next = (next + 1) % plan->groups;
    }
}

static void shuffle(unsigned *order, unsigned count, uint64_t seed)
{
    struct prng prng = prng_seeded(seed, UINT32_MAX);

    for (unsigned left = count; left > 1; left--) {
        unsigned pick = prng_below(&prng, left);
        unsigned last = order[left - 1];
        order[left - 1] = order[pick];
        order[pick] = last;
    }
}

/* Takes the members of the groups in turn. */
static void stripe(const struct team_plan *plan, unsigned *order)
{
    unsigned first[ARGS_LIST_MAX], size[ARGS_LIST_MAX];
    unsigned placed = 0;

    group_sizes(plan, size);
    for (unsigned g = 0, index = 0; g < plan->groups; index += size[g++])
        first[g] = index;
    for (unsigned rank = 0; placed < plan->count; rank++) {
        for (unsigned g = 0; g < plan->groups; g++) {
            if (rank < size[g])
                order[placed++] = first[g] + rank;
        }
    }
}

void team_creation_order(const struct team_plan *plan, unsigned *order)
{
    for (unsigned i = 0; i < plan->count; i++)
        order[i] = i;
    if (plan->order == TEAM_SHUFFLED)
        shuffle(order, plan->count, plan->seed);
    else if (plan->order == TEAM_STRIPED)
        stripe(plan, order);
}
