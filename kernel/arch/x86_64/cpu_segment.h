/* The segment whose limit tells user mode which CPU it runs on: LSL reads it without any right. */
#pragma once

#define SEL_CPU_NUMBER  0x43 /* behind those of x86.h */
#define CPU_NUMBER_BITS 12   /* of the limit, the CPU's number; those above are its node's */
#define CPU_NUMBER_MASK ((1u << CPU_NUMBER_BITS) - 1)
