/*
 * All entries into the kernel and exits from it: exceptions, interrupts, system calls; and the
 * switch between threads.
 *
 * GS: in the kernel GS.base is this CPU's struct cpu; in user mode it is the user's, which can be
 * any value (FSGSBASE). So the privilege of the interrupted code segment decides about SWAPGS. NMI,
 * #DF, #MC and kernel #DB can come between the two states: they save GS.base, load it from above
 * their own stack, and restore it.
 */
#define MSR_GS_BASE   0xc0000101
#define SEL_USER_DATA 0x23
#define SEL_USER_CODE 0x2b
#define VEC_SYSCALL   256
#define VEC_PMU       0xf4

/* struct arch_frame */
#define F_R11    32
#define F_R10    40
#define F_R9     48
#define F_R8     56
#define F_RBP    64
#define F_RDI    72
#define F_RSI    80
#define F_RDX    88
#define F_RCX    96
#define F_RAX    112
#define F_RIP    136
#define F_CS     144
#define F_RFLAGS 152
#define F_RSP    160
#define F_SIZE   176

	.macro push_registers
	pushq	%rax
	pushq	%rbx
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%rbp
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	.endm

	/* Pops the registers and drops vector and error code; the rest is what IRETQ needs. */
	.macro pop_registers
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rbp
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%rbx
	popq	%rax
	addq	$16, %rsp
	.endm

	/* Calls a C function with the frame. A link that looks like a call from the interrupted
	 * code continues backtraces. */
	.macro call_with_frame function
	movq	%rsp, %rdi
	pushq	F_RIP(%rsp)
	pushq	%rbp
	movq	%rsp, %rbp
	cld
	call	\function
	popq	%rbp
	addq	$8, %rsp
	.endm

	.text
	.balign 4096
	.globl vector_stubs
vector_stubs:
vector = 0
	.rept 256
	.balign 16
	.if !(vector == 8 || (vector >= 10 && vector <= 14) || vector == 17 || vector == 21 || \
	      vector == 29 || vector == 30)
	pushq	$0
	.endif
	pushq	$vector
	.if vector == 2 || vector == 8 || vector == 18
	jmp	trap_paranoid
	.elseif vector == 1
	jmp	trap_debug
	.elseif vector == VEC_PMU
	jmp	trap_pmu
	.else
	jmp	trap_common
	.endif
	vector = vector + 1
	.endr

	.balign 16
trap_common:
	testb	$3, F_CS - 120(%rsp)
	jz	trap_in_kernel
	swapgs
trap_in_kernel:
	push_registers
	call_with_frame trap_enter
	.globl trap_return
trap_return:
	testb	$3, F_CS(%rsp)
	jz	2f
	swapgs
2:	pop_registers
	iretq

/* The counters' interrupt, which is frequent and wakes no thread: no work is done before the return
 * to user mode, and the frame lacks the registers that functions preserve, but for the link. */
	.section .text.HOT, "ax", @progbits
trap_pmu:
	testb	$3, F_CS - 120(%rsp)
	jz	1f
	swapgs
1:	subq	$120, %rsp
	movq	%rax, F_RAX(%rsp)
	movq	%rcx, F_RCX(%rsp)
	movq	%rdx, F_RDX(%rsp)
	movq	%rsi, F_RSI(%rsp)
	movq	%rdi, F_RDI(%rsp)
	movq	%r8, F_R8(%rsp)
	movq	%r9, F_R9(%rsp)
	movq	%r10, F_R10(%rsp)
	movq	%r11, F_R11(%rsp)
	movq	%rbp, F_RBP(%rsp)
	call_with_frame trap_pmu_enter
	testb	$3, F_CS(%rsp)
	jz	2f
	swapgs
2:	movq	F_RAX(%rsp), %rax
	movq	F_RCX(%rsp), %rcx
	movq	F_RDX(%rsp), %rdx
	movq	F_RSI(%rsp), %rsi
	movq	F_RDI(%rsp), %rdi
	movq	F_R8(%rsp), %r8
	movq	F_R9(%rsp), %r9
	movq	F_R10(%rsp), %r10
	movq	F_R11(%rsp), %r11
	addq	$136, %rsp
	iretq
	.text

/* #DB from user mode is handled as other exceptions, on the thread's stack. */
trap_debug:
	testb	$3, F_CS - 120(%rsp)
	jz	trap_paranoid
	swapgs
	pushq	%rdi
	movq	%rsp, %rdi
	movq	%gs:8, %rsp
	pushq	56(%rdi)
	pushq	48(%rdi)
	pushq	40(%rdi)
	pushq	32(%rdi)
	pushq	24(%rdi)
	pushq	16(%rdi)
	pushq	8(%rdi)
	movq	(%rdi), %rdi
	jmp	trap_in_kernel

trap_paranoid:
	push_registers
	movl	$MSR_GS_BASE, %ecx
	rdmsr
	shlq	$32, %rdx
	leaq	(%rax, %rdx), %rbx
	movq	F_SIZE(%rsp), %rax
	movq	%rax, %rdx
	shrq	$32, %rdx
	wrmsr
	call_with_frame trap_paranoid_enter
	movl	$MSR_GS_BASE, %ecx
	movq	%rbx, %rax
	movq	%rbx, %rdx
	shrq	$32, %rdx
	wrmsr
	pop_registers
	iretq

	.globl syscall_entry
	.balign 16
syscall_entry:
	swapgs
	movq	%rsp, %gs:16
	movq	%gs:8, %rsp
	pushq	$SEL_USER_DATA
	pushq	%gs:16
	pushq	%r11
	pushq	$SEL_USER_CODE
	pushq	%rcx
	pushq	$0
	pushq	$VEC_SYSCALL
	push_registers
	call_with_frame syscall_enter
	/* SYSRET takes RIP and RFLAGS from RCX and R11, which a new context may not have in them,
	 * and faults in the kernel if RIP is not canonical. */
	movq	F_RIP(%rsp), %rcx
	movq	%rcx, %rax
	shrq	$47, %rax
	jnz	trap_return
	cmpq	F_RCX(%rsp), %rcx
	jne	trap_return
	movq	F_RFLAGS(%rsp), %r11
	cmpq	F_R11(%rsp), %r11
	jne	trap_return
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	addq	$8, %rsp
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rbp
	popq	%rdi
	popq	%rsi
	popq	%rdx
	addq	$8, %rsp
	popq	%rbx
	popq	%rax
	movq	F_RSP - 120(%rsp), %rsp
	swapgs
	sysretq

/* void context_switch(uint64_t *out_sp, uint64_t in_sp) */
	.globl context_switch
	.balign 16
context_switch:
	pushq	%rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	movq	%rsp, (%rdi)
	movq	%rsi, %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	ret

/* A new context returns here from its first switch: entry in %rbx, argument in %r12. */
	.globl context_start
context_start:
	xorl	%ebp, %ebp
	movq	%r12, %rdi
	call	*%rbx
	ud2

/* void user_enter(const struct arch_frame *frame): leaves the kernel through a frame that was
 * filled at the top of the stack. */
	.globl user_enter
user_enter:
	movq	%rdi, %rsp
	jmp	trap_return

	.section .note.GNU-stack, "", @progbits
