/* Makes a tree of files of archives; see tree.h. The tree is not in use yet: nothing is locked. */
#include "kernel/fs/path.h"
#include "kernel/fs/tar.h"
#include "kernel/fs/tree_node.h"
#include "kernel/lib/text.h"
#include "kernel/mem/mem.h"

struct adding {
    struct tree *tree;
    const char *why; /* of -EINVAL */
};

static int refuse(struct adding *a, const char *why)
{
    a->why = why;
    return -EINVAL;
}

static bool is_folder(const struct node *n)
{
    return vnode_is(&n->v, S_IFDIR);
}

/* Adds a new node to a folder. Returns NULL without memory. */
static struct node *add_node(struct node *folder, const char *name, size_t n, uint32_t mode)
{
    struct node *child = tree_reserve(folder->tree) ? NULL : node_make(folder->tree, mode);

    if (child)
        node_enter(folder, child, name, n, false);
    return child;
}

static void drop_node(struct node *n)
{
    struct node *folder = node_leave(n);

    (n->same ? n->same : n)->links--;
    vnode_put(&n->v);
    vnode_put(&folder->v);
}

/* ---- Folders --------------------------------------------------------------------------------- */

/* Takes the next name off `path`. Returns false at its end. */
static bool take_name(struct tar_text *path, struct tar_text *name)
{
    while (path->n && path->s[0] == '/') {
        path->s++;
        path->n--;
    }
    for (name->s = path->s, name->n = 0; path->n && path->s[0] != '/'; name->n++) {
        path->s++;
        path->n--;
    }
    return name->n;
}

static bool is_name(const struct tar_text *t, const char *name)
{
    return text_same(name, t->s, t->n);
}

static struct node *child_or_new(struct node *folder, const struct tar_text *name)
{
    return node_child(folder, name->s, name->n)
               ?: add_node(folder, name->s, name->n, S_IFDIR | 0755);
}

/* Goes from folder *at to where a link leads that leads nowhere yet, making the folders. */
static int make_target(struct adding *a, struct node **at, struct tar_text path)
{
    struct tar_text name;

    if (path.n && path.s[0] == '/')
        *at = node_of(a->tree->mount.root);
    while (take_name(&path, &name)) {
        if (is_name(&name, "."))
            continue;
        if (is_name(&name, "..")) {
            *at = (*at)->parent ?: *at;
            continue;
        }
        if (name.n > VNODE_NAME_MAX)
            return refuse(a, "a name of more than 255 bytes");
        *at = child_or_new(*at, &name);
        if (!*at)
            return -ENOMEM;
        if (!is_folder(*at))
            return refuse(a, "a path through a file, or through links that lead nowhere");
    }
    return 0;
}

/* Finds the folder that a target of a link in `folder` leads to. Returns 0 or an error as
 * path_walk(). */
static int find_target(struct adding *a, struct node *folder, struct tar_text target,
                       struct node **out)
{
    struct path_start start = {.root = a->tree->mount.root, .here = &folder->v};
    char *path = kmalloc(target.n + 1);
    struct vnode *to;

    if (!path)
        return -ENOMEM;
    memcpy(path, target.s, target.n);
    int err = path_walk(&start, path, PATH_FOLDER, &to);
    kfree(path);
    if (err)
        return err;
    vnode_put(to); /* its folder has a reference */
    *out = node_of(to);
    return 0;
}

/* Goes from folder *at to where a link in it leads. */
static int follow_target(struct adding *a, struct node **at, struct tar_text target)
{
    int err = find_target(a, *at, target, at);

    return err && err != -ENOMEM ? make_target(a, at, target) : err;
}

/* Goes from folder *at to its child, which is made if there is none; a link is followed. */
static int enter_folder(struct adding *a, struct node **at, const struct tar_text *name)
{
    if (is_name(name, ".."))
        return refuse(a, "a path with '..'");
    if (name->n > VNODE_NAME_MAX)
        return refuse(a, "a name of more than 255 bytes");
    struct node *child = child_or_new(*at, name);
    if (!child)
        return -ENOMEM;
    if (vnode_is(&child->v, S_IFLNK))
        return follow_target(a, at, (struct tar_text){child->v.data, child->v.size});
    if (!is_folder(child))
        return refuse(a, "a path through a file");
    *at = child;
    return 0;
}

/* Goes from folder *at to the folder at `path`, making those that are missing. */
static int find_folder(struct adding *a, struct node **at, struct tar_text path)
{
    struct tar_text name;
    int err = 0;

    while (!err && take_name(&path, &name))
        if (!is_name(&name, "."))
            err = enter_folder(a, at, &name);
    return err;
}

/* Splits a path at its last name, which is empty for "/" and ".". */
static void split_path(struct tar_text *path, struct tar_text *last)
{
    while (path->n && path->s[path->n - 1] == '/')
        path->n--;
    last->n = 0;
    while (path->n > last->n && path->s[path->n - last->n - 1] != '/')
        last->n++;
    path->n -= last->n;
    last->s = path->s + path->n;
    if (is_name(last, "."))
        last->n = 0;
}

/* ---- Entries --------------------------------------------------------------------------------- */

/* Goes to the folder that an entry is in, below `under`, and finds its name there. */
static int find_place(struct adding *a, const struct tar_entry *e, const char *under,
                      struct node **folder, struct tar_text *name)
{
    struct tar_text path = e->name;

    split_path(&path, name);
    *folder = node_of(a->tree->mount.root);
    if (name->n > VNODE_NAME_MAX)
        return refuse(a, "a name of more than 255 bytes");
    if (is_name(name, ".."))
        return refuse(a, "a path with '..'");
    return find_folder(a, folder, (struct tar_text){under, text_length(under)})
               ?: find_folder(a, folder, e->folder)
               ?: find_folder(a, folder, path);
}

static bool is_in(const struct node *n, const struct node *folder)
{
    while (n && n != folder)
        n = n->parent;
    return n;
}

/* A link takes the place of a folder, as /bin that becomes a link to usr/bin: what was in the
 * folder moves to where the link leads; what is there already stays. */
static int move_children(struct adding *a, struct node *folder, const struct tar_entry *e)
{
    struct node *to = folder->parent;
    int err = follow_target(a, &to, e->target);

    if (err)
        return err;
    if (is_in(to, folder))
        return refuse(a, "a link that leads into the folder that it replaces");
    while (!list_empty(&folder->children)) {
        struct node *child = container_of(folder->children.next, struct node, beside);
        const char *name = child->name;
        node_leave(child);
        if (node_child(to, name, child->name_n))
            vnode_put(&child->v);
        else
            node_enter(to, child, name, child->name_n, false);
        vnode_put(&folder->v);
    }
    return 0;
}

/* Makes place for an entry where `old` is. */
static int replace_node(struct adding *a, struct node *old, const struct tar_entry *e)
{
    if (is_folder(old) && !list_empty(&old->children)) {
        if (e->type != TAR_LINK)
            return refuse(a, "a file where a folder is");
        int err = move_children(a, old, e);
        if (err)
            return err;
    }
    drop_node(old);
    return 0;
}

static void fill_node(struct node *n, const struct tar_entry *e)
{
    n->v.mode = (n->v.mode & S_IFMT) | e->mode;
    n->v.uid = e->uid;
    n->v.gid = e->gid;
    n->v.major = e->major;
    n->v.minor = e->minor;
    n->v.accessed = n->v.modified = n->v.changed = (struct vnode_time){.s = e->time};
    if (e->type == TAR_FILE) {
        n->v.data = e->data;
        n->v.size = e->size;
    } else if (e->type == TAR_LINK) {
        n->v.data = e->target.s;
        n->v.size = e->target.n;
    }
}

static uint32_t type_bits(enum tar_type type)
{
    static const uint32_t bits[] = {
        [TAR_FILE] = S_IFREG,  [TAR_LINK] = S_IFLNK,   [TAR_CHAR] = S_IFCHR,
        [TAR_BLOCK] = S_IFBLK, [TAR_FOLDER] = S_IFDIR, [TAR_FIFO] = S_IFIFO};

    return bits[type];
}

/* A hard link is a node of its own with the number and contents of the first. */
static int make_hard_link(struct adding *a, const struct tar_entry *e, const char *under,
                          struct node *folder, const struct tar_text *name)
{
    struct tar_entry first = {.name = e->target};
    struct tar_text first_name;
    struct node *at;
    int err = find_place(a, &first, under, &at, &first_name);

    if (err)
        return err;
    struct node *to = node_child(at, first_name.s, first_name.n);
    struct node *old = node_child(folder, name->s, name->n);
    if (!to || is_folder(to))
        return refuse(a, "a hard link to a file that is not there");
    to = to->same ? to->same : to;
    if (old == to)
        return 0;
    vnode_get(&to->v); /* `old` may be the only link to it */
    err = old ? replace_node(a, old, e) : 0;
    struct node *n = err ? NULL : add_node(folder, name->s, name->n, to->v.mode);
    if (!n) {
        vnode_put(&to->v);
        return err ? err : -ENOMEM;
    }
    uint32_t refs = n->v.refs;
    n->v = to->v;
    n->v.refs = refs;
    n->same = to;
    to->links++;
    return 0;
}

static int add_entry(struct adding *a, const struct tar_entry *e, const char *under)
{
    struct tar_text name;
    struct node *folder, *to;
    int err = find_place(a, e, under, &folder, &name);

    if (err)
        return err;
    if (!name.n) { /* "./" */
        if (e->type == TAR_FOLDER)
            fill_node(folder, e);
        return e->type == TAR_FOLDER ? 0 : refuse(a, "an entry without a name");
    }
    if (e->type == TAR_HARD_LINK)
        return make_hard_link(a, e, under, folder, &name);
    struct node *n = node_child(folder, name.s, name.n);
    if (n && e->type == TAR_FOLDER && vnode_is(&n->v, S_IFLNK) &&
        !find_target(a, folder, (struct tar_text){n->v.data, n->v.size}, &to))
        return 0;
    if (n && !(e->type == TAR_FOLDER && is_folder(n))) {
        err = replace_node(a, n, e);
        n = NULL;
    }
    if (!err && !n) {
        n = add_node(folder, name.s, name.n, type_bits(e->type));
        err = n ? 0 : -ENOMEM;
    }
    if (!err)
        fill_node(n, e);
    return err;
}

int tree_add_archive(struct tree *t, const void *archive, uint64_t bytes, const char *under,
                     uint64_t *at, const char **why)
{
    struct adding a = {.tree = t};
    struct tar_entry entry;
    int err;

    *at = 0;
    for (uint64_t cursor = 0;; *at = cursor) {
        err = tar_next(archive, bytes, &cursor, &entry, why);
        if (err)
            break;
        err = add_entry(&a, &entry, under);
        *why = a.why;
        if (err)
            break;
    }
    return err == -ENOENT ? 0 : err;
}

struct vnode *tree_make_folder(struct tree *t, const char *path, uint32_t mode)
{
    struct adding a = {.tree = t};
    struct node *at = node_of(t->mount.root);

    if (find_folder(&a, &at, (struct tar_text){path, text_length(path)}))
        return NULL;
    at->v.mode = S_IFDIR | mode;
    return &at->v;
}

/* Makes a node at `path`, where none may be. */
static struct node *make_at(struct tree *t, const char *path, uint32_t mode)
{
    struct adding a = {.tree = t};
    struct node *at = node_of(t->mount.root);
    struct tar_text folder = {path, text_length(path)}, name;

    split_path(&folder, &name);
    if (!name.n || find_folder(&a, &at, folder) || node_child(at, name.s, name.n))
        return NULL;
    return add_node(at, name.s, name.n, mode);
}

struct vnode *tree_make_link(struct tree *t, const char *path, const char *target)
{
    struct node *n = make_at(t, path, S_IFLNK | 0777);

    if (!n)
        return NULL;
    n->v.data = target;
    n->v.size = text_length(target);
    return &n->v;
}

struct vnode *tree_make_device(struct tree *t, const char *path, uint32_t mode, uint32_t major,
                               uint32_t minor, const struct vnode_ops *ops)
{
    struct node *n = make_at(t, path, mode);

    if (!n)
        return NULL;
    n->v.ops = ops;
    n->v.major = major;
    n->v.minor = minor;
    return &n->v;
}
