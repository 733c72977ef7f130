/*
 * What describes the frames of the files whose code a process has mapped (hpm/policy/eh_frame.h),
 * for chains of calls of its samples. A file's description is copied when a process maps its code,
 * while chains by tables are wanted, and shared by the processes that map it. Copies have a bound;
 * code whose description finds no room cuts chains.
 *
 * All in thread context, no lock held.
 */
#pragma once
#include "hpm/policy/chain.h"
#include "kernel/arch/arch.h"

struct process;
struct thread;
struct code_image;

/* A process's, embedded in its structure. */
struct code_images {
    struct chain_images list;                   /* read by interrupts of its threads */
    struct code_image *image[CHAIN_IMAGES_MAX]; /* images mutex: referenced */
    uint32_t programs;                          /* [A] how often the list began anew */
};

/* Chains by tables are wanted by one more, and by one fewer. With the first, all processes' code
 * that is mapped already is taken in. code_images_let: any context. */
void code_images_want(void);
void code_images_let(void);
/* p has begun with a program: forgets what there was. Its only thread, or before it has any. */
void code_images_begin(struct process *p);
/* The calling thread's process has mapped code at va. */
void code_images_mapped(struct process *p, vaddr_t va);
/* A new process without threads, which is entered, has the same code as its parent. */
void code_images_copy(struct process *p, struct process *parent);
/* The calling thread runs no code of its process any more. */
void code_images_leave(struct thread *self);
/* p has ended, and all its threads have left. */
void code_images_end(struct process *p);
