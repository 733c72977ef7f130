/* The memory that a start needs beside the image, in bytes; for C and assembly. */
#pragma once

#define MEMORY_NEED_START 0x200000 /* to run a small program on one CPU */
#define MEMORY_NEED_CPU   0x40000  /* for each further CPU: stack, queues, counters */
