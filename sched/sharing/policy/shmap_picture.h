/*
 * shMaps as a picture ([Azimi 2007, Figure 3.5]): one row a thread, sorted by cluster, one column a
 * line. Global lines are left out, so that sharing shows as blocks. The picture is shaded text for
 * a console, and hexadecimal lines that tools/shmap_png.sh turns into a PNG.
 *
 * Pure: memory comes from the caller.
 */
#pragma once
#include "kernel/lib/base.h"

enum {
    SHMAP_PICTURE_COLUMNS_MAX = 128,
    /* bytes of a line of either kind, terminator included */
    SHMAP_PICTURE_LINE_MAX = 2 * SHMAP_PICTURE_COLUMNS_MAX + 80,
};

struct shmap_picture_input {
    unsigned threads, entries;
    const uint8_t *counts;  /* [threads][entries] */
    const uint32_t *tid;    /* [threads] */
    const int16_t *cluster; /* [threads] number; negative: none */
    const uint8_t *global;  /* [entries] nonzero: left out */
};

struct shmap_picture {
    const struct shmap_picture_input *in;
    uint16_t *row; /* [threads] the thread of each row */
    unsigned columns;
    uint16_t entry[SHMAP_PICTURE_COLUMNS_MAX]; /* the entry of each column */
    int16_t owner[SHMAP_PICTURE_COLUMNS_MAX];  /* the cluster that uses it most */
    uint32_t total[SHMAP_PICTURE_COLUMNS_MAX];
};

/* Chooses rows and columns: the most used lines, at most columns_max, grouped by the cluster that
 * uses them most. row: memory for one number per thread. */
void shmap_picture_plan(struct shmap_picture *p, const struct shmap_picture_input *in,
                        unsigned columns_max, uint16_t *row);
/* Writes row i as text, with cluster and thread in front: "   1    12 |  .:# |", without a newline.
 * Returns its length. */
size_t shmap_picture_text(const struct shmap_picture *p, unsigned i,
                          char line[SHMAP_PICTURE_LINE_MAX]);
/* Writes row i as "shmap: tid=12 cluster=1 counts=00ff...", with cluster -1 for none, without a
 * newline. Returns its length. */
size_t shmap_picture_counts(const struct shmap_picture *p, unsigned i,
                            char line[SHMAP_PICTURE_LINE_MAX]);
