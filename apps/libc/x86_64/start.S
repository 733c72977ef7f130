/* The entry of a program and of a thread (kernel/proc/abi.h). */
	.globl	_start, __vigil_thread_entry
	.text
_start:
	xor	%ebp, %ebp
	mov	%rsp, %rdi
	and	$-16, %rsp
	call	__vigil_libc_start
	ud2

/* A thread's stack is aligned as before a call, without a return address. This makes room for
 * one. */
__vigil_thread_entry:
	xor	%ebp, %ebp
	and	$-16, %rsp
	call	__vigil_thread_main
	ud2
	.section .note.GNU-stack,"",@progbits
