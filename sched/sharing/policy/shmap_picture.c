/* shMaps as a picture: see shmap_picture.h. */
#include "sched/sharing/policy/shmap_picture.h"

static const char shades[] = " .:-=+*#@"; /* counts 0, 1, 2 to 3, 4 to 7, ... 128 to 255 */

static uint8_t cell(const struct shmap_picture *p, unsigned i, unsigned column)
{
    return p->in->counts[(size_t)p->row[i] * p->in->entries + p->entry[column]];
}

/* Orders clusters by number, threads in no cluster last. */
static unsigned rank(int cluster)
{
    return cluster < 0 ? UINT32_MAX : (unsigned)cluster;
}

static void sort_rows(struct shmap_picture *p)
{
    for (unsigned t = 0; t < p->in->threads; t++) {
        unsigned place = t;
        for (; place && rank(p->in->cluster[p->row[place - 1]]) > rank(p->in->cluster[t]); place--)
            p->row[place] = p->row[place - 1];
        p->row[place] = (uint16_t)t;
    }
}

static uint32_t total_of(const struct shmap_picture_input *in, unsigned entry)
{
    uint32_t total = 0;

    for (unsigned t = 0; t < in->threads; t++)
        total += in->counts[(size_t)t * in->entries + entry];
    return total;
}

/* Returns the cluster that uses the entry most. Rows of a cluster are neighbours already. */
static int owner_of(const struct shmap_picture *p, unsigned entry)
{
    const struct shmap_picture_input *in = p->in;
    uint32_t sum = 0, most = 0;
    int owner = -1;

    for (unsigned i = 0; i < in->threads; i++) {
        int cluster = in->cluster[p->row[i]];
        if (i && cluster != in->cluster[p->row[i - 1]])
            sum = 0;
        sum += in->counts[(size_t)p->row[i] * in->entries + entry];
        if (cluster >= 0 && sum > most) {
            most = sum;
            owner = cluster;
        }
    }
    return owner;
}

static void set_column(struct shmap_picture *p, unsigned place, unsigned entry, int owner,
                       uint32_t total)
{
    p->entry[place] = (uint16_t)entry;
    p->owner[place] = (int16_t)owner;
    p->total[place] = total;
}

static void copy_column(struct shmap_picture *p, unsigned to, unsigned from)
{
    set_column(p, to, p->entry[from], p->owner[from], p->total[from]);
}

static void choose_columns(struct shmap_picture *p, unsigned columns_max)
{
    for (unsigned entry = 0; entry < p->in->entries; entry++) {
        uint32_t total = p->in->global[entry] ? 0 : total_of(p->in, entry);
        unsigned place;
        if (total == 0 || (p->columns == columns_max && total <= p->total[columns_max - 1]))
            continue;
        p->columns += p->columns < columns_max;
        for (place = p->columns - 1; place && p->total[place - 1] < total; place--)
            copy_column(p, place, place - 1);
        set_column(p, place, entry, owner_of(p, entry), total);
    }
}

/* Orders columns by owner, within an owner the most used first. */
static void group_columns(struct shmap_picture *p)
{
    for (unsigned i = 1; i < p->columns; i++) {
        unsigned entry = p->entry[i], place = i;
        int owner = p->owner[i];
        uint32_t total = p->total[i];
        for (; place && rank(p->owner[place - 1]) > rank(owner); place--)
            copy_column(p, place, place - 1);
        set_column(p, place, entry, owner, total);
    }
}

void shmap_picture_plan(struct shmap_picture *p, const struct shmap_picture_input *in,
                        unsigned columns_max, uint16_t *row)
{
    ASSERT(columns_max >= 1 && columns_max <= SHMAP_PICTURE_COLUMNS_MAX);
    *p = (struct shmap_picture){.in = in, .row = row};
    sort_rows(p);
    choose_columns(p, columns_max);
    group_columns(p);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static size_t put_text(char *line, size_t at, const char *text)
{
    while (*text)
        line[at++] = *text++;
    return at;
}

/* Writes a number right-aligned in `places` places. Returns the length of the line then. */
static size_t put_number(char *line, size_t at, uint32_t number, unsigned places)
{
    char digits[10];
    unsigned n = 0;

    do
        digits[n++] = (char)('0' + number % 10);
    while (number /= 10);
    for (; places > n; places--)
        line[at++] = ' ';
    while (n)
        line[at++] = digits[--n];
    return at;
}

/* Returns the character for a count. Each shade is twice the one before, so that a few samples are
 * visible beside hundreds. */
static char shade(uint8_t count)
{
    return shades[count ? log2_floor(count) + 1 : 0];
}

size_t shmap_picture_text(const struct shmap_picture *p, unsigned i,
                          char line[SHMAP_PICTURE_LINE_MAX])
{
    int cluster = p->in->cluster[p->row[i]];
    size_t at = put_text(line, 0, "  ");

    at = cluster < 0 ? put_text(line, at, "--") : put_number(line, at, (uint32_t)cluster, 2);
    at = put_number(line, put_text(line, at, " "), p->in->tid[p->row[i]], 5);
    at = put_text(line, at, " |");
    for (unsigned c = 0; c < p->columns; c++)
        line[at++] = shade(cell(p, i, c));
    line[at++] = '|';
    line[at] = 0;
    return at;
}

size_t shmap_picture_counts(const struct shmap_picture *p, unsigned i,
                            char line[SHMAP_PICTURE_LINE_MAX])
{
    static const char hex[] = "0123456789abcdef";
    int cluster = p->in->cluster[p->row[i]];
    size_t at = put_number(line, put_text(line, 0, "shmap: tid="), p->in->tid[p->row[i]], 0);

    at = put_text(line, at, " cluster=");
    at = cluster < 0 ? put_text(line, at, "-1") : put_number(line, at, (uint32_t)cluster, 0);
    at = put_text(line, at, " counts=");
    for (unsigned c = 0; c < p->columns; c++) {
        line[at++] = hex[cell(p, i, c) >> 4];
        line[at++] = hex[cell(p, i, c) & 15];
    }
    line[at] = 0;
    return at;
}
