/* known N: executes 2 N instructions, and what it takes to start and to end, in user mode; its
 * status is the last digit of N. */
#include <stdlib.h>
#include "test/qemu/apps/known_loop.h"

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;

    known_loop(n ? n : 1);
    return (int)(n % 10);
}
