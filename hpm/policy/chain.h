/*
 * Call chains by frame pointers, and a table of those that were found.
 *
 * A function that keeps a frame pointer stores a record on its stack: the address of its caller's
 * record, the link, and behind it the return address. On x86-64 RBP points to it (System V ABI,
 * 3.2.2), on AArch64 x29 (AAPCS64, 6.4.6). A walk asks for the words of one record after the other
 * and is given what could be read; it reads no memory itself. The entry code of the kernel makes a
 * record of what it interrupted, so a walk goes from the kernel's stack to the program's.
 *
 * A program can have any values there. So a walk finds at most CHAIN_MAX addresses, and follows a
 * link of the program only upwards and within the program's memory. A record without a valid link
 * or return address ends the walk: the chain is cut.
 */
#pragma once
#include "hpm/policy/eh_frame.h"
#include "kernel/lib/base.h"
#include "kernel/lib/symbols.h"

#define CHAIN_MAX 127

/* Where a mode's records and code are: addresses from low on, below high. */
struct chain_mode {
    uint64_t low, high, code_low, code_high;
    uint64_t code; /* bits of a return address that are the address: others sign pointers */
};
enum { CHAIN_USER, CHAIN_KERNEL, CHAIN_MODES };

struct chain_walk {
    uint64_t next;  /* address of the next record */
    uint64_t floor; /* it must not be below */
    unsigned count;
    bool kernel; /* the next record is the kernel's */
    bool cut;    /* a record could not be believed, or there were too many */
};

/* Begins with the interrupted code's address and the link it had. */
void chain_begin(struct chain_walk *w, uint64_t link, bool kernel);
/* Returns whether there is another record to read; `at` is where. */
bool chain_wants(struct chain_walk *w, const struct chain_mode mode[CHAIN_MODES], uint64_t *at);
/* Goes on with a record's words. Returns its return address, or 0: there is none, the chain is at
 * its end. */
uint64_t chain_take(struct chain_walk *w, const struct chain_mode mode[CHAIN_MODES], uint64_t link,
                    uint64_t address);

/*
 * The program's part by rules (eh_frame.h), for code that keeps no frame pointers: of a bundled
 * program by the table of its frames (kernel/lib/symbols.h), of others by what their files
 * describe. The callers' registers are made one after the other; words that are stored are given to
 * it.
 */
struct chain_registers {
    uint64_t pc;
    uint64_t value[RULE_CFA]; /* by rule_from */
    uint64_t link;            /* the link register, if there is one */
    bool called;              /* pc is a return address: what is asked for is the call before it */
};
/* Says a table's frame as a rule. */
struct frame_rule chain_rule_of(const struct symbols_frame *frame);
/* What a caller's registers are made of. */
struct chain_caller {
    uint64_t cfa;                     /* the CFA, where it is not stored */
    uint64_t cfa_at;                  /* address of the word that it is, or 0 */
    uint64_t link_at, fp_at, kept_at; /* of the words to be read then; 0: none */
};
/* Begins with the CFA. */
void chain_caller_begin(const struct chain_registers *r, const struct frame_rule *rule,
                        struct chain_caller *c);
/* Returns whether the caller can be found, with the words' addresses. c->cfa is known now. cut: the
 * registers cannot be believed. */
bool chain_caller_wants(const struct chain_registers *r, const struct frame_rule *rule,
                        const struct chain_mode *user, struct chain_caller *c, bool *cut);
/* Makes the registers the caller's. The words that were read, where any were asked for. Returns
 * false if the caller's address cannot be believed. */
bool chain_caller_take(struct chain_registers *r, const struct frame_rule *rule,
                       const struct chain_mode *user, const struct chain_caller *c, uint64_t link,
                       uint64_t fp, uint64_t kept);

/* The files whose code a process has mapped, in the order in which it has. One writer, who only
 * adds; interrupts of the process's threads read meanwhile. */
#define CHAIN_IMAGES_MAX 48u
struct chain_images {
    uint32_t count;   /* atomic */
    uint32_t version; /* no two states of lists have the same, but for 0: empty; atomic */
    struct chain_image {
        uint64_t start, end; /* of the code */
        uint64_t bias;       /* added to addresses as linked */
        const struct eh_frames *frames;
    } image[CHAIN_IMAGES_MAX];
};
static inline bool chain_images_any(const struct chain_images *images)
{
    return __atomic_load_n(&images->count, __ATOMIC_RELAXED);
}
/* Returns the image that an address is in; of several that of the latest mapping; NULL: none. */
const struct chain_image *chain_image_at(const struct chain_images *images, uint64_t pc);

/* ---- The table ------------------------------------------------------------------------------- */

#define CHAIN_SLOTS  32768u /* power of two, twice CHAIN_CALLS */
#define CHAIN_CALLS  16384u /* the table has 512 KB */
#define CHAIN_FOUND  1024u  /* power of two */
#define CHAIN_NUMBER 15     /* bits of a chain's number in a table, from 1 */

/* Different chains as a tree of calls, whose roots are the outermost functions: a chain is a call,
 * and those that led to it. In the order in which they came. One writer; others may read
 * meanwhile. */
struct chain_table {
    uint32_t count; /* atomic */
    bool by_frames; /* the programs' parts are made by their tables of frames */
    /* Chains cut short, and those that found no room, each time they came; atomic. */
    uint64_t cut, full;
    struct chain_call {
        uint64_t address;
        uint32_t caller; /* its number; 0: it is the outermost */
    } call[CHAIN_CALLS];
    uint16_t slot[CHAIN_SLOTS]; /* by hash: number of a call; 0: free */
    uint64_t work[CHAIN_MAX];   /* a chain that is being made */
    struct eh_state state;      /* of a rule that is being made */
    struct chain_found {
        uint64_t pc;
        uint64_t code; /* which program's or files'; 0: nothing was found yet */
        struct frame_rule rule;
    } found[CHAIN_FOUND]; /* rules of code that were found of late, by hash of the address */
};

/* Returns the number of the chain of work[0..length - 1], from 1; 0: the table is full, which is
 * counted. length: 1..CHAIN_MAX. */
uint32_t chain_number(struct chain_table *t, unsigned length);
/* Counts the chain of work[] as cut short. */
void chain_count_cut(struct chain_table *t);
/* Copies up to `max` addresses of a chain. Returns how many it has; 0: there is no chain of this
 * number. */
unsigned chain_read(const struct chain_table *t, uint32_t number, uint64_t *out, unsigned max);
