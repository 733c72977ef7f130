/*
 * Instructions that may fault on purpose, and where to go on when they do: the fixup table of trap.c.
 * Kind 0: the page is faulted in first if it can be; kind 1: never.
 */
	.macro fixup from, to, kind
	.pushsection .fixup_table, "a"
	.balign 4
	.long	\from - ., \to - ., \kind
	.popsection
	.endm

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
	fixup	1b, 3b, 0
	fixup	2b, 3b, 0

/* int peek32(const void *src, uint32_t *out) */
	.globl peek32
peek32:
4:	movl	(%rdi), %eax
	movl	%eax, (%rsi)
	xorl	%eax, %eax
	ret
	fixup	4b, 3b, 1

/* int peek64(const void *src, uint64_t *out) */
	.globl peek64
peek64:
5:	movq	(%rdi), %rax
	movq	%rax, (%rsi)
	xorl	%eax, %eax
	ret
	fixup	5b, 3b, 1

	.section .note.GNU-stack, "", @progbits
