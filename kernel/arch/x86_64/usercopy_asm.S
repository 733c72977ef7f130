/* Accesses that may fault on purpose. */
#include "kernel/arch/fixup.inc"

	.text
/* int user_copy(void *dst, const void *src, size_t n) */
	.globl user_copy
user_copy:
	movq	%rdx, %rcx
	shrq	$3, %rcx
1:	rep movsq
	movl	%edx, %ecx
	andl	$7, %ecx
2:	rep movsb
	xorl	%eax, %eax
	ret
3:	movl	$-14, %eax	/* -EFAULT */
	ret
	fixup	1b, 3b, FIXUP_FAULT_IN
	fixup	2b, 3b, FIXUP_FAULT_IN

/* int peek32(const void *src, uint32_t *out) */
	.globl peek32
peek32:
4:	movl	(%rdi), %eax
	movl	%eax, (%rsi)
	xorl	%eax, %eax
	ret
	fixup	4b, 3b, FIXUP_NO_FAULT

/* int peek64(const void *src, uint64_t *out) */
	.globl peek64
peek64:
5:	movq	(%rdi), %rax
	movq	%rax, (%rsi)
	xorl	%eax, %eax
	ret
	fixup	5b, 3b, FIXUP_NO_FAULT

/* int user_swap32(uint32_t *at, uint32_t old, uint32_t new, uint32_t *seen) */
	.globl user_swap32
user_swap32:
	movl	%esi, %eax
6:	lock cmpxchgl %edx, (%rdi)
	movl	%eax, (%rcx)
	xorl	%eax, %eax
	ret
	fixup	6b, 3b, FIXUP_FAULT_IN

	.section .note.GNU-stack, "", @progbits
