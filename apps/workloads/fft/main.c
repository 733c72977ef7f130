#include "apps/workloads/fft/fft.h"

int main(int argc, char **argv)
{
    return spmd_main(&fft_program, argc, argv);
}
