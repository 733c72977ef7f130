#include "apps/workloads/phylogeny/phylogeny.h"

int main(int argc, char **argv)
{
    return spmd_main(&phylogeny_program, argc, argv);
}
