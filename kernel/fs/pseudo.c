/* See pseudo.h. A vnode is made when it is looked up, and knows its path. */
#include "kernel/fs/pseudo.h"
#include "kernel/core/printf.h"
#include "kernel/lib/text.h"
#include "kernel/mem/mem.h"

#define TEXT_FIRST 512

struct entry {
    struct vnode v;
    const struct pseudo *fs;
    const struct pseudo_row *row; /* NULL: a folder */
    uint32_t n[PSEUDO_NUMBERS_MAX];
    size_t length;
    char path[]; /* without a NUL */
};

static struct entry *entry_of(struct vnode *v)
{
    return container_of(v, struct entry, v);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

static bool grow_text(struct pseudo_text *t, size_t wanted)
{
    size_t room = MAX(t->room, (size_t)TEXT_FIRST);

    while (room < wanted)
        room *= 2;
    char *larger = room == t->room ? t->text : kmalloc_unfilled(room);
    if (!larger)
        t->failed = true;
    if (!larger || larger == t->text)
        return larger;
    memcpy(larger, t->text, t->used);
    kfree(t->text);
    t->text = larger;
    t->room = room;
    return true;
}

void pseudo_put(struct pseudo_text *t, const void *from, size_t n)
{
    if (t->failed || !grow_text(t, t->used + n))
        return;
    memcpy(t->text + t->used, from, n);
    t->used += n;
}

void pseudo_print(struct pseudo_text *t, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    size_t n = kvsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (t->failed || !grow_text(t, t->used + n + 1))
        return;
    va_start(args, fmt);
    kvsnprintf(t->text + t->used, n + 1, fmt, args);
    va_end(args);
    t->used += n;
}

static void print_row(const struct pseudo_row *row, const uint32_t *n, struct pseudo_text *t)
{
    if (row->constant)
        pseudo_put(t, row->constant, text_length(row->constant));
    else
        row->print(t, n);
}

/* ---- Patterns -------------------------------------------------------------------------------- */

static const struct pseudo_variable *variable_of(const struct pseudo *fs, char letter)
{
    const struct pseudo_variable *v = fs->variables;

    while (v->letter && v->letter != letter)
        v++;
    ASSERT(v->letter);
    return v;
}

/* Reads a number as it is printed: without leading zeros. */
static bool take_number(const char *s, size_t n, size_t *at, uint32_t *out)
{
    uint64_t v = 0;
    size_t first = *at;

    while (*at < n && s[*at] >= '0' && s[*at] <= '9' && v <= UINT32_MAX)
        v = v * 10 + (uint64_t)(s[(*at)++] - '0');
    *out = (uint32_t)v;
    return *at > first && v <= UINT32_MAX && (s[first] != '0' || *at == first + 1);
}

enum match { MATCH_NOT, MATCH_FOLDER, MATCH_WHOLE };

/* What is known of a path's first number, which many patterns begin with. */
struct first_number {
    char variable; /* 0: nothing */
    bool is;       /* it is one of the variable's */
};

/* Returns whether there is that number, behind others. */
static bool is_number(const struct pseudo *fs, char variable, const uint32_t *numbers,
                      unsigned count, uint32_t number, struct first_number *first)
{
    const struct pseudo_variable *v = variable_of(fs, variable);
    uint32_t there = number;

    if (!count && first->variable == variable)
        return first->is;
    bool is = v->is ? v->is(numbers, number) : v->next(numbers, &there) && there == number;
    if (!count)
        *first = (struct first_number){variable, is};
    return is;
}

/* Compares a path with a pattern or with its beginning, and reads its numbers. *rest: the pattern
 * behind the path; *count: numbers read; *first: of this path. */
static enum match match_path(const struct pseudo *fs, const char *pattern, const char *path,
                             size_t n, uint32_t *numbers, unsigned *count, const char **rest,
                             struct first_number *first)
{
    size_t at = 0;

    *count = 0;
    while (at < n) {
        uint32_t number;
        if (*pattern != '%') {
            if (*pattern != path[at])
                return MATCH_NOT;
            pattern++;
            at++;
            continue;
        }
        if (!take_number(path, n, &at, &number))
            return MATCH_NOT;
        if (!is_number(fs, pattern[1], numbers, *count, number, first))
            return MATCH_NOT;
        numbers[(*count)++] = number;
        pattern += 2;
    }
    if (!n) {
        *rest = pattern;
        return MATCH_FOLDER;
    }
    *rest = *pattern == '/' ? pattern + 1 : pattern;
    return *pattern == '/' ? MATCH_FOLDER : *pattern ? MATCH_NOT : MATCH_WHOLE;
}

static uint64_t id_of(const char *path, size_t n)
{
    uint64_t h = 0xcbf29ce484222325ull;

    for (size_t i = 0; i < n; i++)
        h = (h ^ (uint8_t)path[i]) * 0x100000001b3ull;
    return (h ^ h >> 32) & INT64_MAX;
}

static const struct vnode_ops pseudo_ops;

/* Makes the vnode of the path that is `folder` and `name` together. */
static int make_entry(const struct pseudo *fs, const char *folder, size_t folder_n,
                      const char *name, size_t n, struct entry **out)
{
    size_t length = folder_n + (folder_n != 0) + n;
    struct entry *e = kmalloc(sizeof(*e) + length);

    if (!e)
        return -ENOMEM;
    memcpy(e->path, folder, folder_n);
    if (folder_n)
        e->path[folder_n] = '/';
    memcpy(e->path + length - n, name, n);
    e->fs = fs;
    e->length = length;
    e->v = (struct vnode){.ops = &pseudo_ops,
                          .mount = (struct mount *)&fs->mount,
                          .id = id_of(e->path, length),
                          .refs = 1};
    *out = e;
    return 0;
}

static bool is_there(const struct pseudo *fs, const struct pseudo_row *row)
{
    return !(row->mode & PSEUDO_MAYBES) || (row->mode & fs->maybe());
}

/* Finds what the path of `e` is. */
static bool identify(struct entry *e)
{
    struct first_number first = {0};
    const char *rest;
    unsigned count;

    for (const struct pseudo_row *row = e->fs->rows; row->pattern; row++) {
        enum match m =
            match_path(e->fs, row->pattern, e->path, e->length, e->n, &count, &rest, &first);
        if (m == MATCH_NOT || !is_there(e->fs, row))
            continue;
        bool folder = m == MATCH_FOLDER || (row->mode & S_IFMT) == S_IFDIR;
        e->row = folder ? NULL : row;
        e->v.mode = folder ? S_IFDIR | 0555 : row->mode & ~PSEUDO_MAYBES;
        return true;
    }
    return false;
}

/* ---- Operations ------------------------------------------------------------------------------ */

static int lookup_entry(struct vnode *v, const char *name, size_t n, struct vnode **out)
{
    struct entry *folder = entry_of(v), *e;

    if (folder->row)
        return -ENOTDIR;
    int err = make_entry(folder->fs, folder->path, folder->length, name, n, &e);
    if (err)
        return err;
    if (!identify(e)) {
        kfree(e);
        return -ENOENT;
    }
    *out = &e->v;
    return 0;
}

/* The bytes of the path in front of the last name, and its '/'. */
static size_t folder_length(const struct entry *e)
{
    size_t n = e->length;

    while (n && e->path[n - 1] != '/')
        n--;
    return n;
}

static struct vnode *parent_of_entry(struct vnode *v)
{
    struct entry *e = entry_of(v), *up;
    size_t n = folder_length(e);

    if (!e->length)
        return NULL;
    if (!n)
        return vnode_get(e->fs->mount.root);
    if (make_entry(e->fs, "", 0, e->path, n - 1, &up))
        return NULL;
    up->v.mode = S_IFDIR | 0555;
    return &up->v;
}

static size_t name_of_entry(struct vnode *v, char *to, size_t room)
{
    struct entry *e = entry_of(v);
    size_t first = folder_length(e), n = MIN(e->length - first, room);

    memcpy(to, e->path + first, n);
    return n;
}

static size_t component_length(const char *s)
{
    size_t n = 0;

    while (s[n] && s[n] != '/')
        n++;
    return n;
}

/* Returns whether an earlier row has the same name in the folder. */
static bool is_repeated(const struct entry *folder, const struct pseudo_row *row, const char *name,
                        size_t n)
{
    uint32_t numbers[PSEUDO_NUMBERS_MAX];
    struct first_number first = {0};
    const char *rest;
    unsigned count;

    for (const struct pseudo_row *r = folder->fs->rows; r < row; r++)
        if (match_path(folder->fs, r->pattern, folder->path, folder->length, numbers, &count, &rest,
                       &first) == MATCH_FOLDER &&
            component_length(rest) == n && !memcmp(rest, name, n) && is_there(folder->fs, r))
            return true;
    return false;
}

static bool take_entry(const struct entry *folder, const struct pseudo_row *row, const char *name,
                       size_t n, bool last, uint64_t cursor, vnode_entry *take, void *to)
{
    uint32_t type = last ? row->mode & S_IFMT : S_IFDIR;
    uint64_t id = id_of(folder->path, folder->length) ^ id_of(name, n);

    return take(to, name, n, id ? id : 1, type, cursor);
}

/* Takes the names that a row adds to a folder, behind the cursor. A cursor has the row's index + 1
 * in its upper half, and the number + 1 in its lower one. */
static bool list_row(const struct entry *folder, const struct pseudo_row *row, uint64_t cursor,
                     vnode_entry *take, void *to)
{
    uint32_t numbers[PSEUDO_NUMBERS_MAX];
    uint64_t base = (uint64_t)(row - folder->fs->rows + 1) << 32;
    struct first_number first = {0};
    char name[64];
    const char *rest;
    unsigned count;

    if (match_path(folder->fs, row->pattern, folder->path, folder->length, numbers, &count, &rest,
                   &first) != MATCH_FOLDER ||
        !is_there(folder->fs, row))
        return true;
    size_t n = component_length(rest), at = 0;
    if (is_repeated(folder, row, rest, n))
        return true;
    while (at < n && rest[at] != '%')
        at++;
    if (at == n)
        return base <= cursor || take_entry(folder, row, rest, n, !rest[n], base, take, to);
    const struct pseudo_variable *v = variable_of(folder->fs, rest[at + 1]);
    uint32_t number = cursor >> 32 == base >> 32 ? (uint32_t)cursor : 0;
    for (; v->next(numbers, &number); number++) {
        size_t length = ksnprintf(name, sizeof(name), "%.*s%u", (int)at, rest, number);
        if (!take_entry(folder, row, name, length, !rest[n], base + number + 1, take, to))
            return false;
        if (number == UINT32_MAX)
            break;
    }
    return true;
}

static int list_entries(struct vnode *v, uint64_t cursor, vnode_entry *take, void *to)
{
    struct entry *folder = entry_of(v);
    const struct pseudo_row *row = folder->fs->rows;

    if (folder->row)
        return -ENOTDIR;
    for (uint64_t i = 0; row[i].pattern; i++)
        if (i + 1 >= cursor >> 32 && !list_row(folder, &row[i], cursor, take, to))
            break;
    return 0;
}

static int64_t read_link(struct vnode *v, char *to, size_t room)
{
    struct entry *e = entry_of(v);
    struct pseudo_text t = {0};

    if (!vnode_is(v, S_IFLNK))
        return -EINVAL;
    print_row(e->row, e->n, &t);
    int64_t n = t.failed ? -ENOMEM : (int64_t)MIN(t.used, room);
    if (n > 0)
        memcpy(to, t.text, (size_t)n);
    kfree(t.text);
    return n;
}

static int follow_entry(struct vnode *v, struct vnode **out)
{
    struct entry *e = entry_of(v);

    return vnode_is(v, S_IFLNK) && e->row->follow ? e->row->follow(e->n, out) : -ENOSYS;
}

static int open_entry(struct vnode *v, unsigned flags, void **state)
{
    struct entry *e = entry_of(v);

    if (!e->row)
        return 0;
    if ((flags & VNODE_WRITE) && !e->row->written)
        return -EACCES;
    struct pseudo_text *t = kmalloc(sizeof(*t));
    if (!t)
        return -ENOMEM;
    print_row(e->row, e->n, t);
    if (t->failed) {
        kfree(t->text);
        kfree(t);
        return -ENOMEM;
    }
    *state = t;
    return 0;
}

static void close_entry(UNUSED struct vnode *v, void *state)
{
    struct pseudo_text *t = state;

    if (t)
        kfree(t->text);
    kfree(t);
}

static int64_t read_entry(UNUSED struct vnode *v, void *state, UNUSED unsigned flags, uint64_t at,
                          void *to, size_t n)
{
    const struct pseudo_text *t = state;

    if (!t)
        return -EISDIR;
    n = at < t->used ? MIN(n, (size_t)(t->used - at)) : 0;
    if (n)
        memcpy(to, t->text + at, n);
    return (int64_t)n;
}

static int64_t write_entry(struct vnode *v, UNUSED void *state, UNUSED unsigned flags,
                           UNUSED uint64_t at, const void *from, size_t n)
{
    const struct entry *e = entry_of(v);
    int err = e->row->written(e->n, from, n);

    return err ? err : (int64_t)n;
}

/* A file that can be written is not made shorter: it takes texts, one at a time. */
static int resize_entry(struct vnode *v, UNUSED uint64_t size)
{
    const struct entry *e = entry_of(v);

    return e->row && e->row->written ? 0 : -EACCES;
}

static void release_entry(struct vnode *v)
{
    kfree(entry_of(v));
}

static const struct vnode_ops pseudo_ops = {
    .lookup = lookup_entry,
    .parent = parent_of_entry,
    .name = name_of_entry,
    .list = list_entries,
    .readlink = read_link,
    .follow = follow_entry,
    .stat = vnode_stat,
    .open = open_entry,
    .close = close_entry,
    .read = read_entry,
    .write = write_entry,
    .poll = vnode_poll,
    .ioctl = vnode_no_ioctl,
    .set_size = resize_entry,
    VNODE_OPS_FIXED,
    .release = release_entry,
};

bool pseudo_is_number(const struct pseudo *fs, struct vnode *v, uint32_t *number)
{
    const struct entry *e = v->ops == &pseudo_ops ? entry_of(v) : NULL;
    size_t at = 0;

    return e && e->fs == fs && !e->row && take_number(e->path, e->length, &at, number) &&
           at == e->length;
}

int pseudo_start(struct pseudo *fs)
{
    struct entry *root;
    int err = make_entry(fs, "", 0, "", 0, &root);

    if (err)
        return err;
    root->v.mode = S_IFDIR | 0555;
    root->v.id = 1;
    fs->mount.root = &root->v;
    fs->mount.usage = mount_no_usage;
    return 0;
}
