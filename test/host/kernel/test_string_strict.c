/* The same with aligned words only; an unaligned load is undefined behaviour, which the sanitizer
 * sees. */
#define STRICT_ALIGN
#include "test/host/kernel/test_string.c"
