/*
 * The first instructions of the boot CPU and of the others. All are entered at their physical
 * address, at EL2 or EL1, MMU and data cache off, interrupts masked, the image clean to the point
 * of coherency:
 * - boot_image: by the Image header, as Linux is (Linux, Documentation/arch/arm64/booting.rst); x0
 *   = device tree
 * - boot_entry: by a loader that passes boot_info; x0 = struct boot_info
 * - secondary_entry: by PSCI CPU_ON; x0 = struct secondary_start (smp.h)
 *
 * boot.h describes the tables made here; arch_init_memory() replaces them.
 */
#include "boot.h"
#include "smp.h"
#include "sysreg.h"

#define KERNEL_BASE  0xffffffff80000000
#define DIRECT_BASE  0xffff800000000000
#define IMAGE_OFFSET 0x200000
#define LARGE_PAGE   0x200000
#define TABLE_SIZE   4096

/* Descriptors (DDI 0487, D8.3): a block of normal memory, accessed, inner shareable, not executable
 * by EL0. */
#define PTE_TABLE  3
#define PTE_BLOCK  0x0040000000000701
#define PTE_RO     0x80
#define PTE_PXN    0x0020000000000000

/* EL1 is AArch64; pointer authentication (API, APK), which EL0 may use, does not trap to EL2. Bits
 * of missing features are ignored. */
#define HCR_KERNEL 0x0000030080000000
#define CPTR_RES1  0x33ff
/* E2PB: EL1 owns the profiling buffer, which uses EL1's translations; nothing of it traps. PA and
 * PCT in PMSCR_EL2: records may have physical addresses and the time of either counter, as
 * PMSCR_EL1 says; EL2 itself is not sampled. */
#define MDCR_E2PB   0x3000
#define PMSCR_ALLOW 0x50
#define ICC_SRE_EL2 S3_4_C12_C9_5
#define ICH_HCR_EL2 S3_4_C12_C11_0

	.section .text.boot, "ax"
	b	boot_image
	.long	0
	.quad	0		/* offset from a multiple of 2 MB */
	.quad	image_size
	.quad	0xa		/* little endian, 4 KB pages, anywhere in memory */
	.quad	0, 0, 0
	.ascii	"ARM\x64"
	.long	0

/* dst = the present address of a symbol. */
	.macro here dst, symbol
	adrp	\dst, \symbol
	add	\dst, \dst, :lo12:\symbol
	.endm

	.globl	boot_entry
boot_entry:
	mov	w21, #1
	b	1f
boot_image:
	mov	w21, wzr
1:	msr	daifset, #15
	mov	x20, x0
	bl	enter_el1

	/* Clears .bss, which is not part of the file. */
	here	x0, bss_start
	here	x1, image_end
2:	stp	xzr, xzr, [x0], #16
	cmp	x0, x1
	b.lo	2b

	/* x22: image; x23: root of the upper half; x24: root of the lower half; x25: the next free
	 * table. */
	here	x22, image_start
	here	x23, boot_tables
	add	x24, x23, #TABLE_SIZE
	add	x25, x24, #TABLE_SIZE
	here	x26, image_end
	mov	x0, x23
	ldr	x1, =KERNEL_BASE + IMAGE_OFFSET
	mov	x2, x22
	ldr	x3, =PTE_BLOCK
3:	bl	map_block
	add	x1, x1, #LARGE_PAGE
	add	x2, x2, #LARGE_PAGE
	cmp	x2, x26
	b.lo	3b
	mov	x0, x24
	mov	x1, x22
	mov	x2, x22
	ldr	x3, =PTE_BLOCK | PTE_RO
	bl	map_block
	mov	x0, x23
	and	x2, x23, #~(LARGE_PAGE - 1)
	ldr	x1, =DIRECT_BASE
	add	x1, x1, x2
	ldr	x3, =PTE_BLOCK | PTE_PXN
	bl	map_block

	/* The stores bypassed the cache, which may hold older contents: invalidates these lines. */
	here	x0, bss_start
	mrs	x1, ctr_el0
	ubfx	x1, x1, #16, #4
	mov	x2, #4
	lsl	x1, x2, x1
	sub	x2, x1, #1
	bic	x0, x0, x2
	dsb	sy		/* the stores reach memory before lines are dropped */
4:	dc	ivac, x0
	add	x0, x0, x1
	cmp	x0, x26
	b.lo	4b
	dsb	sy		/* all lines are dropped before caches and walks are on */

	ldr	x0, =MAIR_KERNEL
	ldr	x1, =TCR_KERNEL
	mrs	x2, id_aa64mmfr0_el1
	and	x2, x2, #15
	mov	x3, #TCR_IPS_MAX
	cmp	x2, x3
	csel	x2, x2, x3, lo
	orr	x1, x1, x2, lsl #TCR_IPS_SHIFT
	mov	x2, x24
	mov	x3, x23
	ldr	x4, =SCTLR_MMU
	bl	enable_mmu
	ldr	x9, =5f
	br	x9
5:	ldr	x9, =boot_stack_top
	mov	sp, x9
	mov	x29, xzr
	mov	x30, xzr
	mov	x0, x20
	mov	w1, w21
	mov	x2, x22
	mov	x3, x25
	ldr	x9, =aarch64_start
	blr	x9
	udf	#0

	.globl	secondary_entry
secondary_entry:
	msr	daifset, #15
	mov	x20, x0
	bl	enter_el1
	ldr	x0, [x20, #SECONDARY_MAIR]
	ldr	x1, [x20, #SECONDARY_TCR]
	ldr	x2, [x20, #SECONDARY_TTBR0]
	ldr	x3, [x20, #SECONDARY_TTBR1]
	ldr	x4, [x20, #SECONDARY_SCTLR]
	ldr	x21, [x20, #SECONDARY_STACK]
	ldr	x22, [x20, #SECONDARY_CPU]
	ldr	x23, [x20, #SECONDARY_MAIN]
	bl	enable_mmu
	mov	sp, x21
	mov	x29, xzr
	mov	x30, xzr
	mov	x0, x22
	br	x23

/* Enables the MMU; x0 MAIR, x1 TCR, x2 TTBR0, x3 TTBR1, x4 SCTLR. The TLB may have any contents
 * (D8.13.4). Before the MMU is on, the registers take effect (ISB), TLB and instruction cache are
 * emptied (DSB), and nothing fetched by old entries remains (ISB); the next instruction is fetched
 * with the MMU on (ISB). */
enable_mmu:
	msr	mair_el1, x0
	msr	tcr_el1, x1
	msr	ttbr0_el1, x2
	msr	ttbr1_el1, x3
	isb
	tlbi	vmalle1
	ic	iallu
	dsb	nsh
	isb
	msr	sctlr_el1, x4
	isb
	ret

/* void replace_ttbr1(paddr_t root, paddr_t empty), called at its physical address, where TTBR0 maps
 * it. The TLB must not hold pages of two sizes for one address, so nothing of the old root remains
 * when the new one is set (D8.16.1). */
	.globl	replace_ttbr1
replace_ttbr1:
	mrs	x2, daif
	msr	daifset, #15		/* the vectors are not mapped meanwhile */
	msr	ttbr1_el1, x1
	isb				/* no more walks by the old root ... */
	tlbi	vmalle1
	dsb	nsh			/* ... and no entries of it */
	isb
	msr	ttbr1_el1, x0
	isb				/* ret is fetched by the new root */
	msr	daif, x2
	ret

/* Maps 2 MB at x1 to x2 with the attributes x3 in the tree at x0; preserves these registers. */
map_block:
	mov	x4, #39
	mov	x5, x0
1:	lsr	x6, x1, x4
	and	x6, x6, #511
	add	x6, x5, x6, lsl #3
	cmp	x4, #21
	b.eq	3f
	ldr	x7, [x6]
	cbnz	x7, 2f
	orr	x7, x25, #PTE_TABLE
	str	x7, [x6]
	add	x25, x25, #TABLE_SIZE
2:	and	x5, x7, #0x0000fffffffff000
	sub	x4, x4, #9
	b	1b
3:	orr	x7, x2, x3
	str	x7, [x6]
	ret

/* Continues at EL1 in a known state, MMU off. At EL2, gives EL1 access to everything that EL2 can
 * restrict. */
enter_el1:
	ldr	x10, =SCTLR_RES1 | SCTLR_SPAN
	mrs	x9, currentel
	cmp	x9, #2 << 2
	b.eq	1f
	msr	sctlr_el1, x10
	isb			/* MMU off before the registers that it uses change */
	ret
1:	ldr	x9, =HCR_KERNEL
	msr	hcr_el2, x9
	isb			/* without E2H the next registers have their own names */
	msr	sctlr_el1, x10
	mov	x9, #3			/* EL1 may use the physical counter and timer */
	msr	cnthctl_el2, x9
	msr	cntvoff_el2, xzr
	mov	x9, #CPTR_RES1
	msr	cptr_el2, x9
	msr	hstr_el2, xzr
	msr	vttbr_el2, xzr
	mrs	x9, midr_el1
	msr	vpidr_el2, x9
	mrs	x9, mpidr_el1
	msr	vmpidr_el2, x9

	mrs	x9, id_aa64dfr0_el1	/* all performance counters are EL1's */
	ubfx	x9, x9, #8, #4
	sub	x10, x9, #1
	mov	x9, xzr
	cmp	x10, #14
	b.hs	2f
	mrs	x9, pmcr_el0
	ubfx	x9, x9, #11, #5
2:	mrs	x10, id_aa64dfr0_el1	/* and statistical profiling, if EL3 permits it */
	ubfx	x10, x10, #32, #4
	cbz	x10, 6f
	mrs	x10, PMBIDR_EL1
	tbnz	x10, #4, 6f		/* PMBIDR_P: the next register would trap to EL3 */
	orr	x9, x9, #MDCR_E2PB
	mov	x10, #PMSCR_ALLOW
	msr	PMSCR_EL2, x10
6:	msr	mdcr_el2, x9

	mrs	x9, id_aa64pfr0_el1	/* GIC system registers */
	ubfx	x9, x9, #24, #4
	cbz	x9, 3f
	mrs	x9, ICC_SRE_EL2
	mov	x10, #9			/* Enable, SRE */
	orr	x9, x9, x10
	msr	ICC_SRE_EL2, x9
	isb			/* was it accepted? */
	mrs	x9, ICC_SRE_EL2
	tbz	x9, #0, 3f
	msr	ICH_HCR_EL2, xzr

3:	mrs	x9, id_aa64mmfr0_el1	/* fine-grained traps */
	ubfx	x9, x9, #56, #4
	cbz	x9, 4f
	msr	S3_4_C1_C1_4, xzr	/* HFGRTR_EL2  */
	msr	S3_4_C1_C1_5, xzr	/* HFGWTR_EL2  */
	msr	S3_4_C1_C1_6, xzr	/* HFGITR_EL2  */
	msr	S3_4_C3_C1_4, xzr	/* HDFGRTR_EL2 */
	msr	S3_4_C3_C1_5, xzr	/* HDFGWTR_EL2 */

4:	mrs	x9, id_aa64mmfr1_el1	/* features that HCR_EL2 has no bits for */
	ubfx	x9, x9, #40, #4
	cbz	x9, 5f
	msr	S3_4_C1_C2_2, xzr	/* HCRX_EL2 */

5:	mov	x9, #SPSR_EL1H_MASKED
	msr	spsr_el2, x9
	msr	elr_el2, x30
	eret
	.ltorg

	.bss
	.balign	BOOT_TABLES_SIZE
	.globl	boot_tables
boot_tables:
	.skip	BOOT_TABLES_SIZE

	.section .note.GNU-stack, "", @progbits
