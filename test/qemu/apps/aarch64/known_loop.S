/* See known_loop.h. */
	.text
	.globl	known_loop
known_loop:
	subs	x0, x0, #1
	b.ne	known_loop
	ret

	.section .note.GNU-stack, "", @progbits
