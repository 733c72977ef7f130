/* Floating-point and vector state of user mode; the kernel itself uses none. Layout: FPU_AREA_SIZE
 * in arch_types.h. */
	.arch_extension fp
	.arch_extension simd
	.text

	.macro each_pair op
	\op	q0, q1, [x0]
	\op	q2, q3, [x0, #32]
	\op	q4, q5, [x0, #64]
	\op	q6, q7, [x0, #96]
	\op	q8, q9, [x0, #128]
	\op	q10, q11, [x0, #160]
	\op	q12, q13, [x0, #192]
	\op	q14, q15, [x0, #224]
	\op	q16, q17, [x0, #256]
	\op	q18, q19, [x0, #288]
	\op	q20, q21, [x0, #320]
	\op	q22, q23, [x0, #352]
	\op	q24, q25, [x0, #384]
	\op	q26, q27, [x0, #416]
	\op	q28, q29, [x0, #448]
	\op	q30, q31, [x0, #480]
	.endm

/* void fpu_save(void *area) */
	.globl	fpu_save
fpu_save:
	each_pair stp
	mrs	x1, fpsr
	mrs	x2, fpcr
	add	x0, x0, #512
	stp	x1, x2, [x0]
	ret

/* void fpu_restore(const void *area) */
	.globl	fpu_restore
fpu_restore:
	each_pair ldp
	add	x0, x0, #512
	ldp	x1, x2, [x0]
	msr	fpsr, x1
	msr	fpcr, x2
	ret

	.section .note.GNU-stack, "", @progbits
