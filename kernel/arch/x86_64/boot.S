/*
 * The first instructions, by either way of starting.
 *   boot_pvh    32-bit, paging off, %ebx = struct hvm_start_info (Xen public/arch-x86/hvm/start_info.h); named by the
 *               ELF note below, which QEMU's -kernel looks for.
 *   boot_entry  64-bit, the loader's page tables already as kernel/arch/arch.h demands, %rdi = struct boot_info.
 * The tables made here map the first 4 GB at 0 and DIRECT_BASE and the first 1 GB at KERNEL_BASE, all writable and
 * executable; arch_init_memory replaces them.
 */
#define KERNEL_BASE 0xffffffff80000000
#define PA(symbol)  ((symbol) - KERNEL_BASE)

#define PTE_TABLE 0x003 /* present, writable */
#define PTE_2MB   0x083 /* and a leaf        */

	.section .note.Xen, "a", @note
	.balign 4
	.long 4, 8, 18			/* XEN_ELFNOTE_PHYS32_ENTRY */
	.asciz "Xen"
	.quad PA(boot_pvh)

	.section .text.boot, "ax"
	.code32
	.globl boot_pvh
boot_pvh:
	cli
	cld
	movl	$PA(boot_stack_top), %esp

	movl	$PA(boot_pdpt) + PTE_TABLE, %eax
	movl	%eax, PA(boot_pml4)
	movl	%eax, PA(boot_pml4) + 256 * 8
	movl	$PA(boot_kernel_pdpt) + PTE_TABLE, PA(boot_pml4) + 511 * 8
	movl	$PA(boot_pd) + PTE_TABLE, %eax
	movl	%eax, PA(boot_kernel_pdpt) + 510 * 8
	movl	$PA(boot_pdpt), %edi
1:	movl	%eax, (%edi)
	addl	$4096, %eax
	addl	$8, %edi
	cmpl	$PA(boot_pdpt) + 4 * 8, %edi
	jb	1b
	movl	$PA(boot_pd), %edi
	movl	$PTE_2MB, %eax
2:	movl	%eax, (%edi)
	addl	$8, %edi
	addl	$0x200000, %eax
	jnc	2b

	movl	$PA(boot_pml4), %eax
	movl	%eax, %cr3
	movl	$0x20, %eax		/* CR4.PAE */
	movl	%eax, %cr4
	movl	$0xc0000080, %ecx	/* EFER: NXE, LME */
	movl	$0x900, %eax
	xorl	%edx, %edx
	wrmsr
	movl	$0x80010023, %eax	/* CR0: PG WP NE MP PE */
	movl	%eax, %cr0
	lgdt	PA(boot_gdt_pointer)
	ljmp	$8, $PA(3f)

	.code64
3:	movabsq	$4f, %rax
	jmp	*%rax
4:	movl	$16, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	movq	$boot_stack_top, %rsp
	xorl	%ebp, %ebp
	movl	%ebx, %edi
	call	x86_start_pvh
	ud2

	.globl boot_entry
boot_entry:
	cli
	cld
	movq	$boot_stack_top, %rsp
	xorl	%ebp, %ebp
	call	x86_start
	ud2

	.section .rodata
	.balign 8
boot_gdt:
	.quad 0, 0x00af9b000000ffff, 0x00cf93000000ffff
boot_gdt_pointer:
	.word . - boot_gdt - 1
	.long PA(boot_gdt)

	.bss
	.balign 4096
boot_pml4:
	.skip 4096
boot_pdpt:
	.skip 4096
boot_kernel_pdpt:
	.skip 4096
boot_pd:
	.skip 4 * 4096

	.section .note.GNU-stack, "", @progbits
