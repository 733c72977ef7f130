/*
 * The state of the chooser, and what its parts know:
 *   chooser.c         the calls, and the description of the policy
 *   chooser_memory.c  the resident pages: members of the set in force, and strays
 *   chooser_sets.c    the experts' states: which pages each would have resident
 *   chooser_lost.c    pages that a set has lost and that are looked at later
 *   chooser_work.c    what may have to wait for an answer of the page access buffer
 * Internal to these.
 */
#pragma once
#include "mm/policy/replace/chooser_lost.h"
#include "mm/policy/replace/list.h"
#include "mm/policy/replace/weigh.h"

enum {
    EXPERTS = 6,
    ALL = (1 << EXPERTS) - 1, /* a bit for each expert */
    MEMBER = 1,               /* MEMBER + turn: resident pages of the set in force */
    STRAY,                    /* STRAY + turn: resident pages outside it */
    LOOKED_AT = 1 << 7,       /* in chooser_page.owed: the page is in lost_pages */
};

/* What the chooser has of a page besides its link. */
struct chooser_page {
    uint8_t owed; /* a bit for each expert that is to hear of the latest use, and LOOKED_AT */
    uint8_t uses; /* up to 2 */
    uint8_t spare[6];
};

/* What goes on after the experts have been told, or room has been made in a set. */
enum chooser_step {
    STEP_NONE,
    STEP_ENTER,     /* a page came, and the buffer is asked about it */
    STEP_USE,       /* a use has been told to the experts */
    STEP_LOOK,      /* lost pages are looked at */
    STEP_LATE,      /* the use of a lost page has been told to the experts that lack it */
    STEP_DECIDE,    /* all is known of an access */
    STEP_TAKE_OVER, /* the set in force has shrunk, and another expert takes over */
    STEP_RESIZE,    /* sets shrink, one after the other */
    STEP_CHOOSE,    /* a victim is chosen */
    STEP_STRAY,     /* ... among the strays */
};

/* Room being made in an expert's set. */
struct chooser_room {
    bool on;
    bool enters; /* `incoming` enters the set afterwards */
    uint32_t expert, incoming;
    uint32_t left;        /* pages that the set may have */
    uint32_t asked, gone; /* pages asked about for the page that goes next; pages that have gone */
};

/* The work of a call, as far as it is not done: it stops where a question is open. */
struct chooser_work {
    uint32_t asked; /* the node that the open question is about, or REPLACE_NONE */
    enum chooser_step step;
    uint32_t node;     /* that is used */
    uint32_t experts;  /* a bit for each that is still to be told of the use, or is to shrink */
    uint32_t missed;   /* a bit for each that was told and did not have the page */
    uint32_t looks;    /* at lost pages, or for a victim */
    uint32_t incoming; /* as told to victim() */
    uint32_t next;     /* expert that takes over */
    struct chooser_room room;
};

struct chooser {
    /* Resident pages, latest use first. When another expert takes over both lists are of the turn
     * before, and are sorted into those of the new turn, members first. A page that is touched just
     * after it was offered is in use. */
    struct replace_base base;
    uint32_t turn;          /* 0 or 2 */
    bool newest;            /* the last stray that went was the one used longest ago */
    bool answers;           /* config.answers */
    uint32_t current;       /* expert in force */
    uint32_t until;         /* accesses to the next decision */
    uint32_t largest;       /* no set but the one in force has more pages */
    uint64_t switches;      /* of the expert in force */
    uint64_t at[EXPERTS];   /* each expert's state, in bytes from this one's start */
    uint32_t size[EXPERTS]; /* pages of each set */
    uint32_t far[EXPERTS];  /* ... of these not resident */
    uint32_t used[EXPERTS]; /* ... of such those that were used while in the set ... */
    uint32_t left[EXPERTS]; /* ... and those that left the set unused */
    struct weigh weigh;
    struct lost_pages lost;
    struct chooser_work work;
};

/* ---- chooser_memory.c ------------------------------------------------------------------------ */

/* Resident pages of the set in force, and outside it, as far as they are sorted. */
static inline struct replace_list *chooser_members(struct chooser *s)
{
    return &s->base.list[MEMBER + s->turn];
}

static inline struct replace_list *chooser_strays(struct chooser *s)
{
    return &s->base.list[STRAY + s->turn];
}

/* Makes resident page `node` the member used last. */
void chooser_make_member(struct chooser *s, uint32_t node);
/* Makes `node` the stray used last if it is a sorted member. */
void chooser_make_stray(struct chooser *s, uint32_t node);
/* Sorts up to `pages` pages of the turn before. Returns whether all are sorted. */
bool chooser_sort(struct chooser *s, uint32_t pages);
/* Sorts until there is a stray, LOOKS_MAX pages from either end at most. */
void chooser_sort_for_stray(struct chooser *s);

/* ---- chooser_sets.c -------------------------------------------------------------------------- */

extern const struct replace_ops *const chooser_expert[EXPERTS];

/* The chooser's link to a node and the experts' parts of it: a link each, and what W-TinyLFU, LIRS
 * and gap have besides. A struct chooser_page follows. */
#define CHOOSER_PAGE_AT    (9 * sizeof(struct replace_link) + 16)
#define CHOOSER_NODE_BYTES (CHOOSER_PAGE_AT + sizeof(struct chooser_page))

/* Returns the bytes of the chooser's state and the experts' without nodes. */
size_t chooser_state_bytes(void);
struct chooser_page *chooser_page(const struct chooser *s, uint32_t node);
static inline void *chooser_state(const struct chooser *s, uint32_t i)
{
    return (char *)(uintptr_t)s + s->at[i];
}
/* Initializes the experts. place: of the nodes' parts. Returns 0 or -EINVAL. */
int chooser_sets_init(struct chooser *s, const struct replace_config *config,
                      const struct replace_layout *place);

/* Returns whether `node` is in the set of expert i. */
static inline bool chooser_in_set(const struct chooser *s, uint32_t i, uint32_t node)
{
    return chooser_expert[i]->resident(chooser_state(s, i), node);
}
/* Returns a bit for each expert without `node` in its set. */
uint32_t chooser_lacking(const struct chooser *s, uint32_t node);
void chooser_set_enter(struct chooser *s, uint32_t i, uint32_t node);
void chooser_set_leave(struct chooser *s, uint32_t i, uint32_t node);
/* The experts that are to hear of the latest use of `node`, and no others. */
void chooser_owe(struct chooser *s, uint32_t node, uint32_t experts);
/* Returns whether `node` was used since expert i heard of it last, and takes note that it does. */
bool chooser_hears(struct chooser *s, uint32_t i, uint32_t node);
/* Returns how many pages of set i, of those not resident, will have to be fetched if it comes into
 * force, by what became of others. */
uint32_t chooser_to_fetch(struct chooser *s, uint32_t i);
/* As replace_ops.check(). */
const char *chooser_set_check(const struct chooser *s, uint32_t i);

/* ---- chooser_work.c -------------------------------------------------------------------------- */

/* These begin work; chooser_go_on() does it until it is done or a question is open. */
void chooser_begin_use(struct chooser *s, uint32_t node, bool asks);
void chooser_begin_touch(struct chooser *s, uint32_t node);
void chooser_begin_resize(struct chooser *s);
void chooser_begin_victim(struct chooser *s, uint32_t incoming);
void chooser_go_on(struct chooser *s);
void chooser_answer(struct chooser *s, uint32_t node, enum page_buffered is);
