#include "apps/workloads/cube/cube.h"

int main(int argc, char **argv)
{
    return spmd_main(&cube_program, argc, argv);
}
