/* Files, by Linux's calls. newlib calls them by their names with an underscore; the names without
 * are weak, for programs. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>
#include "apps/libc/libc.h"

static _READ_WRITE_RETURN_TYPE size_of(int64_t r)
{
    return r < 0 ? posix_result(r) : (_READ_WRITE_RETURN_TYPE)r;
}

POSIX _READ_WRITE_RETURN_TYPE write(int fd, const void *buf, size_t n)
{
    return size_of(syscall3(SYS_write, fd, buf, n));
}
ALSO_UNDERSCORED(write);

POSIX _READ_WRITE_RETURN_TYPE read(int fd, void *buf, size_t n)
{
    return size_of(syscall3(SYS_read, fd, buf, n));
}
ALSO_UNDERSCORED(read);

/* Returns Linux's flags of open; those that newlib alone has are left out. */
static int linux_flags(int flags)
{
    static const struct {
        int own, linux_flag;
    } map[] = {
        {O_APPEND, LINUX_O_APPEND},     {O_CLOEXEC, LINUX_O_CLOEXEC},
        {O_CREAT, LINUX_O_CREAT},       {O_DIRECTORY, LINUX_O_DIRECTORY},
        {O_EXCL, LINUX_O_EXCL},         {O_NOCTTY, LINUX_O_NOCTTY},
        {O_NOFOLLOW, LINUX_O_NOFOLLOW}, {O_NONBLOCK, LINUX_O_NONBLOCK},
        {O_SYNC, LINUX_O_SYNC},         {O_TRUNC, LINUX_O_TRUNC},
    };
    int result = flags & O_ACCMODE;

    for (unsigned i = 0; i < sizeof map / sizeof map[0]; i++)
        if (flags & map[i].own)
            result |= map[i].linux_flag;
    return result;
}

POSIX int open(const char *path, int flags, ...)
{
    va_list rest;

    va_start(rest, flags);
    unsigned mode = flags & O_CREAT ? va_arg(rest, unsigned) : 0;
    va_end(rest);
    return posix_result(syscall4(SYS_openat, LINUX_AT_FDCWD, path, linux_flags(flags), mode));
}
ALSO_UNDERSCORED(open);

POSIX int close(int fd)
{
    return posix_result(syscall1(SYS_close, fd));
}
ALSO_UNDERSCORED(close);

POSIX off_t lseek(int fd, off_t offset, int whence)
{
    return size_of(syscall3(SYS_lseek, fd, offset, whence));
}
ALSO_UNDERSCORED(lseek);

/* What statx(2) gives, in its layout. */
struct statx_time {
    int64_t seconds;
    uint32_t ns, spare;
};
struct statx_values {
    uint32_t mask, block_bytes;
    uint64_t attributes;
    uint32_t links, uid, gid;
    uint16_t mode, spare;
    uint64_t number, bytes, blocks, attributes_mask;
    struct statx_time accessed, made, changed, modified;
    uint32_t special_major, special_minor, device_major, device_minor;
    uint64_t more[14];
};
_Static_assert(sizeof(struct statx_values) == 256, "statx's layout");

static struct timespec time_of(const struct statx_time *t)
{
    return (struct timespec){.tv_sec = (time_t)t->seconds, .tv_nsec = (long)t->ns};
}

static int get_stat(int fd, const char *path, int flags, struct stat *st)
{
    struct statx_values x;
    int64_t r = syscall5(SYS_statx, fd, path, flags, LINUX_STATX_BASIC_STATS, &x);

    if (r < 0)
        return posix_result(r);
    *st = (struct stat){
        .st_dev = (dev_t)(x.device_major << 8 | x.device_minor),
        .st_ino = (ino_t)x.number,
        .st_mode = x.mode,
        .st_nlink = (nlink_t)x.links,
        .st_uid = (uid_t)x.uid,
        .st_gid = (gid_t)x.gid,
        .st_rdev = (dev_t)(x.special_major << 8 | x.special_minor),
        .st_size = (off_t)x.bytes,
        .st_atim = time_of(&x.accessed),
        .st_mtim = time_of(&x.modified),
        .st_ctim = time_of(&x.changed),
        .st_blksize = (blksize_t)x.block_bytes,
        .st_blocks = (blkcnt_t)x.blocks,
    };
    return 0;
}

POSIX int fstat(int fd, struct stat *st)
{
    return get_stat(fd, "", LINUX_AT_EMPTY_PATH, st);
}
ALSO_UNDERSCORED(fstat);

POSIX int stat(const char *path, struct stat *st)
{
    return get_stat(LINUX_AT_FDCWD, path, 0, st);
}
ALSO_UNDERSCORED(stat);

/* A terminal has settings. */
POSIX int isatty(int fd)
{
    uint32_t settings[16];

    return posix_result(syscall3(SYS_ioctl, fd, LINUX_TCGETS, settings)) == 0;
}
ALSO_UNDERSCORED(isatty);

POSIX int unlink(const char *path)
{
    return posix_result(syscall3(SYS_unlinkat, LINUX_AT_FDCWD, path, 0));
}
ALSO_UNDERSCORED(unlink);

POSIX int link(const char *from, const char *to)
{
    (void)from, (void)to;
    return posix_result(-EPERM); /* no file has a second name */
}
ALSO_UNDERSCORED(link);

POSIX int mkdir(const char *path, mode_t mode)
{
    return posix_result(syscall3(SYS_mkdirat, LINUX_AT_FDCWD, path, mode));
}
ALSO_UNDERSCORED(mkdir);
