#include "apps/workloads/cg/cg.h"

int main(int argc, char **argv)
{
    return spmd_main(&cg_program, argc, argv);
}
