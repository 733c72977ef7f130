/* The main() of each program on large arrays. */
#include "apps/common/spmd.h"

int main(int argc, char **argv)
{
    return spmd_main(spmd_only_program, argc, argv);
}
