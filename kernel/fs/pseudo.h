/*
 * File systems whose files are printed when they are opened: tables of patterns of paths. A pattern
 * is a path from the file system's root; `%x` in it stands for a number that variable x knows, as
 * in "cpu%c/topology/core_id". Folders are what patterns have in front of their last name.
 */
#pragma once
#include "kernel/fs/vnode.h"

#define PSEUDO_NUMBERS_MAX 3 /* variables of a pattern */

/* A text that grows. */
struct pseudo_text {
    char *text;
    size_t used, room;
    bool failed; /* without memory: what follows is lost */
};
void pseudo_print(struct pseudo_text *t, const char *fmt, ...) PRINTF(2, 3);
void pseudo_put(struct pseudo_text *t, const void *from, size_t n);

/* In a mode: not every machine has it. There are two kinds of that. */
#define PSEUDO_MAYBE       (1u << 16)
#define PSEUDO_MAYBE_OTHER (1u << 17)
#define PSEUDO_MAYBES      (PSEUDO_MAYBE | PSEUDO_MAYBE_OTHER)

struct pseudo_row {
    const char *pattern;
    uint32_t mode; /* S_IFREG or S_IFLNK, and permissions; S_IFDIR: a folder that may be empty */
    /* Prints the file, or the target of the link. `n` has the pattern's numbers. NULL: of a folder,
     * or if there is `constant`. */
    void (*print)(struct pseudo_text *t, const uint32_t *n);
    const char *constant; /* the text, if it never changes */
    union {
        /* Returns what a link leads to without a path, referenced; or an error. NULL: -ENOSYS. */
        int (*follow)(const uint32_t *n, struct vnode **out);
        /* Takes what is written to a file at once, `length` bytes of text. Returns 0 or an error.
         * NULL: it cannot be written. */
        int (*written)(const uint32_t *n, const char *text, size_t length);
    };
};

struct pseudo_variable {
    char letter;
    /* Finds the first number from *at on that there is, where the pattern's earlier numbers are
     * `n`. Returns false if there is none. */
    bool (*next)(const uint32_t *n, uint32_t *at);
    /* Returns whether there is that number. NULL: next() tells as quickly. */
    bool (*is)(const uint32_t *n, uint32_t number);
};

struct pseudo {
    struct mount mount;                      /* type and magic are given */
    const struct pseudo_row *rows;           /* up to one without a pattern */
    const struct pseudo_variable *variables; /* up to letter 0 */
    uint32_t (*maybe)(void);                 /* mask of PSEUDO_MAYBE*: rows that there are */
};

/* Makes the root. Thread context. Returns 0 or -ENOMEM. */
int pseudo_start(struct pseudo *fs);
/* Returns whether v is a folder of the root of fs that a number is the name of, and the number. */
bool pseudo_is_number(const struct pseudo *fs, struct vnode *v, uint32_t *number);
