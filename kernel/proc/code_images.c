/* See code_images.h. */
#include "kernel/proc/code_images.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/internal.h"
#include "mm/object.h"

#define COPY_BYTES_MAX   (8 * MIB)
#define COPIES_BYTES_MAX (32 * MIB)

struct code_image {
    struct list link;      /* [I] */
    unsigned refs;         /* [I] */
    struct object *object; /* [-] its file, referenced */
    struct eh_frames frames;
    void *copy; /* of the description, an area */
    uint64_t bytes;
};

static struct mutex images_mutex = MUTEX(images_mutex, "descriptions of code"); /* [I] */
static struct list images = {&images, &images};                                 /* [I] */
static uint64_t all_bytes;                                                      /* [I] */
static uint32_t versions;                                                       /* [I] */
static uint32_t wanted;                                                         /* [A] */

static bool is_wanted(void)
{
    return __atomic_load_n(&wanted, __ATOMIC_RELAXED) != 0;
}

/* ---- Images ---------------------------------------------------------------------------------- */

static void free_image(struct code_image *i)
{
    area_free(i->copy);
    object_put(i->object);
    kfree(i);
}

/* Takes images that no process has out of the list, into `out`: all, or until there is room. */
static void take_unused_locked(uint64_t room, bool all, struct list *out)
{
    struct list *next;

    for (struct list *it = images.next; it != &images; it = next) {
        struct code_image *i = container_of(it, struct code_image, link);
        next = it->next;
        if (i->refs || (!all && all_bytes + room <= COPIES_BYTES_MAX))
            continue;
        all_bytes -= i->bytes;
        list_remove(it);
        list_push_back(out, it);
    }
}

static void free_all(struct list *of)
{
    while (!list_empty(of)) {
        struct code_image *i = container_of(of->next, struct code_image, link);
        list_remove(&i->link);
        free_image(i);
    }
}

/* Frees what no process has, if chains are wanted no longer. */
static void trim(void)
{
    struct list unused = {&unused, &unused};

    if (is_wanted())
        return;
    mutex_lock(&images_mutex);
    take_unused_locked(0, true, &unused);
    mutex_unlock(&images_mutex);
    free_all(&unused);
}

static struct code_image *find_locked(const struct object *o)
{
    list_for_each (it, &images) {
        struct code_image *i = container_of(it, struct code_image, link);
        if (i->object == o)
            return i;
    }
    return NULL;
}

/* Copies a file's description. Returns NULL if it has none, or there is no memory. */
static struct code_image *read_image(struct object *o, const struct eh_place *place)
{
    uint64_t bytes = MIN(place->bytes, COPY_BYTES_MAX);
    struct code_image *i = bytes ? kmalloc(sizeof(*i)) : NULL;

    if (!i)
        return NULL;
    *i = (struct code_image){.object = object_get(o), .copy = area_alloc(bytes), .bytes = bytes};
    int64_t n = i->copy ? object_read(o, place->at, i->copy, bytes) : 0;
    if (n > 0 && !eh_frames_open(i->copy, (size_t)n, place->address, place->machine, &i->frames))
        return i;
    free_image(i);
    return NULL;
}

/* Enters a new image, or drops it for one of the same file that is there. Returns it with a
 * reference, or NULL: there is no room. */
static struct code_image *enter_image(struct code_image *i)
{
    struct list unused = {&unused, &unused};

    mutex_lock(&images_mutex);
    struct code_image *known = find_locked(i->object);
    if (!known)
        take_unused_locked(i->bytes, false, &unused);
    if (!known && all_bytes + i->bytes <= COPIES_BYTES_MAX) {
        list_push_back(&images, &i->link);
        all_bytes += i->bytes;
        known = i;
    }
    if (known)
        known->refs++;
    mutex_unlock(&images_mutex);
    if (known != i)
        free_image(i);
    free_all(&unused);
    return known;
}

static void put_image(struct code_image *i)
{
    mutex_lock(&images_mutex);
    i->refs--;
    mutex_unlock(&images_mutex);
}

/* Returns the image of a file, referenced, or NULL. */
static struct code_image *image_of(struct object *o, const struct eh_place *place)
{
    mutex_lock(&images_mutex);
    struct code_image *i = find_locked(o);
    if (i)
        i->refs++;
    mutex_unlock(&images_mutex);
    if (i)
        return i;
    i = read_image(o, place);
    return i ? enter_image(i) : NULL;
}

/* ---- Lists of processes ---------------------------------------------------------------------- */

/* A region of code, and what its file tells of it. */
struct mapped {
    struct region_stats region;
    struct eh_place place;
    uint64_t address; /* of its first byte, as linked */
    uint32_t programs;
    uint8_t head[EH_HEAD_BYTES];
};

/* Returns whether the file describes the region. */
static bool read_place(struct object *o, struct mapped *m)
{
    int64_t n = object_read(o, 0, m->head, sizeof(m->head));

    return n > 0 && eh_place_find(m->head, (size_t)n, &m->place) == 0 &&
           eh_code_address(m->head, (size_t)n, m->region.offset, &m->address);
}

static bool has_locked(const struct chain_images *list, const struct chain_image *image)
{
    const struct chain_image *there = chain_image_at(list, image->start);

    return there && there->start == image->start && there->end == image->end &&
           there->frames == image->frames;
}

/* Adds to the end, where interrupts find it when it is whole, unless it is there or the list is
 * full. The list then has the image's reference. Returns whether it was added. */
static bool append_locked(struct code_images *to, const struct chain_image *image,
                          struct code_image *i)
{
    uint32_t n = to->list.count;

    if (n == CHAIN_IMAGES_MAX || has_locked(&to->list, image))
        return false;
    to->list.image[n] = *image;
    to->image[n] = i;
    __atomic_store_n(&to->list.version, ++versions, __ATOMIC_RELAXED);
    __atomic_store_n(&to->list.count, n + 1, __ATOMIC_RELEASE);
    return true;
}

/* Takes over the reference. */
static void add(struct code_images *to, const struct mapped *m, struct code_image *i)
{
    const struct chain_image image = {m->region.start, m->region.end, m->region.start - m->address,
                                      &i->frames};

    mutex_lock(&images_mutex);
    bool added = to->programs == m->programs && append_locked(to, &image, i);
    mutex_unlock(&images_mutex);
    if (!added)
        put_image(i);
}

/* Finds the code region of a process that ends above `from`, and its file, referenced or NULL. */
static bool find_code(uint32_t pid, vaddr_t from, struct mapped *m, struct object **o)
{
    struct process *p = process_look(pid);
    bool found = p && p->space && space_next_region(p->space, from, &m->region);

    *o = NULL;
    if (found && m->region.prot & PROT_X)
        *o = space_object_of(p->space, m->region.start);
    if (p) {
        m->programs = __atomic_load_n(&p->code.programs, __ATOMIC_RELAXED);
        process_look_end(p);
    }
    return found;
}

/* Takes in the region that ends above *from, if it is code, and goes on behind it. */
static bool take_region(struct process *p, vaddr_t *from, struct mapped *m)
{
    struct object *o;
    bool found = find_code(p->pid, *from, m, &o);

    if (o && read_place(o, m)) {
        struct code_image *i = image_of(o, &m->place);
        if (i)
            add(&p->code, m, i);
    }
    object_put(o);
    *from = m->region.end;
    return found;
}

static void take_all(struct process *p)
{
    struct mapped *m = kmalloc(sizeof(*m));
    vaddr_t from = 0;

    while (m && take_region(p, &from, m))
        ;
    kfree(m);
}

void code_images_let(void)
{
    __atomic_sub_fetch(&wanted, 1, __ATOMIC_ACQ_REL);
}

void code_images_want(void)
{
    struct process *p = NULL;
    uint32_t pid = 0;

    if (__atomic_add_fetch(&wanted, 1, __ATOMIC_ACQ_REL) != 1)
        return;
    while ((p = process_after(pid))) {
        pid = p->pid;
        take_all(p);
        process_put(p);
    }
}

/* Empties a list that no interrupt reads. */
static void forget(struct code_images *c)
{
    mutex_lock(&images_mutex);
    for (uint32_t i = 0; i < c->list.count; i++)
        c->image[i]->refs--;
    c->programs++;
    __atomic_store_n(&c->list.count, 0, __ATOMIC_RELEASE);
    mutex_unlock(&images_mutex);
    trim();
}

void code_images_begin(struct process *p)
{
    forget(&p->code); /* and what is being read of the program before */
    if (is_wanted())
        take_all(p);
}

void code_images_mapped(struct process *p, vaddr_t va)
{
    struct mapped *m = is_wanted() ? kmalloc(sizeof(*m)) : NULL;

    if (m)
        take_region(p, &va, m);
    kfree(m);
}

void code_images_copy(struct process *p, struct process *parent)
{
    struct code_images *to = &p->code, *from = &parent->code;

    if (!chain_images_any(&from->list))
        return;
    mutex_lock(&images_mutex);
    bool same = !to->list.count; /* code_images_want() may have found it before */
    for (uint32_t i = 0; i < from->list.count; i++)
        from->image[i]->refs += append_locked(to, &from->list.image[i], from->image[i]);
    if (same)
        __atomic_store_n(&to->list.version, from->list.version, __ATOMIC_RELAXED);
    mutex_unlock(&images_mutex);
}

void code_images_leave(struct thread *self)
{
    __atomic_store_n(&self->hpm.images, NULL, __ATOMIC_RELAXED);
}

void code_images_end(struct process *p)
{
    forget(&p->code);
}
