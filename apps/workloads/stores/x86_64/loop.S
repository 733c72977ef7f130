/* See loop.h. */
	.text
	.globl	store_loop
store_loop:
	mov	%rdi, %rax
store:
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
store_\n:
	mov	%rdx, \n * 128(%rax)
	jmp	1f
1:
	.endr
	add	$8 * 128, %rax
	cmp	%rsi, %rax
	jne	store
	dec	%rdx
	jnz	store_loop
store_end:
	ret

	.section .rodata
	.balign	8
	.globl	store_sites
store_sites:
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	.quad	store_\n
	.endr
	.quad	store_end

	.section .note.GNU-stack, "", @progbits
