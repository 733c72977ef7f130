/* Instructions of a piece of code on the host, counted by single steps: exact, and the same on
 * every run. */
#pragma once
#include <stdint.h>

/* Runs work(data) in a child process, step by step; how many instructions it took, call and return
 * included. Linux on x86-64 or AArch64; UINT64_MAX: steps cannot be had here. */
uint64_t instructions_of(void (*work)(void *), void *data);
