/* Ticks of clock() and times(), the same on every ISA, in place of newlib's 100 or 1000 of a
 * second: as POSIX has it. */
#ifndef _MACHTIME_H_
#define _MACHTIME_H_
#define _CLOCKS_PER_SEC_ 1000000
#endif
