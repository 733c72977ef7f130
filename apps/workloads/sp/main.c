#include "apps/workloads/sp/sp.h"

int main(int argc, char **argv)
{
    return spmd_main(&sp_program, argc, argv);
}
