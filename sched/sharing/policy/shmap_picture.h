/*
 * shMaps as a picture ([Azimi 2007, Figure 3.5]): one row a thread, sorted by cluster, one column a
 * line, global lines left out, so that sharing shows as blocks. As shaded text for a console and
 * as hexadecimal lines that tools/shmap_png.sh turns into a PNG.
 *
 * Pure: memory comes from the caller.
 */
#pragma once
#include "kernel/lib/base.h"

enum {
    SHMAP_PICTURE_COLUMNS_MAX = 128,
    SHMAP_PICTURE_LINE_MAX =
        2 * SHMAP_PICTURE_COLUMNS_MAX + 80, /* bytes of a line of either kind, end included */
};

struct shmap_picture_input {
    unsigned threads, entries;
    const uint8_t *counts;  /* [threads][entries] */
    const uint32_t *tid;    /* [threads] */
    const int16_t *cluster; /* [threads] number, or negative: none */
    const uint8_t *global;  /* [entries] not 0: left out */
};

struct shmap_picture {
    const struct shmap_picture_input *in;
    uint16_t *row; /* [threads] thread shown in each row */
    unsigned columns;
    uint16_t entry[SHMAP_PICTURE_COLUMNS_MAX]; /* shown in each column */
    int16_t owner[SHMAP_PICTURE_COLUMNS_MAX];  /* cluster that uses it most */
    uint32_t total[SHMAP_PICTURE_COLUMNS_MAX];
};

/* Chooses rows and columns: the most used lines, at most columns_max, grouped by the cluster that
 * uses them most. row: memory for one number per thread. */
void shmap_picture_plan(struct shmap_picture *p, const struct shmap_picture_input *in,
                        unsigned columns_max, uint16_t *row);
/* Row i as text, cluster and thread before it: "   1    12 |  .:# |"; no newline. Returns its
 * length. */
size_t shmap_picture_text(const struct shmap_picture *p, unsigned i,
                          char line[SHMAP_PICTURE_LINE_MAX]);
/* Row i as "shmap: tid=12 cluster=1 counts=00ff...", cluster -1 for none; no newline. Returns its
 * length. */
size_t shmap_picture_counts(const struct shmap_picture *p, unsigned i,
                            char line[SHMAP_PICTURE_LINE_MAX]);
