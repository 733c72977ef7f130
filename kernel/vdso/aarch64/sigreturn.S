/*
 * Where a signal handler returns to: x30 of its frame. Unwinders know the frame by its call frame
 * information, where x29 points at a record of the interrupted x29 and x30, or by these two
 * instructions. The one in front is for those that look up the return address minus one.
 */
#include <asm/unistd.h>

	.text
	.cfi_startproc
	.cfi_signal_frame
	.cfi_def_cfa x29, 0
	.cfi_offset x29, 0
	.cfi_offset x30, 8
	nop
	.globl __kernel_rt_sigreturn
	.type __kernel_rt_sigreturn, %function
__kernel_rt_sigreturn:
	mov	x8, #__NR_rt_sigreturn
	svc	#0
	.cfi_endproc
	.size __kernel_rt_sigreturn, . - __kernel_rt_sigreturn
	.section .note.GNU-stack, "", %progbits
