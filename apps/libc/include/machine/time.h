/* Ticks of clock() and times(), the same on every ISA as POSIX requires, in place of newlib's 100
 * or 1000 a second. */
#ifndef _MACHTIME_H_
#define _MACHTIME_H_
#define _CLOCKS_PER_SEC_ 1000000
#endif
