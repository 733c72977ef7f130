/* See ctf.h. Writes the description in TSDL (CTF 1.8, section 7). */
#include "kernel/trace/ctf.h"

struct out {
    char *at;
    size_t size, used;
};

static void add_n(struct out *o, const char *s, size_t n)
{
    for (; n; n--, s++, o->used++)
        if (o->used + 1 < o->size)
            o->at[o->used] = *s;
}

/* Appends strings up to NULL. */
static void add_all(struct out *o, const char *const *strings)
{
    for (; *strings; strings++)
        for (const char *s = *strings; *s; s++)
            add_n(o, s, 1);
}
#define add(o, ...) add_all(o, (const char *const[]){__VA_ARGS__, NULL})

static void add_number(struct out *o, uint64_t v)
{
    char digits[20];
    unsigned n = sizeof(digits);

    do
        digits[--n] = (char)('0' + v % 10);
    while (v /= 10);
    add_n(o, digits + n, sizeof(digits) - n);
}

static void add_uuid(struct out *o, const uint8_t *uuid)
{
    static const char hex[] = "0123456789abcdef";

    for (unsigned i = 0; i < CTF_UUID_BYTES; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            add(o, "-");
        add_n(o, &hex[uuid[i] >> 4], 1);
        add_n(o, &hex[uuid[i] & 15], 1);
    }
}

static const char *const kind_types[CTF_KINDS] = {
    [CTF_U8] = "uint8_t",  [CTF_U16] = "uint16_t", [CTF_U32] = "uint32_t", [CTF_U64] = "uint64_t",
    [CTF_S32] = "int32_t", [CTF_HEX] = "hex64_t",  [CTF_TEXT] = "string",
};

static void add_field(struct out *o, const struct ctf_field *f)
{
    add(o, "\t\t");
    if (f->names)
        add(o, "enum : ");
    add(o, kind_types[f->kind]);
    for (unsigned i = 0; f->names && f->names[i]; i++) {
        add(o, i ? ", \"" : " { \"", f->names[i], "\" = ");
        add_number(o, i);
    }
    add(o, f->names ? " } " : " ", f->name, ";\n");
}

static void add_event(struct out *o, const struct ctf_event *e, unsigned id)
{
    add(o, "event {\n\tname = \"", e->name, "\";\n\tid = ");
    add_number(o, id);
    add(o, ";\n\tstream_id = 0;\n\tfields := struct {\n");
    for (const struct ctf_field *f = e->fields; f->name; f++)
        add_field(o, f);
    add(o, "\t};\n};\n");
}

/* Appends the declaration of each integer type. */
static void add_types(struct out *o)
{
    static const char *const types[][3] = {
        {"8", "signed = false;", "uint8_t"},
        {"16", "signed = false;", "uint16_t"},
        {"32", "signed = false;", "uint32_t"},
        {"64", "signed = false;", "uint64_t"},
        {"32", "signed = true;", "int32_t"},
        {"64", "signed = false; base = hex;", "hex64_t"},
        {"64", "signed = false; map = clock.monotonic.value;", "clock64_t"},
    };

    for (unsigned i = 0; i < ARRAY_SIZE(types); i++)
        add(o, "typealias integer { size = ", types[i][0], "; align = 8; ", types[i][1],
            " } := ", types[i][2], ";\n");
}

static void add_trace(struct out *o, const struct ctf_trace *t)
{
    add(o, "/* CTF 1.8 */\n"
           "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"");
    add_uuid(o, t->uuid);
    add(o,
        "\";\n\tbyte_order = le;\n\tpacket.header := struct {\n"
        "\t\tinteger { size = 32; align = 8; signed = false; } magic;\n"
        "\t\tinteger { size = 8; align = 8; signed = false; } uuid[16];\n"
        "\t\tinteger { size = 32; align = 8; signed = false; } stream_id;\n\t};\n};\n"
        "env {\n\tdomain = \"kernel\";\n\ttracer_name = \"vigil\";\n\tarchitecture = \"",
        t->architecture, "\";\n\tcpu_chips = \"", t->chips, "\";\n};\n",
        "clock {\n\tname = \"monotonic\";\n\tdescription = \"since the start of the "
        "machine\";\n\tfreq = ");
    add_number(o, t->clock_hz);
    add(o, ";\n};\n");
}

static const char stream_text[] =
    "stream {\n\tid = 0;\n\tpacket.context := struct {\n"
    "\t\tclock64_t timestamp_begin;\n\t\tclock64_t timestamp_end;\n"
    "\t\tuint64_t content_size;\n\t\tuint64_t packet_size;\n"
    "\t\tuint64_t packet_seq_num;\n\t\tuint64_t events_discarded;\n"
    "\t\tuint32_t cpu_id;\n\t};\n"
    "\tevent.header := struct {\n\t\tuint8_t id;\n\t\tclock64_t timestamp;\n\t};\n};\n";

size_t ctf_describe(const struct ctf_trace *t, char *out, size_t size)
{
    struct out o = {out, size, 0};

    add_trace(&o, t);
    add_types(&o);
    add(&o, stream_text);
    for (unsigned id = 0; t->types[id].name; id++)
        add_event(&o, &t->types[id], id);
    if (size)
        out[MIN(o.used, size - 1)] = '\0';
    return o.used;
}
