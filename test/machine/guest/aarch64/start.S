/*
 * Start of the machine's test guest on AArch64: EL1, MMU off, from QEMU's ELF loader for the first
 * CPU and from PSCI CPU_ON for the others. The first 512 GB of addresses are mapped where they are
 * (the first and everything from 256 GB on, where "virt" has its devices, as device memory) and the
 * first GB of RAM at -2 GB, in blocks of 1 GB.
 */
#define RAM  0x40000000
#define BASE (0xffffffff80000000 - RAM)

/* DDI 0487, D8.3: block descriptors; attribute 0 of MAIR is Device-nGnRnE, 1 is Normal
 * write-back. */
#define BLOCK_DEVICE 0x401	/* AF */
#define BLOCK_NORMAL 0x705	/* AF, inner shareable, attribute 1 */
#define MAIR         0xff00
/* T0SZ T1SZ 16, tables write-back and inner shareable, 4 KB granules, 42-bit physical addresses. */
#define TCR          0x3b5103510

	.macro physical register, symbol
	adrp	\register, \symbol
	add	\register, \register, :lo12:\symbol
	.endm

	.section .text.start, "ax"
	.globl start
start:
	msr	daifset, #15
	physical x1, tables		/* low L0 */
	add	x2, x1, #4096		/* low L1 */
	add	x3, x1, #8192		/* high L0 */
	add	x4, x1, #12288		/* high L1 */
	orr	x5, x2, #3
	str	x5, [x1]
	orr	x5, x4, #3
	str	x5, [x3, #511 * 8]
	mov	x6, #0
	mov	x7, #RAM		/* 1 GB */
1:	mov	x5, #BLOCK_NORMAL
	cbz	x6, 2f
	tbz	x6, #38, 3f
2:	mov	x5, #BLOCK_DEVICE
3:	orr	x5, x5, x6
	str	x5, [x2], #8
	add	x6, x6, x7
	tbz	x6, #39, 1b
	mov	x5, #BLOCK_NORMAL
	orr	x5, x5, x7
	str	x5, [x4, #510 * 8]
	ldr	x0, =boot_stack_end

	/* x0 = this CPU's stack, virtual. */
	.globl enable
enable:
	physical x1, tables
	add	x3, x1, #8192
	msr	ttbr0_el1, x1
	msr	ttbr1_el1, x3
	ldr	x5, =MAIR
	msr	mair_el1, x5
	ldr	x5, =TCR
	msr	tcr_el1, x5
	dsb	sy
	tlbi	vmalle1
	dsb	nsh
	isb
	mrs	x5, sctlr_el1
	mov	x6, #0x1005		/* I, C, M */
	orr	x5, x5, x6
	msr	sctlr_el1, x5
	isb
	ldr	x5, =vectors
	msr	vbar_el1, x5
	mov	sp, x0
	mov	x29, #0
	ldr	x5, =guest_main
	blr	x5
	brk	#0
	.ltorg

	.text
	/* Exceptions that must not happen: prints which, where, and the address. */
	.macro bad
	.balign 128
	mrs	x0, esr_el1
	mrs	x1, elr_el1
	mrs	x2, far_el1
	b	guest_fault
	.endm

	.balign 2048
vectors:
	.rept 4
	bad
	.endr
	/* EL1 with SP_EL1: SVC returns at once. */
	.balign 128
	stp	x0, x1, [sp, #-16]!
	mrs	x0, esr_el1
	lsr	x1, x0, #26
	cmp	x1, #0x15
	b.ne	1f
	ldp	x0, x1, [sp], #16
	eret
1:	mrs	x1, elr_el1
	mrs	x2, far_el1
	b	guest_fault
	.balign 128
	stp	x0, x1, [sp, #-176]!
	stp	x2, x3, [sp, #16]
	stp	x4, x5, [sp, #32]
	stp	x6, x7, [sp, #48]
	stp	x8, x9, [sp, #64]
	stp	x10, x11, [sp, #80]
	stp	x12, x13, [sp, #96]
	stp	x14, x15, [sp, #112]
	stp	x16, x17, [sp, #128]
	stp	x18, x29, [sp, #144]
	str	x30, [sp, #160]
	bl	guest_interrupt
	b	interrupt_return
	.rept 10
	bad
	.endr

interrupt_return:
	ldr	x30, [sp, #160]
	ldp	x18, x29, [sp, #144]
	ldp	x16, x17, [sp, #128]
	ldp	x14, x15, [sp, #112]
	ldp	x12, x13, [sp, #96]
	ldp	x10, x11, [sp, #80]
	ldp	x8, x9, [sp, #64]
	ldp	x6, x7, [sp, #48]
	ldp	x4, x5, [sp, #32]
	ldp	x2, x3, [sp, #16]
	ldp	x0, x1, [sp], #176
	eret

	/* Code in the lower half, which is user mode to the machine. Spins x0 times. */
	.section .text.low, "ax"
	.globl low_spin
low_spin:
	subs	x0, x0, #1
	b.ne	low_spin
	ret

	.bss
	.balign 4096
tables:	.skip 4 * 4096
	.skip 16384
boot_stack_end:
	.section .note.GNU-stack, "", @progbits
