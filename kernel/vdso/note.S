/* The version of the system that this object belongs to, as programs find it in Linux's. */
#include "kernel/lib/release.h"

	.section .note.release, "a", %note
	.balign 4
	.long	2f - 1f, 4f - 3f, 0
1:	.asciz "Linux"
2:	.balign 4
3:	.long	RELEASE_CODE
4:
	.section .note.GNU-stack, "", %progbits
