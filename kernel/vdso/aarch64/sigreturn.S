/*
 * Where a signal handler returns to: x30 of its frame. Unwinders know the frame by these two
 * instructions, and restore all of the interrupted registers from it. It has no call frame
 * information, as Linux's has none: with that of x29's record they would take the interrupted x30
 * for the pc and x29 for the stack pointer. The instruction in front is for those that look up the
 * return address minus one.
 */
#include <asm/unistd.h>

	.text
	nop
	.globl __kernel_rt_sigreturn
	.type __kernel_rt_sigreturn, %function
__kernel_rt_sigreturn:
	mov	x8, #__NR_rt_sigreturn
	svc	#0
	.size __kernel_rt_sigreturn, . - __kernel_rt_sigreturn
	.section .note.GNU-stack, "", %progbits
