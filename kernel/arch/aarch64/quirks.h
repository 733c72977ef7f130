/* What AArch64's quirks are made of. */
#pragma once

/* Each CPU, once, at its start: what it says that should be the same on all. */
void quirks_note_cpu(void);
