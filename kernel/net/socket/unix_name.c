/* Names of sockets of AF_UNIX: paths, of which the vnode counts, and abstract names. */
#include "kernel/core/printf.h"
#include "kernel/fs/fs.h"
#include "kernel/mem/mem.h"
#include "kernel/net/socket/unix.h"

#define BUCKETS    512
#define PATH_AT    offsetof(struct sockaddr_un, sun_path)
#define AUTO_BYTES (PATH_AT + 6) /* a NUL and five digits */
#define AUTO_NAMES 0x100000

static struct spinlock table_lock = SPINLOCK(LOCK_SOCKET, "names of sockets");
static struct list buckets[BUCKETS]; /* table_lock; empty ones may be zeros */
static uint32_t next_auto;           /* atomic */

/* ---- Names ----------------------------------------------------------------------------------- */

int unix_check_address(const struct socket_address *a)
{
    return a->bytes <= PATH_AT || a->bytes > sizeof(struct sockaddr_un) ||
                   a->is.ss_family != AF_UNIX
               ? -EINVAL
               : 0;
}

struct unix_name *unix_name_get(struct unix_name *n)
{
    if (n)
        __atomic_fetch_add(&n->refs, 1, __ATOMIC_RELAXED);
    return n;
}

void unix_name_put(struct unix_name *n)
{
    if (!n || __atomic_sub_fetch(&n->refs, 1, __ATOMIC_ACQ_REL))
        return;
    vnode_put(n->node);
    kfree(n);
}

static struct unix_name *make_name(const void *address, uint32_t bytes, int type)
{
    struct unix_name *n = kmalloc(sizeof(*n));

    if (!n)
        return NULL;
    n->refs = 1;
    n->bytes = bytes;
    memcpy(&n->is, address, bytes);
    n->type = type;
    list_init(&n->in_bucket);
    return n;
}

void unix_put_address(struct unix_socket *u, struct socket_address *out, bool bare)
{
    bool irq = spin_lock(&u->s.lock);
    const struct unix_name *n = u->name; /* it stays as long as u */

    spin_unlock(&u->s.lock, irq);
    memset(&out->is, 0, sizeof(out->is));
    out->is.ss_family = AF_UNIX;
    out->bytes = n ? n->bytes : bare ? 0 : PATH_AT;
    if (n)
        memcpy(&out->is, &n->is, n->bytes);
}

/* ---- The table ------------------------------------------------------------------------------- */

static struct list *bucket_of(const struct unix_name *n)
{
    uint64_t hash = n->node ? (uint64_t)(uintptr_t)n->node >> 4 : (uint64_t)n->type;
    const unsigned char *text = (const unsigned char *)n->is.sun_path;

    for (uint32_t i = 0; !n->node && i < n->bytes - PATH_AT; i++)
        hash = hash * 31 + text[i];
    hash *= 0x9e3779b97f4a7c15ull;
    struct list *b = &buckets[(hash >> 32) % BUCKETS];
    if (!b->next)
        list_init(b);
    return b;
}

static bool same_name(const struct unix_name *a, const struct unix_name *b)
{
    if (a->node || b->node)
        return a->node == b->node;
    return a->type == b->type && a->bytes == b->bytes && !memcmp(&a->is, &b->is, a->bytes);
}

/* Returns the name in the table that is the same, or NULL. Lock held. */
static struct unix_name *find_locked(const struct unix_name *n)
{
    struct list *b = bucket_of(n);

    list_for_each (it, b) {
        struct unix_name *other = container_of(it, struct unix_name, in_bucket);
        if (same_name(n, other))
            return other;
    }
    return NULL;
}

/* Enters the name of u. Returns false if there is one of the same. */
static bool enter_name(struct unix_socket *u, struct unix_name *n)
{
    bool irq = spin_lock(&table_lock), entered = !find_locked(n);

    if (entered) {
        n->of = u;
        list_push_back(bucket_of(n), &n->in_bucket);
    }
    spin_unlock(&table_lock, irq);
    return entered;
}

static void leave_table(struct unix_name *n)
{
    bool irq = spin_lock(&table_lock);

    list_remove(&n->in_bucket);
    n->of = NULL;
    spin_unlock(&table_lock, irq);
}

void unix_unbind(struct unix_socket *u)
{
    bool irq = spin_lock(&table_lock), own = u->name && u->name->of == u;

    if (own) { /* else it is the one of the socket that has accepted it */
        list_remove(&u->name->in_bucket);
        u->name->of = NULL;
    }
    spin_unlock(&table_lock, irq);
}

/* Gives u a name that is in the table. Returns 0, or -EINVAL: it has one. */
static int name_socket(struct unix_socket *u, struct unix_name *n)
{
    bool irq = spin_lock(&u->s.lock);
    int err = u->name ? -EINVAL : 0;

    if (!err)
        u->name = n;
    spin_unlock(&u->s.lock, irq);
    if (err)
        leave_table(n);
    return err;
}

/* ---- Binding --------------------------------------------------------------------------------- */

static bool has_name(struct unix_socket *u)
{
    bool irq = spin_lock(&u->s.lock), has = u->name;

    spin_unlock(&u->s.lock, irq);
    return has;
}

/* Copies the path of an address to memory that the caller frees; it may lack its NUL. */
static char *copy_path(const struct socket_address *a)
{
    char *path = kmalloc(a->bytes - PATH_AT + 1);

    if (path)
        memcpy(path, (const char *)&a->is + PATH_AT, a->bytes - PATH_AT);
    return path;
}

/* Makes the vnode of a path, which was not there. */
static int make_node(const struct path_last *l, uint32_t mode, struct vnode **out)
{
    struct vnode *folder = l->folder, *there;

    if (!l->n || (l->name[0] == '.' && (l->n == 1 || (l->n == 2 && l->name[1] == '.'))))
        return -EADDRINUSE;
    int err = folder->ops->lookup(folder, l->name, l->n, &there);
    if (!err) {
        vnode_put(there);
        return -EADDRINUSE;
    }
    if (err != -ENOENT)
        return err;
    if (l->slash)
        return -ENOENT;
    if (!folder->mount || folder->mount->read_only)
        return -EROFS;
    err = folder->ops->create(folder, l->name, l->n, mode, NULL, out);
    return err == -EEXIST ? -EADDRINUSE : err;
}

/* The address ends with the NUL of the path. */
static int name_path(struct unix_socket *u, const char *path, size_t n, struct vnode *node)
{
    struct sockaddr_un is = {.sun_family = AF_UNIX};
    size_t room = sizeof(is.sun_path);

    memcpy(is.sun_path, path, MIN(n, room));
    struct unix_name *name = make_name(&is, (uint32_t)(PATH_AT + MIN(n + 1, room)), u->s.type);
    if (!name)
        return -ENOMEM;
    name->node = vnode_get(node);
    enter_name(u, name); /* the vnode is new, so there is no other */
    int err = name_socket(u, name);
    if (err)
        unix_name_put(name);
    return err;
}

static int bind_last(struct unix_socket *u, const char *path, size_t n, const struct path_last *l,
                     uint32_t umask)
{
    struct vnode *node;
    int err = make_node(l, S_IFSOCK | (0777 & ~umask), &node);

    if (err)
        return err;
    err = name_path(u, path, n, node);
    if (err)
        l->folder->ops->remove(l->folder, l->name, l->n, false);
    vnode_put(node);
    return err;
}

static int bind_path(struct unix_socket *u, const struct socket_address *a,
                     const struct socket_caller *by)
{
    uint32_t umask = __atomic_load_n(&by->files->umask, __ATOMIC_RELAXED);
    char *path = copy_path(a);
    struct path_last last;
    size_t n = 0;

    if (!path)
        return -ENOMEM;
    while (path[n])
        n++;
    struct path_start start = {.root = fs_root(), .here = files_here(by->files)};
    int err = path_last(&start, path, &last);
    vnode_put(start.here);
    if (!err) {
        err = bind_last(u, path, n, &last, umask);
        vnode_put(last.folder);
    }
    kfree(path);
    return err;
}

static int bind_abstract(struct unix_socket *u, const void *address, uint32_t bytes)
{
    struct unix_name *n = has_name(u) ? NULL : make_name(address, bytes, u->s.type);

    if (!n)
        return has_name(u) ? -EINVAL : -ENOMEM;
    int err = enter_name(u, n) ? name_socket(u, n) : -EADDRINUSE;
    if (err)
        unix_name_put(n);
    return err;
}

int unix_autobind(struct unix_socket *u)
{
    struct sockaddr_un is = {.sun_family = AF_UNIX};

    for (unsigned tries = 0; tries < AUTO_NAMES && !has_name(u); tries++) {
        uint32_t number = __atomic_add_fetch(&next_auto, 1, __ATOMIC_RELAXED) % AUTO_NAMES;
        char digits[8];
        ksnprintf(digits, sizeof(digits), "%05x", number);
        memcpy(is.sun_path + 1, digits, AUTO_BYTES - PATH_AT - 1);
        int err = bind_abstract(u, &is, AUTO_BYTES);
        if (err != -EADDRINUSE)
            return err == -EINVAL ? 0 : err; /* another thread was faster */
    }
    return has_name(u) ? 0 : -ENOSPC;
}

int unix_bind(struct socket *s, const struct socket_address *a, const struct socket_caller *by)
{
    struct unix_socket *u = unix_of(s);

    if (a->bytes == PATH_AT && a->is.ss_family == AF_UNIX)
        return unix_autobind(u);
    int err = unix_check_address(a);
    if (err)
        return err;
    if (((const char *)&a->is)[PATH_AT])
        return bind_path(u, a, by);
    return bind_abstract(u, &a->is, a->bytes);
}

/* ---- Finding --------------------------------------------------------------------------------- */

/* Returns the socket that has the name, referenced, or NULL. */
static struct unix_socket *find_socket(const struct unix_name *n)
{
    bool irq = spin_lock(&table_lock);
    const struct unix_name *there = find_locked(n);
    struct unix_socket *u = there ? there->of : NULL;

    if (u)
        socket_get(&u->s);
    spin_unlock(&table_lock, irq);
    return u;
}

static int find_node(const struct socket_address *a, const struct socket_caller *by,
                     struct vnode **out)
{
    char *path = copy_path(a);

    if (!path)
        return -ENOMEM;
    struct path_start start = {.root = fs_root(), .here = files_here(by->files)};
    int err = path_walk(&start, path, 0, out);
    vnode_put(start.here);
    kfree(path);
    return err;
}

int unix_find(const struct socket_address *a, int type, const struct socket_caller *by,
              struct unix_socket **out)
{
    struct unix_name n = {.bytes = a->bytes, .type = type};

    memcpy(&n.is, &a->is, a->bytes);
    if (n.is.sun_path[0]) {
        int err = find_node(a, by, &n.node);
        if (err)
            return err;
    }
    struct unix_socket *u = find_socket(&n);
    vnode_put(n.node);
    if (!u)
        return -ECONNREFUSED;
    if (u->s.type != type) {
        socket_put(&u->s);
        return -EPROTOTYPE;
    }
    *out = u;
    return 0;
}
