/* The entry of a program and of a thread, and the return from a signal's handler (libc.h). */
	.globl	_start, __vigil_clone, __vigil_restore
	.text
_start:
	xor	%ebp, %ebp
	mov	%rsp, %rdi
	and	$-16, %rsp
	call	__vigil_libc_start
	ud2

/* The parent gets the call's result; the thread begins with an aligned stack. */
__vigil_clone:
	.cfi_startproc
	mov	%r8, %rax
	mov	%rcx, %r8
	mov	%rdx, %r10
	syscall
	test	%rax, %rax
	jz	1f
	ret
1:	.cfi_undefined rip
	xor	%ebp, %ebp
	and	$-16, %rsp
	call	__vigil_thread_main
	ud2
	.cfi_endproc

__vigil_restore:
	mov	$15, %eax	/* rt_sigreturn */
	syscall
	ud2
	.section .note.GNU-stack,"",@progbits
