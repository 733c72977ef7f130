/* Where the kernel enters a program and where it enters a thread (kernel/proc/abi.h). */
	.globl	_start, __vigil_thread_entry
	.text
_start:
	xor	%ebp, %ebp
	mov	%rsp, %rdi
	and	$-16, %rsp
	call	__vigil_libc_start
	ud2

/* A thread's stack is as aligned as at a call's target without a return address: make a frame for
 * one. */
__vigil_thread_entry:
	xor	%ebp, %ebp
	and	$-16, %rsp
	call	__vigil_thread_main
	ud2
	.section .note.GNU-stack,"",@progbits
