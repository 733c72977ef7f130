/* Nodes of a tree of files, and what is read of them; see tree.h. */
#include "kernel/fs/tree_node.h"
#include "kernel/mem/mem.h"

#define BUCKETS_FIRST 64

/* ---- Nodes ----------------------------------------------------------------------------------- */

bool tree_lock(struct tree *t)
{
    return t->mount.read_only ? false : spin_lock(&t->lock);
}

void tree_unlock(struct tree *t, bool irq)
{
    if (!t->mount.read_only)
        spin_unlock(&t->lock, irq);
}

/* FNV-1a, begun with the folder. */
static uint64_t hash_of(const struct node *folder, const char *name, size_t n)
{
    uint64_t h = 0xcbf29ce484222325ull ^ folder->v.id * 0x9e3779b97f4a7c15ull;

    for (size_t i = 0; i < n; i++)
        h = (h ^ (uint8_t)name[i]) * 0x100000001b3ull;
    return h ^ h >> 29;
}

static struct node **bucket_of(const struct tree *t, const struct node *folder, const char *name,
                               size_t n)
{
    return &t->buckets[hash_of(folder, name, n) & (t->bucket_count - 1)];
}

/* Moves all nodes to a table twice as large. Returns the old one. */
static struct node **move_buckets(struct tree *t, struct node **larger, uint64_t count)
{
    struct node **old = t->buckets;
    uint64_t old_count = t->bucket_count;

    t->buckets = larger;
    t->bucket_count = count;
    for (uint64_t i = 0; i < old_count; i++)
        for (struct node *n = old[i], *next; n; n = next) {
            struct node **to = bucket_of(t, n->parent, n->name, n->name_n);
            next = n->next;
            n->next = *to;
            *to = n;
        }
    return old;
}

int tree_reserve(struct tree *t)
{
    bool irq = tree_lock(t);
    uint64_t count = t->node_count < t->bucket_count ? 0 : t->bucket_count * 2;

    tree_unlock(t, irq);
    if (!count)
        return 0;
    struct node **larger = area_alloc(count * sizeof(*larger)), **unused = larger;
    if (!larger)
        return -ENOMEM;
    irq = tree_lock(t);
    if (t->bucket_count < count)
        unused = move_buckets(t, larger, count);
    tree_unlock(t, irq);
    area_free(unused);
    return 0;
}

struct node *node_make(struct tree *t, uint32_t mode)
{
    struct node *n = kmalloc(sizeof(*n));

    if (!n)
        return NULL;
    n->v = (struct vnode){.ops = &tree_ops,
                          .mount = &t->mount,
                          .id = __atomic_add_fetch(&t->last_id, 1, __ATOMIC_RELAXED),
                          .refs = 1,
                          .mode = mode};
    n->tree = t;
    n->links = (mode & S_IFMT) == S_IFDIR ? 2 : 1;
    list_init(&n->beside);
    list_init(&n->children);
    return n;
}

struct node *node_child(const struct node *folder, const char *name, size_t n)
{
    struct node *child = *bucket_of(folder->tree, folder, name, n);

    while (child && (child->parent != folder || child->name_n != n || memcmp(child->name, name, n)))
        child = child->next;
    return child;
}

void node_enter(struct node *folder, struct node *child, const char *name, size_t n, bool own)
{
    struct tree *t = folder->tree;
    struct node **bucket = bucket_of(t, folder, name, n);

    vnode_get(&folder->v);
    child->parent = folder;
    child->name = name;
    child->name_n = (uint32_t)n;
    child->own_name = own;
    child->cursor = ++t->last_cursor;
    list_push_back(&folder->children, &child->beside);
    child->next = *bucket;
    *bucket = child;
    t->node_count++;
    folder->links += vnode_is(&child->v, S_IFDIR);
}

struct node *node_leave(struct node *child)
{
    struct node *folder = child->parent;
    struct node **at = bucket_of(child->tree, folder, child->name, child->name_n);

    while (*at != child)
        at = &(*at)->next;
    *at = child->next;
    if (folder->listed == child)
        folder->listed = NULL;
    child->parent = NULL;
    list_remove(&child->beside);
    child->tree->node_count--;
    folder->links -= vnode_is(&child->v, S_IFDIR);
    return folder;
}

/* ---- Operations ------------------------------------------------------------------------------ */

static int lookup_node(struct vnode *v, const char *name, size_t n, struct vnode **out)
{
    struct node *folder = node_of(v);

    if (!vnode_is(v, S_IFDIR))
        return -ENOTDIR;
    bool irq = tree_lock(folder->tree);
    struct node *child = node_child(folder, name, n);
    if (child)
        *out = vnode_get(&node_file(child)->v);
    tree_unlock(folder->tree, irq);
    return child ? 0 : -ENOENT;
}

struct vnode *tree_parent(struct vnode *v)
{
    struct node *n = node_of(v);
    bool irq = tree_lock(n->tree);
    struct vnode *up = n->parent ? vnode_get(&n->parent->v) : NULL;

    tree_unlock(n->tree, irq);
    return up;
}

size_t tree_name(struct vnode *v, char *to, size_t room)
{
    struct node *n = node_of(v);
    bool irq = tree_lock(n->tree);
    size_t length = MIN((size_t)n->name_n, room);

    if (length)
        memcpy(to, n->name, length);
    tree_unlock(n->tree, irq);
    return length;
}

static int list_nodes(struct vnode *v, uint64_t cursor, vnode_entry *take, void *to)
{
    struct node *folder = node_of(v);

    if (!vnode_is(v, S_IFDIR))
        return -ENOTDIR;
    bool irq = tree_lock(folder->tree);
    struct list *it = &folder->children;
    if (cursor && folder->listed && folder->listed->cursor <= cursor)
        it = &folder->listed->beside; /* else from the start, over all that was listed */
    while ((it = it->next) != &folder->children) {
        struct node *n = container_of(it, struct node, beside);
        if (n->cursor <= cursor)
            continue;
        if (!take(to, n->name, n->name_n, n->v.id, n->v.mode & S_IFMT, n->cursor))
            break;
        if (!folder->tree->mount.read_only)
            folder->listed = n;
    }
    tree_unlock(folder->tree, irq);
    return 0;
}

static int64_t read_target(struct vnode *v, char *to, size_t room)
{
    return vnode_is(v, S_IFLNK) ? vnode_read_data(v, NULL, 0, 0, to, room) : -EINVAL;
}

static void stat_node(struct vnode *v, struct vnode_stat *out)
{
    struct node *n = node_of(v);

    vnode_stat(v, out);
    out->links = (n->same ? n->same : n)->links;
}

static void release_node(struct vnode *v)
{
    struct node *n = node_of(v), *same = n->same;

    node_free_contents(n);
    if (n->own_name)
        kfree((void *)n->name);
    kfree(n);
    vnode_put(same ? &same->v : NULL);
}

const struct vnode_ops tree_ops = {
    .lookup = lookup_node,
    .parent = tree_parent,
    .name = tree_name,
    .list = list_nodes,
    .readlink = read_target,
    .follow = vnode_no_follow,
    .stat = stat_node,
    .open = vnode_open,
    .close = vnode_close,
    .read = node_read,
    .write = node_write,
    .poll = vnode_poll,
    .ioctl = vnode_no_ioctl,
    .create = node_create,
    .remove = node_remove,
    .rename = node_rename,
    .exchange_names = node_exchange_names,
    .set_size = node_resize,
    .change = node_change,
    .give = node_give,
    .stamp = node_stamp,
    .link = node_link,
    .sync = vnode_sync,
    .own = node_own,
    .object = node_object,
    .create_apart = node_create_apart,
    .find = node_find,
    .punch = node_punch,
    .release = release_node,
};

static int tell_usage(const struct mount *m, struct mount_usage *out)
{
    const struct tree *t = container_of(m, struct tree, mount);
    uint64_t used = object_store_pages(&t->store);

    *out = (struct mount_usage){.block_bytes = (uint32_t)PAGE_SIZE,
                                .name_max = VNODE_NAME_MAX,
                                .blocks = t->store.pages_max};
    out->free = out->available = out->blocks - MIN(used, out->blocks);
    out->files = out->files_free = out->blocks;
    return 0;
}

struct tree *tree_create(const char *type, uint32_t magic, bool read_only)
{
    struct tree *t = kmalloc(sizeof(*t));

    if (!t)
        return NULL;
    spin_init(&t->lock, LOCK_FS, "tree of files");
    object_store_init(&t->store, 0);
    object_store_init(&t->archived, UINT64_MAX);
    t->mount =
        (struct mount){.type = type, .usage = tell_usage, .magic = magic, .read_only = read_only};
    t->bucket_count = BUCKETS_FIRST;
    t->buckets = area_alloc(BUCKETS_FIRST * sizeof(*t->buckets));
    struct node *root = t->buckets ? node_make(t, S_IFDIR | 0755) : NULL;
    if (!root) {
        area_free(t->buckets);
        kfree(t);
        return NULL;
    }
    t->mount.root = &root->v;
    return t;
}

void tree_set_limit(struct tree *t, uint64_t bytes)
{
    t->store.pages_max = bytes / PAGE_SIZE;
}

struct mount *tree_mount(struct tree *t)
{
    return &t->mount;
}

void tree_destroy_for_test(struct tree *t)
{
    struct node *root = node_of(t->mount.root), *n = root;

    while (n != root || !list_empty(&root->children)) {
        if (!list_empty(&n->children)) {
            n = container_of(n->children.next, struct node, beside);
            continue;
        }
        struct node *up = node_leave(n);
        vnode_put(&n->v);
        vnode_put(&up->v);
        n = up;
    }
    vnode_put(&root->v);
    object_store_end(&t->store);
    object_store_end(&t->archived);
    area_free(t->buckets);
    kfree(t);
}
