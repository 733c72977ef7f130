/* See elf_lines.h. */
#include "apps/tools/measuring/elf_lines.h"
#include "kernel/lib/reader.h"
#include <stdlib.h>
#include <string.h>

enum { SHF_COMPRESSED = 0x800, SHT_NOBITS = 8 };

/* DWARF 5, 7.5.6, 7.22. */
enum form {
    FORM_DATA2 = 0x05,
    FORM_DATA4 = 0x06,
    FORM_DATA8 = 0x07,
    FORM_STRING = 0x08,
    FORM_BLOCK = 0x09,
    FORM_DATA1 = 0x0b,
    FORM_STRP = 0x0e,
    FORM_UDATA = 0x0f,
    FORM_DATA16 = 0x1e,
    FORM_LINE_STRP = 0x1f
};
enum { CONTENT_PATH = 1, CONTENT_FOLDER = 2 };
enum standard {
    EXTENDED,
    COPY,
    ADVANCE_PC,
    ADVANCE_LINE,
    SET_FILE,
    SET_COLUMN,
    NEGATE,
    BASIC_BLOCK,
    CONST_ADD_PC,
    FIXED_ADVANCE_PC
};
enum { END_SEQUENCE = 1, SET_ADDRESS = 2 };

struct sections {
    struct reader lines, line_texts, texts;
};

/* ---- Reading --------------------------------------------------------------------------------- */

/* Returns a text that ends in its section, or NULL. */
static const char *text(struct reader *r)
{
    const uint8_t *end = r->bad ? NULL : memchr(r->at, '\0', (size_t)(r->end - r->at));
    const char *at = (const char *)r->at;

    if (!end) {
        r->bad = true;
        return NULL;
    }
    r->at = end + 1;
    return at;
}

static const char *text_of(const struct reader *section, uint64_t offset)
{
    struct reader r = *section;

    return take(&r, offset) ? text(&r) : NULL;
}

/* ---- Sections -------------------------------------------------------------------------------- */

struct section {
    uint32_t name, type;
    uint64_t flags, address, at, bytes;
    uint32_t link, info;
    uint64_t align, entry_bytes;
};

static bool get_section(const struct reader *file, uint64_t table, unsigned i, struct section *out)
{
    struct reader r = *file;

    if (table > UINT64_MAX / 2 || !take(&r, table + i * sizeof *out))
        return false;
    const uint8_t *at = take(&r, sizeof *out);
    if (at)
        memcpy(out, at, sizeof *out);
    return at;
}

/* Returns the contents of a section, bad if they are not plainly in the file. */
static struct reader contents(const struct reader *file, const struct section *s)
{
    struct reader r = *file;
    const uint8_t *at = s->type == SHT_NOBITS || s->flags & SHF_COMPRESSED || !take(&r, s->at)
                            ? NULL
                            : take(&r, s->bytes);

    return (struct reader){at, at ? at + s->bytes : NULL, !at};
}

/* Finds the sections with lines and their texts. Returns whether there are lines. */
static bool find_sections(const struct reader *file, struct sections *out)
{
    const struct reader none = {NULL, NULL, true};
    struct reader header = *file;
    struct section names, s;

    *out = (struct sections){none, none, none};
    const uint8_t *at = take(&header, 64);
    if (!at || memcmp(at, "\177ELF\2\1", 6) != 0)
        return false;
    uint64_t table;
    uint16_t counts[3]; /* of bytes, of sections, and which has the names (ELF-64, 3) */
    memcpy(&table, at + 40, sizeof table);
    memcpy(counts, at + 58, sizeof counts);
    if (counts[0] != sizeof s || !get_section(file, table, counts[2], &names))
        return false;
    const struct reader name_texts = contents(file, &names);
    for (unsigned i = 0; i < counts[1] && get_section(file, table, i, &s); i++) {
        const char *name = text_of(&name_texts, s.name);
        struct reader *to = !name                              ? NULL
                            : !strcmp(name, ".debug_line")     ? &out->lines
                            : !strcmp(name, ".debug_line_str") ? &out->line_texts
                            : !strcmp(name, ".debug_str")      ? &out->texts
                                                               : NULL;
        if (to)
            *to = contents(file, &s);
    }
    return !out->lines.bad;
}

/* ---- A unit's files -------------------------------------------------------------------------- */

struct unit {
    struct reader r;
    uint16_t version;
    uint8_t step, line_range, first_special, lengths[256];
    int8_t line_base;
    const char **folder;
    size_t folders, folders_room;
    size_t first_file; /* of elf_lines.file */
};

/* Makes room for one more item. Returns false if there is no memory. */
static bool reserve(void **items, size_t count, size_t *room, size_t bytes)
{
    if (count < *room)
        return true;
    size_t more = *room * 2 + 64;
    void *grown = realloc(*items, more * bytes);
    if (!grown)
        return false;
    *items = grown;
    *room = more;
    return true;
}

static bool add_folder(struct unit *u, const char *name)
{
    if (!reserve((void **)&u->folder, u->folders, &u->folders_room, sizeof *u->folder))
        return false;
    u->folder[u->folders++] = name;
    return true;
}

/* Folder 0 is that of the compilation; the others may be below it. */
static bool add_file(struct elf_lines *out, const struct unit *u, const char *name, uint64_t folder)
{
    if (!reserve((void **)&out->file, out->files, &out->files_room, sizeof *out->file))
        return false;
    out->file[out->files++] =
        (struct elf_lines_file){folder && folder < u->folders ? u->folder[folder] : NULL, name};
    return true;
}

/* Of DWARF 2 to 4, which count both from 1. */
static bool read_old_files(struct unit *u, struct elf_lines *out)
{
    const char *name;
    bool enough = add_folder(u, NULL) && add_file(out, u, NULL, 0);

    while (enough && (name = text(&u->r)) && *name)
        enough = add_folder(u, name);
    while (enough && (name = text(&u->r)) && *name) {
        uint64_t folder = take_uleb(&u->r);
        take_uleb(&u->r);
        take_uleb(&u->r);
        enough = add_file(out, u, name, folder);
    }
    return enough;
}

/* Reads a value: a text or a number. An unknown form breaks the reader. */
static const char *read_form(struct reader *r, const struct sections *s, uint64_t form, uint64_t *n)
{
    switch (form) {
    case FORM_STRING:
        return text(r);
    case FORM_LINE_STRP:
        return text_of(&s->line_texts, take_number(r, 4));
    case FORM_STRP:
        return text_of(&s->texts, take_number(r, 4));
    case FORM_UDATA:
        *n = take_uleb(r);
        return NULL;
    case FORM_DATA1:
    case FORM_DATA2:
    case FORM_DATA4:
    case FORM_DATA8:
        *n = take_number(r, form == FORM_DATA1   ? 1
                            : form == FORM_DATA2 ? 2
                            : form == FORM_DATA4 ? 4
                                                 : 8);
        return NULL;
    case FORM_DATA16:
        take(r, 16);
        return NULL;
    case FORM_BLOCK:
        take(r, take_uleb(r));
        return NULL;
    default:
        r->bad = true;
        return NULL;
    }
}

/* Reads a table of DWARF 5: of folders, or of files. */
static bool read_new_table(struct unit *u, const struct sections *s, struct elf_lines *out,
                           bool of_files)
{
    unsigned columns = (unsigned)take_number(&u->r, 1);
    struct reader format = u->r;
    bool enough = true;

    for (unsigned c = 0; c < 2 * columns; c++)
        take_uleb(&u->r);
    uint64_t count = take_uleb(&u->r);
    for (uint64_t i = 0; i < count && columns && enough && !u->r.bad; i++) {
        struct reader of = format;
        const char *name = NULL;
        uint64_t folder = 0, other;
        for (unsigned c = 0; c < columns; c++) {
            uint64_t content = take_uleb(&of), form = take_uleb(&of);
            const char *found =
                read_form(&u->r, s, form, content == CONTENT_FOLDER ? &folder : &other);
            name = content == CONTENT_PATH ? found : name;
        }
        enough = of_files ? add_file(out, u, name, folder) : add_folder(u, name);
    }
    return enough;
}

/* ---- A unit's program ------------------------------------------------------------------------ */

struct state {
    uint64_t address;
    uint64_t file, line;
    size_t first; /* line of the sequence */
};

/* Of lines at one address the last counts. */
static bool add_line(struct elf_lines *out, const struct unit *u, const struct state *s, bool end)
{
    uint64_t file = u->first_file + s->file;
    bool known = !end && s->file < UINT32_MAX && file < out->files && out->file[file].name;
    struct elf_line row = {s->address, known ? (uint32_t)file : 0, known ? (uint32_t)s->line : 0};

    if (out->lines > s->first && out->line[out->lines - 1].start == row.start)
        out->lines--;
    if (!reserve((void **)&out->line, out->lines, &out->lines_room, sizeof *out->line))
        return false;
    out->line[out->lines++] = row;
    return true;
}

static void begin(struct state *s, const struct elf_lines *out)
{
    *s = (struct state){.file = 1, .line = 1, .first = out->lines};
}

/* Code that the linker has left out is at address 0. */
static bool end_sequence(struct elf_lines *out, const struct unit *u, struct state *s)
{
    bool enough = add_line(out, u, s, true);

    if (enough && !out->line[s->first].start)
        out->lines = s->first;
    begin(s, out);
    return enough;
}

static bool run_extended(struct unit *u, struct elf_lines *out, struct state *s)
{
    uint64_t bytes = take_uleb(&u->r);
    const uint8_t *at = take(&u->r, bytes);
    bool enough = true;

    if (at && bytes && *at == END_SEQUENCE)
        enough = end_sequence(out, u, s);
    else if (at && bytes == 9 && *at == SET_ADDRESS)
        memcpy(&s->address, at + 1, sizeof s->address);
    return enough;
}

static uint64_t special_steps(const struct unit *u, unsigned code)
{
    return (uint64_t)(code - u->first_special) / u->line_range * u->step;
}

static bool run_standard(struct unit *u, struct elf_lines *out, struct state *s, unsigned code)
{
    switch (code) {
    case EXTENDED:
        return run_extended(u, out, s);
    case COPY:
        return add_line(out, u, s, false);
    case ADVANCE_PC:
        s->address += take_uleb(&u->r) * u->step;
        break;
    case ADVANCE_LINE:
        s->line += take_sleb(&u->r);
        break;
    case SET_FILE:
        s->file = take_uleb(&u->r);
        break;
    case CONST_ADD_PC:
        s->address += special_steps(u, 255);
        break;
    case FIXED_ADVANCE_PC:
        s->address += take_number(&u->r, 2);
        break;
    default:
        for (unsigned i = 0; i < u->lengths[code]; i++)
            take_uleb(&u->r);
    }
    return true;
}

static bool run(struct unit *u, struct elf_lines *out)
{
    bool enough = true;
    struct state s;

    begin(&s, out);
    while (enough && !u->r.bad && u->r.at < u->r.end) {
        unsigned code = (unsigned)take_number(&u->r, 1);
        if (code < u->first_special) {
            enough = run_standard(u, out, &s, code);
            continue;
        }
        s.address += special_steps(u, code);
        s.line +=
            (uint64_t)(int64_t)(u->line_base + (int)((code - u->first_special) % u->line_range));
        enough = add_line(out, u, &s, false);
    }
    out->lines = s.first; /* what has no end is not code */
    return enough;
}

/* Reads a unit behind its length. Returns false if there is no memory. */
static bool read_unit(struct unit *u, const struct sections *s, struct elf_lines *out)
{
    u->version = (uint16_t)take_number(&u->r, 2);
    if (u->version < 2 || u->version > 5)
        return true;
    if (u->version == 5)
        take(&u->r, 2); /* sizes of addresses and segments */
    uint64_t header = take_number(&u->r, 4);
    struct reader program = u->r;
    if (!take(&program, header))
        return true;
    u->step = (uint8_t)take_number(&u->r, 1);
    take(&u->r,
         u->version >= 4 ? 2 : 1); /* instructions of a bundle; whether lines are statements */
    u->line_base = (int8_t)take_number(&u->r, 1);
    u->line_range = (uint8_t)take_number(&u->r, 1);
    u->first_special = (uint8_t)take_number(&u->r, 1);
    if (!u->line_range || !u->first_special)
        return true;
    for (unsigned i = 1; i < u->first_special; i++)
        u->lengths[i] = (uint8_t)take_number(&u->r, 1);
    u->first_file = out->files;
    bool enough = u->version == 5
                      ? read_new_table(u, s, out, false) && read_new_table(u, s, out, true)
                      : read_old_files(u, out);
    if (!enough || u->r.bad)
        return enough;
    u->r = program;
    return run(u, out);
}

/* ---- All units ------------------------------------------------------------------------------- */

static int by_start(const void *x, const void *y)
{
    const struct elf_line *a = x, *b = y;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (!a->line != !b->line) /* a sequence that begins where another ends */
        return a->line ? 1 : -1;
    return a->file != b->file ? (a->file < b->file ? -1 : 1)
                              : (a->line > b->line) - (a->line < b->line);
}

static void settle(struct elf_lines *out)
{
    size_t kept = 0;

    qsort(out->line, out->lines, sizeof *out->line, by_start);
    for (size_t i = 0; i < out->lines; i++) {
        if (kept && out->line[kept - 1].start == out->line[i].start)
            kept--;
        out->line[kept++] = out->line[i];
    }
    out->lines = kept;
}

bool elf_lines_read(const uint8_t *file, size_t bytes, struct elf_lines *out)
{
    const struct reader whole = {file, file + bytes, false};
    struct sections s;
    bool enough = find_sections(&whole, &s);

    *out = (struct elf_lines){0};
    while (enough && !s.lines.bad && s.lines.at < s.lines.end) {
        uint64_t length = take_number(&s.lines, 4);
        const uint8_t *at = length < 0xfffffff0 ? take(&s.lines, length) : NULL;
        if (!at)
            break; /* also a unit of 64-bit DWARF, which is longer than 4 GB */
        struct unit u = {.r = {at, at + length, false}};
        enough = read_unit(&u, &s, out);
        free(u.folder);
    }
    if (enough && out->lines) {
        settle(out);
        return true;
    }
    elf_lines_free(out);
    return false;
}

bool elf_lines_find(const struct elf_lines *lines, uint64_t address,
                    const struct elf_lines_file **file, uint32_t *line)
{
    size_t low = 0, high = lines->lines;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lines->line[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || !lines->line[low - 1].line)
        return false;
    *file = &lines->file[lines->line[low - 1].file];
    *line = lines->line[low - 1].line;
    return true;
}

void elf_lines_free(struct elf_lines *lines)
{
    free(lines->line);
    free(lines->file);
    *lines = (struct elf_lines){0};
}
