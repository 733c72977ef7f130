/*
 * The first instructions, for each way of starting:
 * - boot_pvh: 32-bit, paging off, %ebx = struct hvm_start_info (Xen
 *   public/arch-x86/hvm/start_info.h). QEMU's -kernel finds it by the ELF note below.
 * - boot_entry: 64-bit, the loader's page tables as kernel/arch/arch.h requires, %rdi = struct
 *   boot_info.
 *
 * The tables made here map the first 4 GB at 0 and DIRECT_BASE and the first 1 GB at KERNEL_BASE,
 * all writable and executable; arch_init_memory() replaces them.
 */
#include "kernel/boot/memory_need.h"

#define KERNEL_BASE 0xffffffff80000000
#define PA(symbol)  ((symbol) - KERNEL_BASE)

/* struct hvm_start_info, and the ranges of its memory map */
#define START_MAGIC     0x336ec578
#define START_VERSION   4
#define START_MAP       40
#define START_MAP_COUNT 48
#define RANGE_BASE      0
#define RANGE_SIZE      8
#define RANGE_TYPE      16
#define RANGE_BYTES     24
#define RANGE_USABLE    1

/* As in console.c, power.c and start_fail.c. */
#define COM1            0x3f8
#define COM1_STATUS     (COM1 + 5)
#define CAN_SEND        0x20
#define SEND_TRIES      1000000
#define DEBUG_EXIT_PORT 0xf4
#define DEBUG_EXIT_CODE (1 + 16)

#define SHORT_STACK 0x9000   /* unused at the start; never left again */
#define KIB_SHIFT   10
/* The end of memory: the part that firmware used before, which may overlap the image, and the part
 * of it that firmware keeps. */
#define FIRMWARE_WORKED 0x40000
/* One megabyte is in front of the image. */
#define ROOM            (FIRMWARE_WORKED + MEMORY_NEED_START - (1 << 20))
#define FIRMWARE_KEEPS  0x40000
/* After QEMU has loaded the image, SeaBIOS writes FIRMWARE_WORKED bytes at this distance from the
 * end of memory. */
#define FIRMWARE_WRITES (16 << 20)

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
	jmp	check_memory
enough_memory:
	/* Firmware may have used the image's memory before it was loaded: SeaBIOS does if memory
	 * ends 16 MB behind it. */
	movl	$PA(bss_start), %edi
	movl	$PA(image_end), %ecx
	subl	%edi, %ecx
	shrl	$2, %ecx
	xorl	%eax, %eax
	rep stosl

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
	ljmp	$8, $PA(long_mode)

/* Checks that memory is large enough, and that firmware has not written on loaded parts of the
 * image; what lies behind them is cleared (enough_memory). The image may extend beyond the end of
 * memory, with its stack, tables and variables, so this code uses none of them. Start information
 * that is invalid or has no map is left to x86_start_pvh(), which reports it. */
check_memory:
	cmpl	$START_MAGIC, (%ebx)
	jne	enough_memory
	cmpl	$1, START_VERSION(%ebx)
	jb	enough_memory
	movl	START_MAP(%ebx), %esi
	movl	START_MAP_COUNT(%ebx), %ecx
	xorl	%edi, %edi		/* the end of usable memory below 4 GB */
1:	jecxz	3f
	cmpl	$RANGE_USABLE, RANGE_TYPE(%esi)
	jne	2f
	cmpl	$0, RANGE_BASE + 4(%esi)
	jne	2f
	cmpl	$0, RANGE_SIZE + 4(%esi)
	jne	enough_memory
	movl	RANGE_BASE(%esi), %eax
	addl	RANGE_SIZE(%esi), %eax
	jc	enough_memory
	cmpl	%edi, %eax
	jbe	2f
	movl	%eax, %edi
2:	addl	$RANGE_BYTES, %esi
	decl	%ecx
	jmp	1b
3:	testl	%edi, %edi
	jz	enough_memory
	movl	$PA(image_end) + ROOM, %ebp	/* the end that is needed */
	cmpl	%ebp, %edi
	jb	4f
	cmpl	$PA(image_start) + FIRMWARE_WRITES - FIRMWARE_WORKED - FIRMWARE_KEEPS, %edi
	jbe	enough_memory
	movl	$PA(bss_start) + FIRMWARE_WRITES, %ebp
	cmpl	%ebp, %edi
	jae	enough_memory

4:	movl	$SHORT_STACK, %esp
	pushl	%ebp
	movl	$PA(short_begin), %esi
	call	put_text
	movl	%edi, %eax
	call	put_kib
	movl	$PA(short_middle), %esi
	call	put_text
	popl	%eax
	addl	$FIRMWARE_KEEPS, %eax
	call	put_kib
	movl	$PA(short_end), %esi
	call	put_text
	movl	$DEBUG_EXIT_CODE, %eax
	outl	%eax, $DEBUG_EXIT_PORT
5:	hlt
	jmp	5b

/* Writes the NUL-terminated text at %esi to COM1. */
put_text:
	lodsb
	testb	%al, %al
	jz	2f
	movb	%al, %bl
	movw	$COM1_STATUS, %dx
	movl	$SEND_TRIES, %ecx
1:	inb	%dx, %al
	testb	$CAN_SEND, %al
	loopz	1b
	movw	$COM1, %dx
	movb	%bl, %al
	outb	%al, %dx
	jmp	put_text
2:	ret

/* Writes %eax / 1 KB in decimal; the digits are a text on the stack. */
put_kib:
	shrl	$KIB_SHIFT, %eax
	movl	%esp, %ebp
	subl	$16, %esp
	leal	-1(%ebp), %esi
	movb	$0, (%esi)
	movl	$10, %ecx
1:	xorl	%edx, %edx
	divl	%ecx
	addb	$'0', %dl
	decl	%esi
	movb	%dl, (%esi)
	testl	%eax, %eax
	jnz	1b
	call	put_text
	movl	%ebp, %esp
	ret

short_begin:
	.asciz	"vigil: event=refused reason=memory kb="
short_middle:
	.asciz	" needed_kb="
short_end:
	.asciz	": too little memory for the image and the firmware\r\n"

	.code64
long_mode:
	movabsq	$1f, %rax
	jmp	*%rax
1:	movl	$16, %eax
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
