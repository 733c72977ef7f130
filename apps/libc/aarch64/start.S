/* The entry of a program and of a thread, and the return from a signal's handler (libc.h). A frame
 * record of zeros ends backtraces (AAPCS64, 6.4.6). */
	.globl	_start, __vigil_clone, __vigil_restore
	.text
_start:
	mov	x0, sp
	mov	x29, xzr
	mov	x30, xzr
	bl	__vigil_libc_start
	udf	#0

/* The parent gets the call's result. */
__vigil_clone:
	.cfi_startproc
	mov	x8, x4
	mov	x4, x2
	svc	#0
	cbz	x0, 1f
	ret
1:	.cfi_undefined x30
	mov	x29, xzr
	mov	x30, xzr
	bl	__vigil_thread_main
	udf	#0
	.cfi_endproc

__vigil_restore:
	mov	x8, #139	/* rt_sigreturn */
	svc	#0
	udf	#0
	.section .note.GNU-stack,"",%progbits
