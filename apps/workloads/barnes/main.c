#include "apps/workloads/barnes/barnes.h"

int main(int argc, char **argv)
{
    return spmd_main(&barnes_program, argc, argv);
}
