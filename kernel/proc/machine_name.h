/* The machine's names as programs set and read them: sethostname(2), setdomainname(2). */
#pragma once
#include "kernel/lib/base.h"

#define MACHINE_NAME_BYTES 65             /* with the NUL: as in uname(2)'s structure */
#define RELEASE_BUILD      "#1 SMP Vigil" /* uname(2)'s version */

enum machine_name { MACHINE_HOST, MACHINE_DOMAIN };

/* Copy a name, of MACHINE_NAME_BYTES, zeros behind it. Any context. */
void machine_name_get(enum machine_name which, char *to);
void machine_name_set(enum machine_name which, const char *from);
