/* What the system calls itself towards programs, for C and assembly: the version is that of the
 * Linux whose calls it has, since C libraries refuse to start on one older than theirs. */
#pragma once

#define RELEASE_NAME "6.1.0-vigil"
#define RELEASE_CODE 0x060100 /* major << 16 | minor << 8 | patch */
