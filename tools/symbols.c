/*
 * Makes the table of kernel/lib/symbols.h from an ELF file's symbols, DWARF's line programs and
 * .eh_frame, by libelf and libdw.
 *
 *   symbols ELF TABLE [NAME...]    writes TABLE; symbols with these names are not functions
 *   symbols -d ELF TABLE           writes TABLE, with variables as functions without lines
 *   symbols -k ELF TABLE [NAME...] does so for the kernel
 *   symbols -f TABLE ADDRESS...    prints function+offset file:line for each address, with ?? for
 *                                  unknown parts
 *
 * Files below the folder of the compilation keep their path from there; of other files only the
 * name is kept.
 */
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include "kernel/proc/abi.h"
#include "kernel/lib/symbols.h"

struct function {
    uint64_t start, size;
    const char *name;
    unsigned rank; /* of several at one address, the highest is shown; 0: the name of a section */
};

struct row {
    uint64_t start;
    uint32_t file, line; /* line 0: unknown */
    bool end;            /* end of the code before it */
    size_t order;        /* order of appearance, which sorting keeps */
};

struct code {
    uint64_t start, end;
};

/* A growing array of any of these types. */
struct list {
    void *items;
    size_t count, room;
};

static const char *program;
static struct list functions, variables, rows, sections, files, frames;
static struct list names; /* of bytes */

static _Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void die(const char *format, ...)
{
    va_list args;

    fprintf(stderr, "symbols: %s: ", program);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
    exit(1);
}

static void *add_items(struct list *list, size_t item_bytes, size_t items)
{
    if (list->count + items > list->room) {
        list->room = (list->count + items) * 2;
        list->items = realloc(list->items, list->room * item_bytes);
        if (!list->items)
            die("out of memory");
    }
    list->count += items;
    return (char *)list->items + (list->count - items) * item_bytes;
}

static uint32_t add_name(const char *name, size_t room)
{
    size_t bytes = strlen(name) + 1;
    uint32_t at = (uint32_t)names.count;

    if (bytes > room)
        die("the name %s is longer than %zu characters", name, room - 1);
    memcpy(add_items(&names, 1, bytes), name, bytes);
    return at;
}

/* ---- Functions ------------------------------------------------------------------------------- */

static const struct code *code_around(uint64_t address)
{
    const struct code *code = sections.items;

    for (size_t i = 0; i < sections.count; i++)
        if (address >= code[i].start && address < code[i].end)
            return &code[i];
    return NULL;
}

static uint64_t lowest_code(void)
{
    const struct code *code = sections.items;
    uint64_t lowest = code[0].start;

    for (size_t i = 1; i < sections.count; i++)
        lowest = code[i].start < lowest ? code[i].start : lowest;
    return lowest;
}

static bool is_listed(const char *name, char *const *list)
{
    while (*list && strcmp(*list, name) != 0)
        list++;
    return *list != NULL;
}

/* Variables that lie before the code cannot be told: offsets count from there. */
static bool is_variable(const GElf_Sym *symbol)
{
    return GELF_ST_TYPE(symbol->st_info) == STT_OBJECT && symbol->st_size &&
           symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS &&
           symbol->st_value >= lowest_code() && !code_around(symbol->st_value);
}

/* Sections of the kernel's variables, which lie elsewhere in its second link. */
static struct kernel_data {
    const char *section;
    uint64_t offset; /* in the table, from its base */
    unsigned number; /* in the file; 0: it has none */
    uint64_t start;
} kernel_data[] = {{".data", SYMBOLS_DATA, 0, 0}, {".bss", SYMBOLS_BSS, 0, 0}};
enum { KERNEL_DATA = sizeof kernel_data / sizeof kernel_data[0] };
static bool is_kernel;

static void find_kernel_data(Elf_Scn *section, const char *name, uint64_t start)
{
    for (unsigned i = 0; i < KERNEL_DATA; i++)
        if (!strcmp(name, kernel_data[i].section)) {
            kernel_data[i].number = (unsigned)elf_ndxscn(section);
            kernel_data[i].start = start;
        }
}

/* Returns where the table has a variable, or 0 if it has not. */
static uint64_t place_of_variable(const GElf_Sym *symbol)
{
    for (unsigned i = 0; i < KERNEL_DATA; i++)
        if (kernel_data[i].number && symbol->st_shndx == kernel_data[i].number)
            return lowest_code() + kernel_data[i].offset + symbol->st_value - kernel_data[i].start;
    return is_kernel ? 0 : symbol->st_value;
}

static void read_symbols(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                         char *const *no_functions)
{
    Elf_Data *data = elf_getdata(section, NULL);

    for (size_t i = 0; header->sh_entsize && i < header->sh_size / header->sh_entsize; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol))
            die("symbol %zu: %s", i, elf_errmsg(-1));
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        unsigned type = GELF_ST_TYPE(symbol.st_info);
        uint64_t variable = name && *name && is_variable(&symbol) ? place_of_variable(&symbol) : 0;
        if (variable)
            *(struct function *)add_items(&variables, sizeof(struct function), 1) =
                (struct function){variable, symbol.st_size, name,
                                  1 + (GELF_ST_BIND(symbol.st_info) == STB_GLOBAL)};
        /* Names that begin with $ tell code from data on AArch64. */
        if ((type != STT_FUNC && type != STT_NOTYPE) || !name || !*name || *name == '$' ||
            is_listed(name, no_functions) || !code_around(symbol.st_value))
            continue;
        *(struct function *)add_items(&functions, sizeof(struct function), 1) =
            (struct function){symbol.st_value, symbol.st_size, name,
                              1 + (type == STT_FUNC) * 4 + (symbol.st_size != 0) * 2 +
                                  (GELF_ST_BIND(symbol.st_info) == STB_GLOBAL)};
    }
}

/* Adds a section of code. Its name is that of code in front of its first function, as all of .plt
 * is. */
static void add_section(Elf *elf, size_t names_section, const GElf_Shdr *header)
{
    const char *name = elf_strptr(elf, names_section, header->sh_name);

    *(struct code *)add_items(&sections, sizeof(struct code), 1) =
        (struct code){header->sh_addr, header->sh_addr + header->sh_size};
    *(struct function *)add_items(&functions, sizeof(struct function), 1) =
        (struct function){header->sh_addr, 0, name ? name : "", 0};
}

static void read_sections(Elf *elf, char *const *no_functions)
{
    Elf_Scn *section = NULL, *symbols = NULL;
    GElf_Shdr header, symbols_header;
    size_t names_section;

    if (elf_getshdrstrndx(elf, &names_section))
        die("names of sections: %s", elf_errmsg(-1));
    while ((section = elf_nextscn(elf, section))) {
        if (!gelf_getshdr(section, &header))
            die("a section: %s", elf_errmsg(-1));
        if (header.sh_type == SHT_PROGBITS && (header.sh_flags & SHF_ALLOC) &&
            (header.sh_flags & SHF_EXECINSTR))
            add_section(elf, names_section, &header);
        else if (is_kernel && header.sh_type != SHT_NULL)
            find_kernel_data(section, elf_strptr(elf, names_section, header.sh_name),
                             header.sh_addr);
        if (header.sh_type == SHT_SYMTAB) {
            symbols = section;
            symbols_header = header;
        }
    }
    if (!symbols || !sections.count)
        die("it has no %s", symbols ? "code" : "symbols");
    read_symbols(elf, symbols, &symbols_header, no_functions);
}

static int by_start(const void *a, const void *b)
{
    const struct function *f = a, *g = b;

    if (f->start != g->start)
        return f->start < g->start ? -1 : 1;
    if (f->rank != g->rank)
        return f->rank > g->rank ? -1 : 1;
    return strcmp(f->name, g->name);
}

/* Leaves one function for each address, in order. */
static void sort_functions(void)
{
    struct function *f = functions.items;
    size_t kept = 0;

    qsort(f, functions.count, sizeof *f, by_start);
    for (size_t i = 0; i < functions.count; i++)
        if (!kept || f[i].start != f[kept - 1].start)
            f[kept++] = f[i];
    functions.count = kept;
}

/* Leaves one function for each address, each with a size: a function without one reaches to the
 * next or to its section's end. */
static void settle_functions(void)
{
    sort_functions();
    struct function *f = functions.items;
    size_t kept = functions.count;
    for (size_t i = 0; i < kept; i++) {
        uint64_t end = code_around(f[i].start)->end;
        if (i + 1 < kept && f[i + 1].start < end)
            end = f[i + 1].start;
        if (!f[i].size)
            f[i].size = end - f[i].start;
    }
}

/* Adds variables to the functions; code is not described by way of them. */
static void add_variables(void)
{
    struct function *to = add_items(&functions, sizeof *to, variables.count);

    if (variables.count)
        memcpy(to, variables.items, variables.count * sizeof *to);
    sort_functions();
}

/* ---- Lines ----------------------------------------------------------------------------------- */

struct file {
    const char *path;
    uint32_t name;
};

static const char *shortened(const char *path, const char *folder)
{
    size_t length = folder ? strlen(folder) : 0;

    if (length && strncmp(path, folder, length) == 0 && path[length] == '/')
        path += length + 1;
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    return *path == '/' || strncmp(path, "../", 3) == 0 ? strrchr(path, '/') + 1 : path;
}

static uint32_t file_number(const char *path)
{
    struct file *file = files.items;

    for (size_t i = files.count; i > 0; i--) /* the last file is the most likely one */
        if (strcmp(file[i - 1].path, path) == 0)
            return (uint32_t)i - 1;
    file = add_items(&files, sizeof *file, 1);
    *file = (struct file){strdup(path), add_name(path, sizeof(((struct sys_symbol *)0)->file))};
    if (files.count > SYMBOLS_FILE_MAX)
        die("more than %u source files", SYMBOLS_FILE_MAX);
    return (uint32_t)files.count - 1;
}

static void read_unit(Dwarf_Die *unit)
{
    Dwarf_Attribute attribute;
    const char *folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
    Dwarf_Lines *lines;
    size_t count;

    if (dwarf_getsrclines(unit, &lines, &count))
        return; /* a unit without code */
    for (size_t i = 0; i < count; i++) {
        Dwarf_Line *line = dwarf_onesrcline(lines, i);
        const char *path = dwarf_linesrc(line, NULL, NULL);
        Dwarf_Addr address;
        bool end;
        int number;
        if (!path || dwarf_lineaddr(line, &address) || dwarf_lineno(line, &number) ||
            dwarf_lineendsequence(line, &end))
            die("a line: %s", dwarf_errmsg(-1));
        /* Code that the linker has left out is at address 0. */
        if (!code_around(end ? address - 1 : address))
            continue;
        if (number < 0 || (unsigned)number > SYMBOLS_LINE_MAX)
            die("line %d of %s", number, path);
        struct row row = {.start = address, .end = end, .order = rows.count};
        if (!end && number) {
            row.file = file_number(shortened(path, folder));
            row.line = (uint32_t)number;
        }
        *(struct row *)add_items(&rows, sizeof row, 1) = row;
    }
}

/* ---- Frames ---------------------------------------------------------------------------------- */

/* DWARF's numbers of registers (System V ABI for x86-64, 3.6.2; AADWARF64, 4.1). */
struct machine_registers {
    unsigned machine, sp, fp, link;
};
static const struct machine_registers registers[] = {{EM_X86_64, 7, 6, 16},
                                                     {EM_AARCH64, 31, 29, 30}};

/* Returns words below the CFA at which a register is stored; 0: it is in its place; -1: it cannot
 * be told. */
static int stored_at(Dwarf_Frame *frame, unsigned number)
{
    Dwarf_Op work[3], *ops;
    size_t count;

    if (dwarf_frame_register(frame, (int)number, work, &ops, &count))
        return -1;
    if (!count)
        return ops == work ? -1 : 0; /* undefined, or the same */
    int64_t offset = count > 1 ? -(int64_t)ops[1].number : 0;
    bool plain = count == 2 && ops[0].atom == DW_OP_call_frame_cfa &&
                 ops[1].atom == DW_OP_plus_uconst && offset > 0 && offset % 8 == 0 &&
                 offset / 8 < SYMBOLS_FRAME_FP;
    return plain ? (int)(offset / 8) : -1;
}

static struct symbols_frame frame_of(Dwarf_Frame *frame, const struct machine_registers *r)
{
    struct symbols_frame none = {.cfa = SYMBOLS_FRAME_NONE};
    Dwarf_Op *ops;
    size_t count;

    if (dwarf_frame_cfa(frame, &ops, &count) || count != 1)
        return none;
    bool extended = ops->atom == DW_OP_bregx;
    uint64_t base = extended ? ops->number : ops->atom - (uint64_t)DW_OP_breg0,
             offset = extended ? ops->number2 : ops->number;
    int link = stored_at(frame, r->link), fp = stored_at(frame, r->fp);
    if ((base != r->sp && base != r->fp) || offset % 8 || offset / 8 >= SYMBOLS_FRAME_FP - 1 ||
        link < 0 || fp < 0)
        return none;
    if (fp == (int64_t)offset / 8 && link == fp - 1 && fp)
        link = fp = SYMBOLS_FRAME_RECORD;
    else if (link >= (int)SYMBOLS_FRAME_RECORD || fp >= (int)SYMBOLS_FRAME_RECORD)
        return none;
    return (struct symbols_frame){
        .cfa = (uint16_t)(offset / 8 | (base == r->fp ? SYMBOLS_FRAME_FP : 0)),
        .link = (uint8_t)link,
        .fp = (uint8_t)fp};
}

static void add_frame(uint64_t start, struct symbols_frame row)
{
    struct symbols_frame *before = frames.items;

    if (start - lowest_code() > UINT32_MAX)
        die("code at %#" PRIx64 " is too far from the first", start);
    row.start = (uint32_t)(start - lowest_code());
    before += frames.count;
    if (frames.count && before[-1].cfa == row.cfa && before[-1].link == row.link &&
        before[-1].fp == row.fp)
        return;
    *(struct symbols_frame *)add_items(&frames, sizeof row, 1) = row;
}

/* Returns the instructions of a function, NULL: they are not in the file. */
static const uint8_t *instructions_of(Elf *elf, const struct function *f)
{
    GElf_Shdr header;

    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
        if (!gelf_getshdr(s, &header) || header.sh_type != SHT_PROGBITS ||
            f->start < header.sh_addr || f->start + f->size > header.sh_addr + header.sh_size)
            continue;
        const Elf_Data *data = elf_rawdata(s, NULL);
        return data && data->d_size == header.sh_size
                   ? (const uint8_t *)data->d_buf + (f->start - header.sh_addr)
                   : NULL;
    }
    return NULL;
}

/* Returns whether a function has its return address in the link register throughout: it makes no
 * calls (Arm DDI 0487, C6.2: BL, BLR). */
static bool is_leaf(Elf *elf, const struct function *f, const struct machine_registers *r)
{
    const uint8_t *code = r->machine == EM_AARCH64 ? instructions_of(elf, f) : NULL;
    uint32_t word;

    for (uint64_t at = 0; code && at + sizeof word <= f->size; at += sizeof word) {
        memcpy(&word, code + at, sizeof word);
        if ((word & 0xfc000000) == 0x94000000 || (word & 0xfee00000) == 0xd6200000)
            return false;
    }
    return code;
}

/* Adds the frames of a function, but for code of an earlier one, which reaches into it; returns its
 * end. Assembly without a description may be a leaf, which keeps its caller's frame. */
static uint64_t read_function(Elf *elf, Dwarf_CFI *cfi, const struct function *f,
                              const struct machine_registers *r, uint64_t done)
{
    uint64_t end = f->start + f->size;

    for (uint64_t at = f->start > done ? f->start : done; at < end;) {
        Dwarf_Frame *frame;
        Dwarf_Addr from, to;
        if (dwarf_cfi_addrframe(cfi, at, &frame)) {
            bool leaf = at == f->start && is_leaf(elf, f, r);
            add_frame(at, (struct symbols_frame){.cfa = leaf ? 0 : SYMBOLS_FRAME_NONE});
            return leaf ? end : at;
        }
        dwarf_frame_info(frame, &from, &to, NULL);
        add_frame(at, frame_of(frame, r));
        free(frame);
        at = to;
    }
    return end > done ? end : done;
}

/* A file without .eh_frame has no frames. */
static void read_frames(Elf *elf)
{
    const struct function *f = functions.items;
    Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
    GElf_Ehdr header;
    uint64_t done = 0;

    if (!cfi || !gelf_getehdr(elf, &header))
        return;
    for (size_t i = 0; i < sizeof registers / sizeof registers[0]; i++)
        for (size_t n = 0; header.e_machine == registers[i].machine && n < functions.count; n++)
            done = read_function(elf, cfi, &f[n], &registers[i], done);
    dwarf_cfi_end(cfi);
}

static void read_lines(Elf *elf)
{
    Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
    Dwarf_CU *unit = NULL;
    Dwarf_Die die_of;
    uint8_t type;
    int more;

    if (!dwarf)
        die("its DWARF: %s", dwarf_errmsg(-1));
    while ((more = dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die_of, NULL)) == 0)
        if (type == DW_UT_compile)
            read_unit(&die_of);
    if (more < 0)
        die("its DWARF: %s", dwarf_errmsg(-1));
    dwarf_end(dwarf);
}

static int by_address(const void *a, const void *b)
{
    const struct row *r = a, *s = b;

    if (r->start != s->start)
        return r->start < s->start ? -1 : 1;
    if (r->end != s->end) /* a row that begins where another ends */
        return r->end ? -1 : 1;
    return r->order < s->order ? -1 : 1;
}

/* Of rows at one address the last one counts (DWARF 5, 6.2.5). Of equal rows in sequence only the
 * first is kept. */
static void settle_rows(void)
{
    struct row *r = rows.items;
    size_t kept = 0;

    qsort(r, rows.count, sizeof *r, by_address);
    for (size_t i = 0; i < rows.count; i++) {
        if (kept && r[kept - 1].start == r[i].start)
            kept--;
        if (!kept || r[kept - 1].line != r[i].line || r[kept - 1].file != r[i].file)
            r[kept++] = r[i];
    }
    rows.count = kept;
}

/* ---- The table ------------------------------------------------------------------------------- */

static uint32_t offset_of(uint64_t address, uint64_t base)
{
    if (address - base > UINT32_MAX)
        die("code at %#" PRIx64 " is too far from %#" PRIx64, address, base);
    return (uint32_t)(address - base);
}

static void put_bytes(FILE *out, const void *bytes, size_t count)
{
    if (count && fwrite(bytes, count, 1, out) != 1)
        die("cannot be written");
}

static void write_table(FILE *out)
{
    const struct function *f = functions.items;
    const struct row *r = rows.items;
    const struct file *file = files.items;
    uint64_t base = lowest_code();
    struct list named = {0};

    for (size_t i = 0; i < functions.count; i++)
        *(struct symbols_function *)add_items(&named, sizeof(struct symbols_function), 1) =
            (struct symbols_function){
                offset_of(f[i].start, base), offset_of(f[i].size, 0),
                add_name(f[i].name, sizeof(((struct sys_symbol *)0)->function))};
    struct symbols_header header = {SYMBOLS_MAGIC,          base,
                                    (uint32_t)named.count,  (uint32_t)rows.count,
                                    (uint32_t)files.count,  (uint32_t)names.count,
                                    (uint32_t)frames.count, 0};
    put_bytes(out, &header, sizeof header);
    put_bytes(out, named.items, named.count * sizeof(struct symbols_function));
    for (size_t i = 0; i < rows.count; i++)
        put_bytes(out,
                  &(struct symbols_line){offset_of(r[i].start, base),
                                         r[i].file << SYMBOLS_LINE_BITS | r[i].line},
                  sizeof(struct symbols_line));
    put_bytes(out, frames.items, frames.count * sizeof(struct symbols_frame));
    for (size_t i = 0; i < files.count; i++)
        put_bytes(out, &file[i].name, sizeof file[i].name);
    put_bytes(out, names.items, names.count);
    free(named.items);
}

static void make(const char *elf_path, const char *table_path, char *const *no_functions,
                 bool with_variables)
{
    int fd = open(elf_path, O_RDONLY);
    Elf *elf;

    program = elf_path;
    if (fd < 0 || elf_version(EV_CURRENT) == EV_NONE || !(elf = elf_begin(fd, ELF_C_READ, NULL)))
        die("cannot be read");
    read_sections(elf, no_functions);
    settle_functions();
    read_frames(elf);
    read_lines(elf);
    settle_rows();
    if (with_variables)
        add_variables();
    program = table_path;
    FILE *out = fopen(table_path, "wb");
    if (!out)
        die("cannot be written");
    write_table(out);
    if (fclose(out))
        die("cannot be written");
    elf_end(elf);
    close(fd);
}

/* ---- Looking up ------------------------------------------------------------------------------ */

static void find_addresses(const char *path, char *const *addresses)
{
    FILE *in = fopen(path, "rb");
    struct list bytes = {0};
    struct symbols symbols;
    struct symbol_found place;
    const char *why;
    int c;

    program = path;
    if (!in)
        die("cannot be read");
    while ((c = getc(in)) != EOF)
        *(uint8_t *)add_items(&bytes, 1, 1) = (uint8_t)c;
    fclose(in);
    if (symbols_open(bytes.items, bytes.count, &symbols, &why))
        die("%s", why);
    for (; *addresses; addresses++) {
        symbols_find(&symbols, strtoull(*addresses, NULL, 16), &place);
        printf("%s+%#" PRIx64 " %s:%u\n", place.function ? place.function : "??", place.offset,
               place.file ? place.file : "??", place.line);
    }
}

int main(int argc, char **argv)
{
    if (argc >= 3 && strcmp(argv[1], "-f") == 0) {
        find_addresses(argv[2], argv + 3);
        return 0;
    }
    is_kernel = argc >= 2 && strcmp(argv[1], "-k") == 0;
    bool with_variables = is_kernel || (argc >= 2 && strcmp(argv[1], "-d") == 0);
    argv += with_variables;
    argc -= with_variables;
    if (argc < 3) {
        fprintf(stderr,
                "symbols: usage: symbols [-d | -k] ELF TABLE [NAME...], or symbols -f TABLE "
                "ADDRESS...\n");
        return 2;
    }
    make(argv[1], argv[2], argv + 3, with_variables);
    return 0;
}
