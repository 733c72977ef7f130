/*
 * Lists the simulated machines: name, CPUs, description. With a name, for tools/qemu.sh: CPUs,
 * chips, cores per chip and threads per core as four numbers in a line, or status 1.
 */
#include <stdio.h>
#include "test/machine/topology.h"

static int print_shape(const struct topology *t)
{
    if (!t)
        return 1;
    printf("%u %u %u %u\n", topology_cpus(t), t->chips, t->cores_per_chip, t->threads_per_core);
    return 0;
}

int main(int argc, char **argv)
{
    const struct topology *t;

    if (argc > 1)
        return print_shape(topology_find(argv[1]));
    for (unsigned i = 0; (t = topology_at(i)); i++)
        printf("%-16s %3u CPUs  %s\n", t->name, topology_cpus(t), t->what);
    return 0;
}
