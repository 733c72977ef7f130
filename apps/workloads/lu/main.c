#include "apps/workloads/lu/lu.h"

int main(int argc, char **argv)
{
    return spmd_main(&lu_program, argc, argv);
}
