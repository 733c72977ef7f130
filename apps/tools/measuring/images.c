/* See images.h. */
#include "apps/tools/measuring/images.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "apps/tools/measuring/elf_lines.h"
#include "apps/tools/measuring/elf_names.h"

enum { PATH_ROOM = 512, FILE_MAX = 64 << 20 };

struct image {
    struct image *next;
    char path[PATH_ROOM];
    struct elf_names names; /* none: it cannot be read, or has no symbols */
    struct elf_lines lines; /* none: not read yet, or there are none */
    bool lines_read;
    const uint8_t *file; /* NULL: there are no names */
    size_t bytes;
    uint8_t id[ELF_BUILD_ID_MAX];
    unsigned id_bytes;
};
static struct image *images;

/* A file in a process: its addresses are `bias` above those that it was linked for. */
struct loaded {
    struct loaded *next;
    uint32_t pid;
    uint64_t bias;
    struct image *image;
};
static struct loaded *all_loaded;

/* Code of a file that a process has mapped. */
struct code {
    struct code *next;
    uint32_t pid;
    uint64_t start, end, offset;
    struct image *image;
};
static struct code *all_code;

/* Returns a file's bytes with a NUL behind them, NULL: it cannot be read, or is too large. */
static uint8_t *read_file(const char *path, size_t *bytes)
{
    FILE *in = fopen(path, "rb");
    uint8_t *at = NULL;
    long size = -1;

    if (in && !fseek(in, 0, SEEK_END))
        size = ftell(in);
    if (size > 0 && size <= FILE_MAX && !fseek(in, 0, SEEK_SET))
        at = malloc((size_t)size + 1);
    if (at && fread(at, 1, (size_t)size, in) != (size_t)size) {
        free(at);
        at = NULL;
    }
    if (in)
        fclose(in);
    if (at)
        at[size] = '\0';
    *bytes = at ? (size_t)size : 0;
    return at;
}

/* Returns the image of a file, which is read once. NULL: no memory. */
static struct image *image_of(const char *path)
{
    struct image *i = images;
    size_t bytes;

    while (i && strcmp(i->path, path) != 0)
        i = i->next;
    if (i)
        return i;
    i = calloc(1, sizeof *i);
    if (!i)
        return NULL;
    snprintf(i->path, sizeof i->path, "%s", path);
    uint8_t *file = read_file(path, &bytes);
    i->id_bytes = file ? elf_build_id(file, bytes, i->id) : 0;
    if (file && elf_names_read(file, bytes, &i->names)) {
        i->file = file;
        i->bytes = bytes;
    } else {
        free(file);
    }
    i->next = images;
    images = i;
    return i;
}

void images_read(const char *path)
{
    image_of(path);
}

static void note_loaded(uint32_t pid, uint64_t start, struct image *image)
{
    uint64_t bias = start - image->names.low;

    for (const struct loaded *l = all_loaded; l; l = l->next)
        if (l->pid == pid && l->bias == bias && l->image == image)
            return;
    struct loaded *l = malloc(sizeof *l);
    if (!l)
        return;
    *l = (struct loaded){all_loaded, pid, bias, image};
    all_loaded = l;
}

static void note_code(const struct code *seen)
{
    for (const struct code *c = all_code; c; c = c->next)
        if (c->pid == seen->pid && c->start == seen->start && c->end == seen->end &&
            c->image == seen->image)
            return;
    struct code *c = malloc(sizeof *c);
    if (!c)
        return;
    *c = *seen;
    c->next = all_code;
    all_code = c;
}

/* Names are those of files that are mapped from their beginning on, as loaders map programs. */
void images_read_maps(uint32_t pid)
{
    char line[PATH_ROOM + 128], path[PATH_ROOM], rights[5];
    struct code c = {.pid = pid};

    snprintf(line, sizeof line, "/proc/%" PRIu32 "/maps", pid);
    FILE *in = fopen(line, "r");
    while (in && fgets(line, sizeof line, in)) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %511[^\n]", &c.start,
                   &c.end, rights, &c.offset, path) != 5 ||
            path[0] != '/')
            continue;
        c.image = image_of(path);
        if (c.image && rights[2] == 'x')
            note_code(&c);
        if (c.image && c.image->names.count && !c.offset)
            note_loaded(pid, c.start, c.image);
    }
    if (in)
        fclose(in);
}

static const struct loaded *loaded_at(uint32_t pid, uint64_t address)
{
    const struct loaded *l = all_loaded;

    while (l && (l->pid != pid || address - l->bias < l->image->names.low ||
                 address - l->bias >= l->image->names.high))
        l = l->next;
    return l;
}

/* Finds the line of code in a file. Its lines are read when the first is asked for. */
static void find_line(struct image *image, uint64_t address, struct images_found *out)
{
    static char path[PATH_ROOM];
    const struct elf_lines_file *file;

    if (!image->lines_read)
        elf_lines_read(image->file, image->bytes, &image->lines);
    image->lines_read = true;
    if (!elf_lines_find(&image->lines, address, &file, &out->line))
        return;
    bool within = file->folder && file->name[0] != '/';
    snprintf(path, sizeof path, "%s%s%s", within ? file->folder : "", within ? "/" : "",
             file->name);
    out->file = path;
}

bool images_find(uint32_t pid, uint64_t address, struct images_found *out)
{
    static unsigned asked;
    const struct loaded *l = loaded_at(pid, address);

    *out = (struct images_found){0};
    if (!l && asked++ % IMAGES_EVERY == 0) {
        images_read_maps(pid);
        l = loaded_at(pid, address);
    }
    if (!l)
        return false;
    const struct elf_name *n = elf_names_find(&l->image->names, address - l->bias);
    if (n) {
        out->name = n->name;
        out->offset = address - l->bias - n->start;
    }
    find_line(l->image, address - l->bias, out);
    return n || out->file;
}

void images_print_code(void)
{
    for (const struct code *c = all_code; c; c = c->next) {
        printf("CODE %" PRIu32 " %" PRIx64 " %" PRIx64 " %" PRIx64 " ", c->pid, c->start,
               c->end - c->start, c->offset);
        for (unsigned i = 0; i < c->image->id_bytes; i++)
            printf("%02x", c->image->id[i]);
        printf("%s %s\n", c->image->id_bytes ? "" : "-", c->image->path);
    }
}
