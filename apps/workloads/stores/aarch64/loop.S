/* See loop.h. */
	.text
	.globl	store_loop
store_loop:
	mov	x3, x0
store:
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
store_\n:
	str	x2, [x3, \n * 128]
	b	1f
1:
	.endr
	add	x3, x3, 8 * 128
	cmp	x3, x1
	b.ne	store
	subs	x2, x2, 1
	b.ne	store_loop
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
