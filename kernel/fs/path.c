/* See path.h. */
#include "kernel/fs/path.h"
#include "kernel/lib/text.h"
#include "kernel/mem/mem.h"
#include "mm/object.h"

#define PENDING_MAX (4 * VNODE_PATH_MAX) /* of a path with the targets of links put in */

struct walk {
    const struct path_start *start;
    struct vnode *at; /* referenced */
    const char *rest; /* of the path */
    char *text;       /* what `rest` is in, if a link was followed, else NULL */
    unsigned links;   /* followed so far */
};

static bool is_dot(const char *name, size_t n)
{
    return n == 1 && name[0] == '.';
}

static bool is_dot_dot(const char *name, size_t n)
{
    return n == 2 && name[0] == '.' && name[1] == '.';
}

static size_t name_length(const char *s)
{
    size_t n = 0;

    while (s[n] && s[n] != '/')
        n++;
    return n;
}

static void move_walk(struct walk *w, struct vnode *to)
{
    vnode_put(w->at);
    w->at = to;
}

/* Replaces a folder that a file system is mounted on by that file system's root. */
static struct vnode *cross_mounts(struct vnode *v)
{
    while (v->covered) {
        struct vnode *root = vnode_get(v->covered->root);
        vnode_put(v);
        v = root;
    }
    return v;
}

/* Returns the folder above, referenced, or NULL: `v` is the root of all, or removed. */
static struct vnode *parent_of(struct vnode *v)
{
    while (v->mount && v->mount->root == v && v->mount->on)
        v = v->mount->on;
    return v->ops->parent(v);
}

/* Returns 0 or -EXDEV: the rules keep the walk in the file system that `from` is in. */
static int check_mount(const struct walk *w, const struct vnode *from, const struct vnode *to)
{
    return (w->start->rules & PATH_NO_MOUNTS) && from->mount != to->mount ? -EXDEV : 0;
}

static int go_up(struct walk *w)
{
    if ((w->start->rules & PATH_BENEATH) && w->at == w->start->here)
        return -EXDEV;
    struct vnode *up = w->at == w->start->root ? NULL : parent_of(w->at);
    int err = up ? check_mount(w, w->at, up) : 0;
    if (err)
        vnode_put(up);
    else if (up)
        move_walk(w, up);
    return err;
}

/* Puts the target of a link in front of the rest of the path. */
static int insert_target(struct walk *w, struct vnode *link)
{
    size_t rest = text_length(w->rest);
    char *text = kmalloc_unfilled(VNODE_PATH_MAX + rest + 1);

    if (!text)
        return -ENOMEM;
    int64_t n = link->ops->readlink(link, text, VNODE_PATH_MAX);
    int err = n < 0                                           ? (int)n
              : n == 0                                        ? -ENOENT
              : n >= VNODE_PATH_MAX || n + rest > PENDING_MAX ? -ENAMETOOLONG
                                                              : 0;
    if (err) {
        kfree(text);
        return err;
    }
    memcpy(text + n, w->rest, rest + 1);
    kfree(w->text);
    w->rest = w->text = text;
    if (text[0] != '/')
        return 0;
    if (w->start->rules & PATH_BENEATH)
        return -EXDEV;
    err = check_mount(w, w->at, w->start->root);
    move_walk(w, vnode_get(w->start->root));
    return err;
}

/* A link leads to a vnode without a path. */
static int jump(struct walk *w, struct vnode *to)
{
    unsigned rules = w->start->rules;
    int err = rules & PATH_NO_JUMPS                   ? -ELOOP
              : rules & (PATH_BENEATH | PATH_IN_ROOT) ? -EXDEV
                                                      : check_mount(w, w->at, to);

    if (err)
        vnode_put(to);
    else
        move_walk(w, to);
    return err;
}

/* Follows a link in the folder w->at. */
static int follow_link(struct walk *w, struct vnode *link)
{
    struct vnode *to;

    if (++w->links > PATH_LINKS_MAX || (w->start->rules & PATH_NO_LINKS))
        return -ELOOP;
    int err = link->ops->follow(link, &to);
    if (err == -ENOSYS)
        return insert_target(w, link);
    return err ?: jump(w, to);
}

/* Takes the next name of the path; the rest begins behind it. */
static int step(struct walk *w, unsigned flags)
{
    const char *name = w->rest;
    size_t n = name_length(name);
    struct vnode *v;

    w->rest += n;
    if (n > VNODE_NAME_MAX)
        return -ENAMETOOLONG;
    if (!vnode_is(w->at, S_IFDIR))
        return -ENOTDIR;
    if (is_dot(name, n))
        return 0;
    if (is_dot_dot(name, n))
        return go_up(w);
    int err = w->at->ops->lookup(w->at, name, n, &v);
    if (err)
        return err;
    v = cross_mounts(v);
    err = check_mount(w, w->at, v);
    if (err) {
        vnode_put(v);
        return err;
    }
    if (!vnode_is(v, S_IFLNK) || (!*w->rest && (flags & PATH_NOFOLLOW))) {
        move_walk(w, v);
        return 0;
    }
    err = follow_link(w, v);
    vnode_put(v);
    return err;
}

/* Goes to the end of w->rest. */
static int walk_on(struct walk *w, unsigned flags)
{
    bool slash = false;
    int err = 0;

    while (!err) {
        for (slash = *w->rest == '/'; *w->rest == '/';)
            w->rest++;
        if (!*w->rest)
            break;
        err = step(w, flags);
    }
    if (!err && (slash || (flags & PATH_FOLDER)) && !vnode_is(w->at, S_IFDIR))
        err = -ENOTDIR;
    return err;
}

static int walk_text(const struct path_start *start, const char *path, unsigned flags,
                     struct vnode **out)
{
    struct walk w = {.start = start, .rest = path};

    if (path[0] == '/' && (start->rules & PATH_BENEATH))
        return -EXDEV;
    w.at = vnode_get(path[0] == '/' ? start->root : start->here);
    int err = walk_on(&w, flags);
    kfree(w.text);
    if (err)
        vnode_put(w.at);
    else
        *out = w.at;
    return err;
}

int path_walk(const struct path_start *start, const char *path, unsigned flags, struct vnode **out)
{
    if (!path[0])
        return -ENOENT;
    if (text_length(path) >= VNODE_PATH_MAX)
        return -ENAMETOOLONG;
    return walk_text(start, path, flags, out);
}

int path_last(const struct path_start *start, const char *path, struct path_last *out)
{
    size_t end = text_length(path), first;

    if (!end)
        return -ENOENT;
    if (end >= VNODE_PATH_MAX)
        return -ENAMETOOLONG;
    out->slash = path[end - 1] == '/';
    while (end && path[end - 1] == '/')
        end--;
    for (first = end; first && path[first - 1] != '/';)
        first--;
    out->name = path + first;
    out->n = end - first;
    if (out->n > VNODE_NAME_MAX)
        return -ENAMETOOLONG;
    char *folder = kmalloc_unfilled(end + 2);
    if (!folder)
        return -ENOMEM;
    memcpy(folder, path, first);
    folder[first] = '\0';
    if (!first)
        memcpy(folder, out->n ? "." : "/", 2);
    int err = walk_text(start, folder, PATH_FOLDER, &out->folder);
    kfree(folder);
    return err;
}

/* Puts "/name" of `v` in front of *at. Returns 0, -ENOENT or -ERANGE. */
static int put_name(struct vnode *v, const char *to, char **at)
{
    char name[VNODE_NAME_MAX + 1];
    size_t n = v->ops->name(v, name, sizeof(name));

    if (n + 1 > (size_t)(*at - to))
        return -ERANGE;
    *at -= n;
    memcpy(*at, name, n);
    *--*at = '/';
    return 0;
}

/* Writes the path so that it ends in front of `end`. Returns its first byte, or NULL and *err. */
static char *write_path(struct vnode *v, char *to, char *end, int *err)
{
    struct vnode *up;
    char *at = end;

    vnode_get(v);
    for (;;) {
        while (v->mount->root == v && v->mount->on) {
            up = vnode_get(v->mount->on);
            vnode_put(v);
            v = up;
        }
        if (v->mount->root == v)
            break;
        up = v->ops->parent(v);
        *err = up ? put_name(v, to, &at) : -ENOENT;
        vnode_put(v);
        if (*err) {
            vnode_put(up);
            return NULL;
        }
        v = up;
    }
    vnode_put(v);
    if (at == end)
        *--at = '/';
    return at;
}

/* Of a file that is in no folder any more. */
static int64_t name_removed(struct vnode *v, char *to, size_t room)
{
    static const char mark[] = " (deleted)";
    size_t n = v->ops->name(v, to, room - 1);

    if (!n || n + sizeof(mark) > room)
        return n ? -ERANGE : -ENOENT;
    memcpy(to + n, mark, sizeof(mark));
    return (int64_t)(n + sizeof(mark) - 1);
}

int64_t path_of(struct vnode *v, char *to, size_t room)
{
    int err = -ERANGE;

    if (room < 2)
        return -ERANGE;
    if (!v->mount) {
        size_t n = v->ops->name(v, to, room - 1);
        to[n] = '\0';
        return (int64_t)n;
    }
    char *end = to + room - 1, *at = write_path(v, to, end, &err);
    if (!at && err == -ENOENT && !vnode_is(v, S_IFDIR))
        return name_removed(v, to, room);
    if (!at)
        return err;
    memmove(to, at, (size_t)(end - at));
    to[end - at] = '\0';
    return end - at;
}

void path_name_object(struct vnode *v, struct object *o)
{
    char *path = object_name(o) ? NULL : kmalloc_unfilled(VNODE_PATH_MAX);
    int64_t length = path ? path_of(v, path, VNODE_PATH_MAX) : 0;
    struct object_name *name = length > 0 ? kmalloc(sizeof(*name) + (size_t)length + 1) : NULL;
    struct vnode_stat s;

    if (name) {
        v->ops->stat(v, &s);
        name->id = s.id;
        name->length = (size_t)length;
        memcpy(name->path, path, (size_t)length + 1);
        object_set_name(o, name);
    }
    kfree(path);
}
