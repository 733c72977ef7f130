/* nested, compiled as other programs are: its functions keep no frame pointers on x86-64, and on
 * AArch64 not where they call nothing. */
#include "nested.c"
