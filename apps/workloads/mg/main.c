#include "apps/workloads/mg/mg.h"

int main(int argc, char **argv)
{
    return spmd_main(&mg_program, argc, argv);
}
