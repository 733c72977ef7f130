/*
 * Start of the machine's test guest: PVH entry and the start of the other CPUs, into 64-bit code in
 * the upper half of the address space. The first 4 GB of memory are mapped at 0 and, the first 1 GB
 * of them, at -2 GB, in 2 MB pages.
 */
#define BASE        0xffffffff80000000
#define PA(symbol)  ((symbol) - BASE)
#define START_PAGE  0x8000	/* where the other CPUs begin */

	.section .note.Xen, "a", @note
	.balign 4
	.long 4, 8, 18
	.asciz "Xen"
	.quad PA(start)

	.section .text.start, "ax"
	.code32
	.globl start
start:
	cli
	cld
	movl	$PA(pdpt) + 3, PA(pml4)
	movl	$PA(high_pdpt) + 3, PA(pml4) + 511 * 8
	movl	$PA(pd) + 3, PA(high_pdpt) + 510 * 8
	movl	$PA(pd) + 3, %eax
	movl	$PA(pdpt), %edi
1:	movl	%eax, (%edi)
	addl	$4096, %eax
	addl	$8, %edi
	cmpl	$PA(pdpt) + 4 * 8, %edi
	jb	1b
	movl	$PA(pd), %edi
	movl	$0x183, %eax		/* present, writable, 2 MB, global */
2:	movl	%eax, (%edi)
	addl	$8, %edi
	addl	$0x200000, %eax
	jnc	2b
	/* The start page: trampoline code, copied below 1 MB. */
	movl	$PA(trampoline), %esi
	movl	$START_PAGE, %edi
	movl	$trampoline_end - trampoline, %ecx
	rep movsb
	movl	$PA(boot_stack_end), %esp

enable:	/* %esp = top of this CPU's stack, physical */
	movl	$PA(pml4), %eax
	movl	%eax, %cr3
	movl	$0x6a0, %eax		/* CR4: PAE PGE OSFXSR OSXMMEXCPT */
	movl	%eax, %cr4
	movl	$0xc0000080, %ecx	/* EFER.LME */
	movl	$0x100, %eax
	xorl	%edx, %edx
	wrmsr
	movl	$0x80010023, %eax	/* CR0: PG WP NE MP PE */
	movl	%eax, %cr0
	lgdt	PA(gdt_pointer)
	ljmp	$8, $PA(3f)
	.code64
3:	movabsq	$4f, %rax
	jmp	*%rax
4:	movl	$16, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	movl	%esp, %esp
	movabsq	$BASE, %rax
	addq	%rax, %rsp
	xorl	%ebp, %ebp
	call	guest_main
	ud2

	/* 16-bit code at START_PAGE. */
	.code16
trampoline:
	cli
	xorw	%ax, %ax
	movw	%ax, %ds
	lgdtl	START_PAGE + trampoline_pointer - trampoline
	movl	$0x23, %eax
	movl	%eax, %cr0
	ljmpl	$24, $PA(secondary)
	.balign 8
trampoline_pointer:
	.word	5 * 8 - 1
	.long	PA(gdt)
trampoline_end:

	.code32
secondary:
	movl	$32, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	movl	PA(secondary_stack), %esp
	jmp	enable

	.section .rodata
	.balign 8
gdt:	.quad 0, 0x00af9b000000ffff, 0x00cf93000000ffff, 0x00cf9b000000ffff, 0x00cf93000000ffff
gdt_pointer:
	.word	. - gdt - 1
	.long	PA(gdt)

	.text
	.code64
	/* Interrupt entries: one that counts, and one for interrupts that must not happen. */
	.macro isr name, function
	.globl \name
\name:
	pushq	%rax
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	call	\function
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%rax
	iretq
	.endm
	isr isr_interrupt, guest_interrupt
	isr isr_fault, guest_fault

	.globl isr_empty
isr_empty:
	iretq

	/* Code in the lower half, which is user mode to the machine. Spins %rdi times. */
	.section .text.low, "ax"
	.globl low_spin
low_spin:
	decq	%rdi
	jnz	low_spin
	ret

	.bss
	.balign 4096
pml4:	.skip 4096
pdpt:	.skip 4096
high_pdpt:
	.skip 4096
pd:	.skip 4 * 4096
	.skip 16384
boot_stack_end:
	.section .note.GNU-stack, "", @progbits
