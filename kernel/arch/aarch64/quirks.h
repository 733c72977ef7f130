/* The functions behind AArch64's quirks. */
#pragma once

/* Records the registers of this CPU that should be the same on all. Each CPU, once, when it
 * starts. */
void quirks_note_cpu(void);
