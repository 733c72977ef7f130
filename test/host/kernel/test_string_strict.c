/* The same where only aligned words may be loaded; an unaligned one is undefined behaviour, which
 * the sanitizer sees. */
#define STRICT_ALIGN
#include "test/host/kernel/test_string.c"
