/* The console output of the code under test: kprintf and ksnprintf by the C library. */
#pragma once

extern char said[1024]; /* its first part; a test resets it by said[0] = '\0' */
