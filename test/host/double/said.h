/* What the code under test has printed: kprintf and ksnprintf of the C library's. */
#pragma once

extern char said[1024]; /* the first of it; whoever tests begins anew by said[0] = '\0' */
