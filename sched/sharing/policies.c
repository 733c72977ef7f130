/* The clustering and the placement policies to choose from. */
#include "sched/sharing/policy/cluster.h"
#include "sched/sharing/policy/assign.h"

const struct cluster_policy *const cluster_policies[] = {&cluster_cosine, &cluster_published,
                                                         &cluster_published_scaled, NULL};

const struct place_policy *const place_policies[] = {&place_cluster, &place_hand, &place_roundrobin,
                                                     &place_default, NULL};
