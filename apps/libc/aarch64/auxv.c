/* The compiler's out-of-line atomics call this before main() to learn whether the CPU has
 * FEAT_LSE. */
#include "apps/libc/libc.h"

unsigned long __getauxval(unsigned long type);

unsigned long __getauxval(unsigned long type)
{
    return auxiliary_value(type);
}
