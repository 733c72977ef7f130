/* Accesses that may fault on purpose. */
#include "kernel/arch/fixup.inc"

	.text
/* int user_copy(void *dst, const void *src, size_t n): copies words if both are aligned, else
 * bytes */
	.globl	user_copy
user_copy:
	orr	x3, x0, x1
	tst	x3, #7
	b.ne	2f
	subs	x2, x2, #32
	b.lo	0f
7:	ldp	x5, x6, [x1]
8:	ldp	x7, x8, [x1, #16]
	add	x1, x1, #32
9:	stp	x5, x6, [x0]
14:	stp	x7, x8, [x0, #16]
	add	x0, x0, #32
	subs	x2, x2, #32
	b.hs	7b
0:	add	x2, x2, #32
1:	subs	x4, x2, #8
	b.lo	2f
10:	ldr	x5, [x1]
11:	str	x5, [x0]
	mov	x2, x4
	add	x1, x1, #8
	add	x0, x0, #8
	b	1b
2:	cbz	x2, 3f
12:	ldrb	w5, [x1]
13:	strb	w5, [x0]
	sub	x2, x2, #1
	add	x1, x1, #1
	add	x0, x0, #1
	b	2b
3:	mov	w0, wzr
	ret
4:	mov	w0, #-14	/* -EFAULT */
	ret
	fixup	7b, 4b, FIXUP_FAULT_IN
	fixup	8b, 4b, FIXUP_FAULT_IN
	fixup	9b, 4b, FIXUP_FAULT_IN
	fixup	14b, 4b, FIXUP_FAULT_IN
	fixup	10b, 4b, FIXUP_FAULT_IN
	fixup	11b, 4b, FIXUP_FAULT_IN
	fixup	12b, 4b, FIXUP_FAULT_IN
	fixup	13b, 4b, FIXUP_FAULT_IN

/* int peek32(const void *src, uint32_t *out) */
	.globl	peek32
peek32:
5:	ldr	w2, [x0]
	str	w2, [x1]
	mov	w0, wzr
	ret
	fixup	5b, 4b, FIXUP_NO_FAULT

/* int peek64(const void *src, uint64_t *out) */
	.globl	peek64
peek64:
6:	ldr	x2, [x0]
	str	x2, [x1]
	mov	w0, wzr
	ret
	fixup	6b, 4b, FIXUP_NO_FAULT

/* int user_swap32(uint32_t *at, uint32_t old, uint32_t new, uint32_t *seen) */
	.globl	user_swap32
user_swap32:
15:	ldaxr	w4, [x0]
	cmp	w4, w1
	b.ne	17f
16:	stlxr	w5, w2, [x0]
	cbnz	w5, 15b
17:	str	w4, [x3]
	mov	w0, wzr
	ret
	fixup	15b, 4b, FIXUP_FAULT_IN
	fixup	16b, 4b, FIXUP_FAULT_IN

	.section .note.GNU-stack, "", @progbits
