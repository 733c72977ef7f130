/* See discipline.h. */
#include "kernel/file/discipline.h"
#include "kernel/lib/errno.h"
#include <asm/signal.h>

#define CONTROL(c)  ((c)-0x40) /* a control character */
#define TAB         8u         /* columns */
#define OUTPUT_MAX  TAB        /* bytes that one byte of text becomes at most */
#define NO_VALUE    '\0'       /* of c_cc: there is no such character */
#define END_OF_FILE '\0'       /* stands in `typed` as an end of a line */

void discipline_init(struct discipline *d)
{
    d->settings = (struct termios){
        .c_iflag = ICRNL | IXON,
        .c_oflag = OPOST | ONLCR,
        .c_cflag = B38400 | CS8 | CREAD | HUPCL,
        .c_lflag = ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | IEXTEN,
        .c_cc = {[VINTR] = CONTROL('C'),
                 [VQUIT] = 0x1c,
                 [VERASE] = 0x7f,
                 [VKILL] = CONTROL('U'),
                 [VEOF] = CONTROL('D'),
                 [VMIN] = 1,
                 [VSTART] = CONTROL('Q'),
                 [VSTOP] = CONTROL('S'),
                 [VSUSP] = CONTROL('Z'),
                 [VREPRINT] = CONTROL('R'),
                 [VDISCARD] = CONTROL('O'),
                 [VWERASE] = CONTROL('W'),
                 [VLNEXT] = CONTROL('V')},
    };
}

/* ---- Rings ----------------------------------------------------------------------------------- */

static unsigned used(const struct discipline_ring *r)
{
    return r->put - r->taken;
}

static void put(struct discipline_ring *r, char c)
{
    if (used(r) < DISCIPLINE_ROOM)
        r->bytes[r->put++ % DISCIPLINE_ROOM] = c;
}

static char byte_at(const struct discipline_ring *r, unsigned at)
{
    return r->bytes[at % DISCIPLINE_ROOM];
}

static bool ends_at(const struct discipline *d, unsigned at)
{
    return d->ends[at % DISCIPLINE_ROOM / 64] >> at % 64 & 1;
}

static void set_end(struct discipline *d, unsigned at, bool ends)
{
    uint64_t bit = 1ull << at % 64, *word = &d->ends[at % DISCIPLINE_ROOM / 64];

    *word = ends ? *word | bit : *word & ~bit;
    d->lines += ends;
}

static void forget_ends(struct discipline *d)
{
    memset(d->ends, 0, sizeof(d->ends));
    d->lines = 0;
    d->begun = false;
}

/* ---- Settings -------------------------------------------------------------------------------- */

static bool by_lines(const struct discipline *d)
{
    return d->settings.c_lflag & ICANON;
}

static bool has(const struct discipline *d, tcflag_t local)
{
    return (d->settings.c_lflag & local) == local;
}

/* Returns whether a byte is the character `which` of the settings. */
static bool is(const struct discipline *d, unsigned which, char c)
{
    return c != NO_VALUE && c == (char)d->settings.c_cc[which];
}

void discipline_set(struct discipline *d, const struct termios *settings)
{
    tcflag_t changed = d->settings.c_lflag ^ settings->c_lflag;

    if ((d->settings.c_iflag & IXON) && !(settings->c_iflag & IXON))
        d->stopped = false;
    d->settings = *settings;
    if (!(changed & ICANON))
        return;
    /* What was typed before can be read now. */
    forget_ends(d);
    d->line = d->typed.put;
    d->literal = false;
    if (by_lines(d) && used(&d->typed))
        set_end(d, d->typed.put - 1, true);
}

/* ---- Text ------------------------------------------------------------------------------------ */

static bool is_control(char c)
{
    return (uint8_t)c < ' ' || c == 0x7f;
}

/* Letters are those of ISO 8859-1, as on Linux. */
static bool is_upper(uint8_t c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7);
}

static bool is_lower(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 0xdf && c != 0xf7);
}

/* Returns whether a byte is one behind the first of a character in UTF-8, which takes no column. */
static bool continues(const struct discipline *d, char c)
{
    return (d->settings.c_iflag & IUTF8) && ((uint8_t)c & 0xc0) == 0x80;
}

static void put_tab(struct discipline *d)
{
    unsigned columns = TAB - d->column % TAB;

    d->column += columns;
    if ((d->settings.c_oflag & TABDLY) != XTABS) {
        put(&d->shown, '\t');
        return;
    }
    while (columns--)
        put(&d->shown, ' ');
}

static void put_return(struct discipline *d)
{
    tcflag_t o = d->settings.c_oflag;

    if ((o & ONOCR) && !d->column)
        return;
    if (!(o & OCRNL) || (o & ONLRET))
        d->column = d->line_column = 0;
    put(&d->shown, o & OCRNL ? '\n' : '\r');
}

static void put_newline(struct discipline *d)
{
    tcflag_t o = d->settings.c_oflag;

    if (o & (ONLRET | ONLCR))
        d->column = 0;
    d->line_column = d->column;
    if (o & ONLCR)
        put(&d->shown, '\r');
    put(&d->shown, '\n');
}

/* Puts a byte of text, as settings say. Returns false if there is no room. */
static bool put_text(struct discipline *d, char c)
{
    if (used(&d->shown) + OUTPUT_MAX > DISCIPLINE_ROOM)
        return false;
    if (d->plain || !(d->settings.c_oflag & OPOST)) {
        put(&d->shown, c);
        return true;
    }
    if (c == '\n')
        put_newline(d);
    else if (c == '\r')
        put_return(d);
    else if (c == '\t')
        put_tab(d);
    else {
        if (c == '\b')
            d->column -= d->column != 0;
        else if (!is_control(c) && !continues(d, c))
            d->column++;
        bool to_upper = (d->settings.c_oflag & OLCUC) && is_lower((uint8_t)c) && (uint8_t)c != 0xdf;
        put(&d->shown, to_upper ? (char)(c - 'a' + 'A') : c);
    }
    return true;
}

bool discipline_takes_text(const struct discipline *d)
{
    return !d->stopped && used(&d->shown) + OUTPUT_MAX <= DISCIPLINE_ROOM;
}

size_t discipline_write(struct discipline *d, const char *from, size_t n)
{
    size_t done = 0;

    while (done < n && !d->stopped && put_text(d, from[done]))
        done++;
    return done;
}

void discipline_ask(struct discipline *d, char c)
{
    put(&d->shown, c);
}

size_t discipline_show(struct discipline *d, char *to, size_t n)
{
    n = MIN(n, (size_t)used(&d->shown));
    for (size_t i = 0; i < n; i++)
        to[i] = byte_at(&d->shown, d->shown.taken++);
    return n;
}

unsigned discipline_shown(const struct discipline *d)
{
    return used(&d->shown);
}

/* ---- Echo ------------------------------------------------------------------------------------ */

static void echo(struct discipline *d, const char *text)
{
    for (; *text; text++)
        put_text(d, *text);
}

/* Returns whether a byte is shown as ^X. */
static bool shown_as_two(const struct discipline *d, char c)
{
    return has(d, ECHOCTL) && is_control(c) && c != '\t';
}

static void echo_byte(struct discipline *d, char c)
{
    if (!shown_as_two(d, c)) {
        put_text(d, c);
        return;
    }
    put(&d->shown, '^');
    put(&d->shown, (char)(c ^ 0x40));
    d->column += 2;
}

/* Goes back over a tab at the end of the line: to where what is before it ends. */
static void echo_erased_tab(struct discipline *d)
{
    unsigned columns = 0, at = d->typed.put;

    while (at != d->line && byte_at(&d->typed, at - 1) != '\t') {
        char c = byte_at(&d->typed, --at);
        columns += continues(d, c) ? 0 : shown_as_two(d, c) ? 2 : !is_control(c);
    }
    if (at == d->line)
        columns += d->line_column;
    for (columns = TAB - columns % TAB; columns--;) {
        put(&d->shown, '\b');
        d->column -= d->column != 0;
    }
}

/* ---- Editing --------------------------------------------------------------------------------- */

static void erase_echo(struct discipline *d, char c, unsigned how)
{
    if (!has(d, ECHO))
        return;
    if (how == VERASE && !has(d, ECHOE)) {
        echo_byte(d, (char)d->settings.c_cc[VERASE]);
        return;
    }
    if (c == '\t') {
        echo_erased_tab(d);
        return;
    }
    if (shown_as_two(d, c))
        echo(d, "\b \b");
    if (!is_control(c) || has(d, ECHOCTL))
        echo(d, "\b \b");
}

/* Finds the last character of the line. Returns false if there is none that is whole. */
static bool find_last(const struct discipline *d, unsigned *at, char *first)
{
    *at = d->typed.put;
    while (*at != d->line) {
        *first = byte_at(&d->typed, --*at);
        if (!continues(d, *first))
            return true;
    }
    return false;
}

/* Takes back the last character. Returns whether there was one. */
static bool erase(struct discipline *d, unsigned how)
{
    unsigned at;
    char first;

    if (!find_last(d, &at, &first))
        return false;
    d->typed.put = at;
    erase_echo(d, first, how);
    return true;
}

static bool is_of_word(char c)
{
    return (c >= '0' && c <= '9') || is_upper((uint8_t)c) || is_lower((uint8_t)c) || c == '_';
}

/* Takes back a word, and what is behind it. */
static void erase_word(struct discipline *d)
{
    bool in_word = false;
    unsigned at;
    char first;

    while (find_last(d, &at, &first)) {
        if (in_word && !is_of_word(first))
            return;
        in_word |= is_of_word(first);
        erase(d, VWERASE);
    }
}

static void erase_line(struct discipline *d)
{
    if (has(d, ECHO | ECHOE | ECHOK | ECHOKE)) {
        while (erase(d, VKILL))
            ;
        return;
    }
    if (has(d, ECHO) && d->typed.put != d->line) {
        echo_byte(d, (char)d->settings.c_cc[VKILL]);
        if (has(d, ECHOK))
            echo(d, "\n");
    }
    d->typed.put = d->line;
}

static void show_line_again(struct discipline *d, char c)
{
    echo_byte(d, c);
    echo(d, "\n");
    for (unsigned at = d->line; at != d->typed.put; at++)
        echo_byte(d, byte_at(&d->typed, at));
}

/* ---- Typing ---------------------------------------------------------------------------------- */

bool discipline_has_room(const struct discipline *d)
{
    return (by_lines(d) && !d->lines) || used(&d->typed) < DISCIPLINE_ROOM;
}

/* Puts a byte typed, unless the line is too long. `ends`: it ends the line. */
static void keep(struct discipline *d, char c, bool ends)
{
    bool full = used(&d->typed) >= DISCIPLINE_ROOM;

    if (full || (by_lines(d) && !ends && d->typed.put - d->line >= DISCIPLINE_LINE - 1))
        return;
    set_end(d, d->typed.put, ends);
    put(&d->typed, c);
    if (ends || !by_lines(d))
        d->line = d->typed.put;
}

/* Takes a byte of what is read. `moves`: its echo moves to the next line, if it is an '\n'. */
static void take(struct discipline *d, char c, bool ends, bool moves)
{
    if (has(d, ECHO) || (c == '\n' && ends && has(d, ECHONL))) {
        if (c == '\n' && moves)
            echo(d, "\n");
        else {
            if (d->typed.put == d->line)
                d->line_column = d->column;
            echo_byte(d, c);
        }
    }
    keep(d, c, ends);
}

/* Takes what edits a line. Returns false if the byte is one of the line. */
static bool take_edit(struct discipline *d, char c)
{
    bool more = has(d, IEXTEN);

    if (is(d, VERASE, c) || (d->plain && c == '\b')) {
        erase(d, VERASE);
    } else if (is(d, VKILL, c))
        erase_line(d);
    else if (is(d, VWERASE, c) && more)
        erase_word(d);
    else if (is(d, VLNEXT, c) && more) {
        d->literal = true;
        if (has(d, ECHO | ECHOCTL))
            echo(d, "^\b");
    } else if (is(d, VREPRINT, c) && more && has(d, ECHO))
        show_line_again(d, c);
    else if (is(d, VEOF, c))
        keep(d, END_OF_FILE, true);
    else
        return false;
    return true;
}

int discipline_signal(const struct discipline *d, char c)
{
    if (!has(d, ISIG))
        return 0;
    return is(d, VINTR, c) ? SIGINT : is(d, VQUIT, c) ? SIGQUIT : is(d, VSUSP, c) ? SIGTSTP : 0;
}

/* Takes what stops output, and what lets it go on. */
static bool take_flow(struct discipline *d, char c)
{
    if (d->plain || !(d->settings.c_iflag & IXON))
        return false;
    if (is(d, VSTART, c))
        d->stopped = false;
    else if (is(d, VSTOP, c))
        d->stopped = true;
    else
        return false;
    return true;
}

static void take_signal(struct discipline *d, char c)
{
    if (!has(d, NOFLSH))
        discipline_forget(d);
    if (d->settings.c_iflag & IXON)
        d->stopped = false;
    if (has(d, ECHO))
        echo_byte(d, c);
}

/* Changes a byte as the settings of input say. Returns false if it is dropped. */
static bool change(const struct discipline *d, char *c)
{
    tcflag_t i = d->settings.c_iflag;

    if (*c == '\r') {
        if (i & IGNCR)
            return false;
        if (i & ICRNL)
            *c = '\n';
    } else if (*c == '\n' && (i & INLCR))
        *c = '\r';
    return true;
}

int discipline_type(struct discipline *d, char c)
{
    tcflag_t i = d->settings.c_iflag;

    if (i & ISTRIP)
        c &= 0x7f;
    if ((i & IUCLC) && has(d, IEXTEN) && is_upper((uint8_t)c))
        c = (char)(c - 'A' + 'a');
    if (d->literal) {
        d->literal = false;
        take(d, c, false, false);
        return 0;
    }
    if (take_flow(d, c))
        return 0;
    int signal = discipline_signal(d, c);
    if (signal) {
        take_signal(d, c);
        return signal;
    }
    if ((i & IXON) && (i & IXANY))
        d->stopped = false;
    char as_typed = c;
    if (!change(d, &c) || (by_lines(d) && take_edit(d, c)))
        return 0;
    bool ends = by_lines(d) && (c == '\n' || is(d, VEOL, c) || (is(d, VEOL2, c) && has(d, IEXTEN)));
    take(d, c, ends, ends || c != as_typed);
    return 0;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Takes the next byte. Returns whether it ends a line. */
static bool take_next(struct discipline *d, char *c)
{
    bool ends = ends_at(d, d->typed.taken);

    *c = byte_at(&d->typed, d->typed.taken);
    if (ends) {
        set_end(d, d->typed.taken, false);
        d->lines--;
    }
    d->typed.taken++;
    return ends;
}

static int64_t read_line(struct discipline *d, char *to, size_t n)
{
    size_t got = 0;

    if (!d->lines)
        return -EAGAIN;
    d->begun = true;
    while (d->begun && got < n) {
        char c;
        d->begun = !take_next(d, &c);
        if (d->begun || c != END_OF_FILE)
            to[got++] = c;
    }
    /* The end of file behind what was read is none of its own. */
    if (d->begun && ends_at(d, d->typed.taken) && byte_at(&d->typed, d->typed.taken) == END_OF_FILE)
        d->begun = !take_next(d, &(char){0});
    return (int64_t)got;
}

int64_t discipline_read(struct discipline *d, char *to, size_t n)
{
    size_t got = 0;

    if (by_lines(d))
        return read_line(d, to, n);
    if (!used(&d->typed))
        return -EAGAIN;
    while (got < n && used(&d->typed))
        take_next(d, &to[got++]);
    d->line = d->typed.put;
    return (int64_t)got;
}

unsigned discipline_bytes(const struct discipline *d)
{
    unsigned n = 0;

    if (!by_lines(d))
        return used(&d->typed);
    if (!d->lines)
        return 0;
    for (unsigned at = d->typed.taken; at != d->line; at++)
        n += !ends_at(d, at) || byte_at(&d->typed, at) != END_OF_FILE;
    return n;
}

bool discipline_readable(const struct discipline *d, unsigned least)
{
    return by_lines(d) ? d->lines != 0 : used(&d->typed) >= least;
}

void discipline_forget(struct discipline *d)
{
    forget_ends(d);
    d->typed.taken = d->line = d->typed.put;
}

void discipline_drop_line(struct discipline *d)
{
    while (d->begun)
        d->begun = !take_next(d, &(char){0});
}
