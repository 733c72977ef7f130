/*
 * The first code of a CPU that is started: real mode, in a page below 1 MB that this code was
 * copied to (%cs = page / 16). It loads the page tables of smp.c, which identity-map this page and
 * map the kernel, and switches directly from real mode to 64-bit mode.
 */
	.section .rodata
	.balign 16
	.globl trampoline_start, trampoline_root, trampoline_stack, trampoline_cpu, trampoline_end
	.code16
trampoline_start:
	cli
	cld
	movw	%cs, %ax
	movw	%ax, %ds
	movl	$0x20, %eax		/* CR4.PAE */
	movl	%eax, %cr4
	movl	trampoline_root - trampoline_start, %eax
	movl	%eax, %cr3
	movl	$0xc0000080, %ecx	/* EFER: NXE, LME */
	movl	$0x900, %eax
	xorl	%edx, %edx
	wrmsr
	movl	%cs, %eax
	shll	$4, %eax
	movl	%eax, %ebx
	addl	%eax, gdt_pointer + 2 - trampoline_start
	addl	%eax, far_pointer - trampoline_start
	movl	$0x80010023, %eax	/* CR0: PG WP NE MP PE */
	lgdtl	gdt_pointer - trampoline_start
	movl	%eax, %cr0
	ljmpl	*far_pointer - trampoline_start

	.code64
long_mode:
	movl	$16, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	movq	trampoline_stack(%rip), %rsp
	movq	trampoline_cpu(%rip), %rdi
	xorl	%ebp, %ebp
	movabsq	$smp_secondary_start, %rax
	call	*%rax
	ud2

	.balign 8
gdt:
	.quad 0, 0x00af9b000000ffff, 0x00cf93000000ffff
gdt_pointer:
	.word . - gdt - 1
	.long gdt - trampoline_start
far_pointer:
	.long long_mode - trampoline_start
	.word 8
	.balign 8
trampoline_root:
	.quad 0
trampoline_stack:
	.quad 0
trampoline_cpu:
	.quad 0
trampoline_end:

	.section .note.GNU-stack, "", @progbits
