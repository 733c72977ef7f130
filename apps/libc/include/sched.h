/* Affinity masks and yielding. */
#ifndef _SCHED_H_
#define _SCHED_H_

#include <sys/types.h>
#include <sys/sched.h>

#define CPU_ZERO(set)       ((set)->bits = 0)
#define CPU_SET(cpu, set)   ((set)->bits |= (uint64_t)1 << (cpu))
#define CPU_CLR(cpu, set)   ((set)->bits &= ~((uint64_t)1 << (cpu)))
#define CPU_ISSET(cpu, set) ((int)((set)->bits >> (cpu)&1))
#define CPU_COUNT(set)      __builtin_popcountll((set)->bits)

int sched_yield(void);
int sched_getcpu(void); /* returns the number of the CPU that the caller runs on */

#endif
