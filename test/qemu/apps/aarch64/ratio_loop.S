/* See ratio.c: two functions with the same loop. */
	.text
	.macro	loop_function name
	.globl	\name
	.type	\name, %function
	.balign	64
\name:
	subs	x0, x0, #1
	b.ne	\name
	ret
	.size	\name, . - \name
	.endm

	loop_function three_parts
	loop_function one_part

	.section .note.GNU-stack, "", @progbits
