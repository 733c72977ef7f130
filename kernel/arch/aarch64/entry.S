/*
 * All entries into the kernel and exits from it: exceptions, interrupts, system calls; and the
 * switch between threads.
 *
 * The kernel runs on SP_EL1, which at each return to user mode is the end of the thread's stack. An
 * exception in the kernel may come from an overflowed stack, where nothing can be saved. Stacks are
 * in slots of 64 KB, of which the first page is not mapped (KSTACK_SLOT in kernel/arch/arch.h), so
 * bits of the stack pointer show an overflow. Then the CPU's emergency stack is used, and there is
 * no return.
 */
#include "sysreg.h"

/* struct arch_frame */
#define F_FP     232
#define F_LR     240
#define F_SP     248
#define F_PC     256
#define F_ESR    272
#define F_RECORD 288
#define F_SIZE   304

#define CPU_EMERGENCY_TOP 0 /* offset in struct arch_cpu */

	/* Saves the rest of the frame; x0 and x1 are in it, \sp is the interrupted stack
	 * pointer. */
	.macro save_registers
	save_scratch
	save_preserved
	str	x29, [sp, #F_FP]
	.endm

	/* Accesses the registers in the frame; op is stp or ldp. */
	.macro scratch op
	\op	x2, x3, [sp, #16]
	\op	x4, x5, [sp, #32]
	\op	x6, x7, [sp, #48]
	\op	x8, x9, [sp, #64]
	\op	x10, x11, [sp, #80]
	\op	x12, x13, [sp, #96]
	\op	x14, x15, [sp, #112]
	\op	x16, x17, [sp, #128]
	.endm
	.macro preserved op
	\op	x20, x21, [sp, #160]
	\op	x22, x23, [sp, #176]
	\op	x24, x25, [sp, #192]
	\op	x26, x27, [sp, #208]
	.endm

	/* Saves the registers that functions may change, but not x30. */
	.macro save_scratch
	scratch	stp
	stp	x18, x19, [sp, #144]
	.endm

	/* Loads x0 to x17. */
	.macro load_scratch
	ldp	x0, x1, [sp]
	scratch	ldp
	.endm

	/* Saves the registers that functions preserve, but not x19 and x29. */
	.macro save_preserved
	preserved stp
	str	x28, [sp, #224]
	.endm

	/* Calls a C function with the frame. \link and the interrupted address look like a call,
	 * which continues backtraces; x9 is the interrupted stack pointer. */
	.macro call_with_frame function, link, masked
	stp	x30, x9, [sp, #F_LR]
	mrs	x10, elr_el1
	mrs	x11, spsr_el1
	stp	x10, x11, [sp, #F_PC]
	mrs	x12, esr_el1
	mrs	x13, far_el1
	stp	x12, x13, [sp, #F_ESR]
	stp	\link, x10, [sp, #F_RECORD]
	add	x29, sp, #F_RECORD
	.if	\masked == 0
	msr	daifclr, #5
	.endif
	mov	x0, sp
	bl	\function
	.endm

	/*
	 * Handles an interrupt; x0 and x1 are saved, x9 is the interrupted stack pointer. The
	 * counters' interrupts are frequent, wake no thread and need only the part of the frame
	 * that is saved first; no work is done before the interrupted code continues. FIQs and
	 * system errors stay masked until then.
	 */
	.macro interrupt link
	stp	x30, x9, [sp, #F_LR]
	str	x29, [sp, #F_FP]
	mrs	x10, elr_el1
	mrs	x11, spsr_el1
	stp	x10, x11, [sp, #F_PC]
	stp	\link, x10, [sp, #F_RECORD]
	add	x29, sp, #F_RECORD
	mov	x0, sp
	bl	gic_quick_interrupt
	cbnz	x0, 1f
	ldp	x10, x11, [sp, #F_PC]
	msr	elr_el1, x10
	msr	spsr_el1, x11
	ldr	x29, [sp, #F_FP]
	ldr	x30, [sp, #F_LR]
	load_scratch
	ldr	x18, [sp, #144]
	add	sp, sp, #F_SIZE
	eret
1:	save_preserved
	mrs	x12, esr_el1
	mrs	x13, far_el1
	stp	x12, x13, [sp, #F_ESR]
	msr	daifclr, #5
	mov	x1, x0
	mov	x0, sp
	bl	trap_irq
	b	trap_return
	.endm

	/* masked: 1: FIQs and system errors stay masked, as interrupts do. */
	.macro from_kernel function, masked=0
	stp	x0, x1, [sp]
	save_registers
	add	x9, sp, #F_SIZE
	call_with_frame \function, x29, \masked
	b	trap_return
	.endm

	.macro from_user function, masked=0
	sub	sp, sp, #F_SIZE
	stp	x0, x1, [sp]
	save_registers
	mrs	x9, sp_el0
	call_with_frame \function, xzr, \masked
	b	trap_return
	.endm

	/* Swaps sums and differences of SP and x0 to test SP without a free register. */
	.macro kernel_vector label
	.balign	128
	sub	sp, sp, #F_SIZE
	add	sp, sp, x0
	sub	x0, sp, x0
	tst	x0, #0xf000
	b.eq	overflow
	sub	x0, sp, x0
	sub	sp, sp, x0
	b	\label
	.endm

	.macro vector label
	.balign	128
	b	\label
	.endm

	.text
	.balign	2048
	.globl	vectors
vectors:
	vector	wrong_stack
	vector	wrong_stack
	vector	wrong_stack
	vector	wrong_stack
	kernel_vector kernel_sync
	kernel_vector kernel_irq
	kernel_vector kernel_fiq
	kernel_vector kernel_error
	vector	user_sync
	vector	user_irq
	vector	user_fiq
	vector	user_error
	vector	user_32
	vector	user_32
	vector	user_32
	vector	user_32

kernel_sync:
	from_kernel trap_kernel
kernel_irq:
	stp	x0, x1, [sp]
	save_scratch
	add	x9, sp, #F_SIZE
	interrupt x29
kernel_fiq:
	from_kernel trap_fiq, masked=1
kernel_error:
	from_kernel trap_error, masked=1
user_sync:
	from_user trap_user
user_irq:
	sub	sp, sp, #F_SIZE
	stp	x0, x1, [sp]
	save_scratch
	mrs	x9, sp_el0
	interrupt xzr
user_fiq:
	from_user trap_fiq, masked=1
user_error:
	from_user trap_error, masked=1
/* Programs are entered in 64-bit state and cannot leave it; the kernel never selects SP_EL0. */
user_32:
	from_user trap_impossible
wrong_stack:
	sub	sp, sp, #F_SIZE
	from_kernel trap_impossible

/* x0 is SP, SP is SP + x0. User mode's thread pointers are overwritten; they are no longer
 * needed. */
overflow:
	msr	tpidr_el0, x0
	sub	x0, sp, x0
	msr	tpidrro_el0, x0
	mrs	x0, tpidr_el1
	ldr	x0, [x0, #CPU_EMERGENCY_TOP]
	sub	sp, x0, #F_SIZE
	mrs	x0, tpidrro_el0
	stp	x0, x1, [sp]
	save_registers
	mrs	x9, tpidr_el0
	add	x9, x9, #F_SIZE
	call_with_frame trap_overflow, x29, 1
	udf	#0

/* Returns from an exception. Interrupts masked; all work before a return to user mode is done. */
	.globl	trap_return
trap_return:
	msr	daifset, #15
	ldp	x30, x9, [sp, #F_LR]
	ldp	x10, x11, [sp, #F_PC]
	msr	elr_el1, x10
	msr	spsr_el1, x11
	tst	x11, #SPSR_MODE
	b.ne	1f
	msr	sp_el0, x9
1:	load_scratch
	ldp	x18, x19, [sp, #144]
	preserved ldp
	ldp	x28, x29, [sp, #224]
	add	sp, sp, #F_SIZE
	eret

	/* Accesses the registers that a thread keeps while another one runs; op is stp or ldp. */
	.macro context op
	\op	x19, x20, [sp]
	\op	x21, x22, [sp, #16]
	\op	x23, x24, [sp, #32]
	\op	x25, x26, [sp, #48]
	\op	x27, x28, [sp, #64]
	\op	x29, x30, [sp, #80]
	.endm

/* void context_switch(uint64_t *out_sp, uint64_t in_sp) */
	.globl	context_switch
context_switch:
	sub	sp, sp, #96
	context	stp
	mov	x9, sp
	str	x9, [x0]
	mov	sp, x1
	context	ldp
	add	sp, sp, #96
	ret

/* A new context returns here from its first switch: entry in x19, argument in x20. */
	.globl	context_start
context_start:
	mov	x29, xzr
	mov	x30, xzr
	mov	x0, x20
	blr	x19
	udf	#0

/* void user_enter(struct arch_frame *frame): leaves the kernel through the frame at the end of the
 * thread's stack. */
	.globl	user_enter
user_enter:
	mov	sp, x0
	b	trap_return

	.section .note.GNU-stack, "", @progbits
