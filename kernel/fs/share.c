/* See share.h. */
#include "kernel/fs/share.h"
#include "kernel/core/printf.h"
#include "kernel/dev/virtio/virtio_9p.h"
#include "kernel/fs/fs.h"
#include "kernel/fs/p9.h"
#include "mm/object.h"
#include "kernel/lib/text.h"

#define ACCEPTS "TAG[:ro|:rw][=/PATH]"

static uint64_t share_wanted; /* the argument's text; 0: none */

const struct arg share_args[] = {
    {"share", ARG_TEXT, &share_wanted, 0, 0, ACCEPTS, ARG_BOOT,
     "a folder of the host, by the tag of its 9P device; read-only unless :rw; at /TAG unless "
     "=/PATH"},
    {0},
};

struct share {
    char tag[SHARE_TAG_MAX + 1], path[64];
    bool writable;
};

static struct mount *mounted; /* fixed after share_start() */

/* Takes a part of the text up to one of the characters in `ends`. Returns its length; 0: it is
 * empty, or does not fit. */
static size_t take_part(const char *from, const char *ends, char *to, size_t room)
{
    size_t n = 0;

    for (; from[n]; n++) {
        for (const char *e = ends; *e; e++)
            if (from[n] == *e)
                goto done;
        if (n + 1 >= room)
            return 0;
        to[n] = from[n];
    }
done:
    to[n] = '\0';
    return n;
}

static bool parse(const char *text, struct share *out)
{
    char way[4] = "ro";
    size_t n = take_part(text, ":=", out->tag, sizeof(out->tag));

    text += n;
    if (!n)
        return false;
    if (*text == ':') {
        n = take_part(text + 1, "=", way, sizeof(way));
        text += n + 1;
    }
    out->writable = text_same("rw", way, text_length(way));
    if (!out->writable && !text_same("ro", way, text_length(way)))
        return false;
    if (!*text) {
        ksnprintf(out->path, sizeof(out->path), "/%s", out->tag);
        return true;
    }
    return text[1] == '/' && text[2] && take_part(text + 1, "", out->path, sizeof(out->path));
}

static int refuse(const char *tag, int err)
{
    static const struct {
        int err;
        const char *reason, *why;
    } reasons[] = {
        {-ENODEV, "unknown", "no 9P device of this machine has this tag"},
        {-ENOMEM, "memory", "no memory for it"},
        {-ENOTDIR, "path", "something else is at its path already"},
        {0, "device", "the device or the host refuses, as the line above says"},
    };
    unsigned i = 0;

    while (reasons[i].err && reasons[i].err != err)
        i++;
    kprintf("share: event=refused tag=%s reason=%s: %s\n", tag, reasons[i].reason, reasons[i].why);
    return err;
}

int share_start(void)
{
    const char *text = (const char *)(uintptr_t)share_wanted;
    static struct share s; /* its texts stay in memory */
    struct mount *m;

    if (!text)
        return 0;
    if (!parse(text, &s)) {
        kprintf("boot: event=refused argument=share reason=value: accepted: " ACCEPTS "\n");
        return -EINVAL;
    }
    int err = p9_mount(s.tag, !s.writable, &m) ?: fs_mount_on(s.path, m);
    if (err)
        return refuse(s.tag, err);
    mounted = m;
    object_sync_start();
    kprintf("share: event=ready tag=%s at=%s access=%s\n", s.tag, s.path, s.writable ? "rw" : "ro");
    return 0;
}

void share_report(void)
{
    if (!mounted)
        return;
    p9_let_go(mounted);
    kprintf("share: event=end tag=%s files=%u\n", mounted->of, p9_files(mounted));
}
