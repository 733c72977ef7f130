/* The entry of a program and of a thread (kernel/proc/abi.h). A thread has its argument in x0;
 * a frame record of zeros ends backtraces (AAPCS64, 6.4.6). */
	.globl	_start, __vigil_thread_entry
	.text
_start:
	mov	x0, sp
	mov	x29, xzr
	mov	x30, xzr
	bl	__vigil_libc_start
	udf	#0

__vigil_thread_entry:
	mov	x29, xzr
	mov	x30, xzr
	bl	__vigil_thread_main
	udf	#0
	.section .note.GNU-stack,"",%progbits
