#include "apps/workloads/ocean/ocean.h"

int main(int argc, char **argv)
{
    return spmd_main(&ocean_program, argc, argv);
}
