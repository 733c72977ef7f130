/* sendfile(2): from files to sockets, pipes and files, with and without an offset, what it refuses.
 * Prints TAP; the same under Linux. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BYTES = 300000, PIPE_BYTES = 65536 };

static unsigned count, failed;
static unsigned char text[BYTES], got[BYTES];
static volatile sig_atomic_t broken;
static int file; /* BYTES of text, its position 0 in front of each check */

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    failed += !right;
}

static void note(int n)
{
    (void)n;
    broken++;
}

static int make_file(const char *path, int flags)
{
    int fd = open(path, O_CREAT | O_RDWR | flags, 0600);

    unlink(path);
    return fd;
}

static off_t position(void)
{
    off_t at = lseek(file, 0, SEEK_CUR);

    lseek(file, 0, SEEK_SET);
    return at;
}

/* ---- To sockets ------------------------------------------------------------------------------ */

static void *receive_all(void *fd)
{
    size_t n = 0;

    for (ssize_t part; (part = read(*(int *)fd, got + n, BYTES - n)) > 0;)
        n += (size_t)part;
    return (void *)n;
}

static void to_socket(void)
{
    pthread_t reader;
    void *n;
    int pair[2];

    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    pthread_create(&reader, NULL, receive_all, &pair[1]);
    ssize_t sent = sendfile(pair[0], file, NULL, BYTES + 7);
    close(pair[0]);
    pthread_join(reader, &n);
    check(sent == BYTES && (size_t)n == BYTES, "all of a file goes to a socket that is read");
    check(!memcmp(text, got, BYTES), "... as it is");
    check(position() == BYTES, "... and the file's position moves");
    close(pair[1]);
}

static void to_full_socket(void)
{
    off_t at = 100;
    int pair[2];

    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair);
    ssize_t sent = sendfile(pair[0], file, &at, BYTES - 100);
    check(sent > 0 && sent < BYTES - 100 && at == 100 + sent,
          "a part goes to a socket until it is full");
    check(sendfile(pair[0], file, &at, 1) < 0 && errno == EAGAIN && at == 100 + sent,
          "... then nothing does");
    check(position() == 0, "with an offset the position stays");
    check(read(pair[1], got, 50) == 50 && !memcmp(got, text + 100, 50), "it begins at the offset");
    close(pair[1]);
    broken = 0;
    check(sendfile(pair[0], file, NULL, 1) < 0 && errno == EPIPE && broken == 1,
          "a socket whose other end is closed makes SIGPIPE");
    close(pair[0]);
}

static void to_datagrams(void)
{
    off_t at = 10;
    int pair[2];

    socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair);
    check(sendfile(pair[0], file, &at, 20) == 20 && recv(pair[1], got, BYTES, 0) == 20 &&
              !memcmp(got, text + 10, 20),
          "a packet is what is sent");
    close(pair[0]);
    close(pair[1]);
}

/* ---- To others ------------------------------------------------------------------------------- */

static void to_pipe(void)
{
    int ends[2];

    check(!pipe2(ends, O_NONBLOCK), "a pipe");
    ssize_t sent = sendfile(ends[1], file, NULL, BYTES);
    check(sent == PIPE_BYTES, "... takes as many bytes as the pipe has room for");
    check(read(ends[0], got, BYTES) == sent && !memcmp(got, text, (size_t)sent),
          "... and one read takes it");
    check(position() == sent, "... and the position is behind it");
    check(sendfile(ends[1], ends[0], NULL, 1) < 0 && errno == EINVAL,
          "from a pipe nothing is sent");
    off_t at = 0;
    check(sendfile(ends[1], ends[0], &at, 1) < 0 && errno == ESPIPE, "... nor at its offset");
    close(ends[0]);
    broken = 0;
    check(sendfile(ends[1], file, NULL, 1) < 0 && errno == EPIPE && broken == 1,
          "a pipe without a reader makes SIGPIPE");
    close(ends[1]);
}

static void to_file(void)
{
    int fd = make_file("/tmp/sendfile.to", 0);
    off_t at = BYTES - 1000;

    check(write(fd, "xyz", 3) == 3 && sendfile(fd, file, &at, BYTES) == 1000,
          "a file takes the last 1,000 bytes");
    check(at == BYTES && lseek(fd, 0, SEEK_CUR) == 1003, "... at its position, which moves");
    check(pread(fd, got, BYTES, 3) == 1000 && !memcmp(got, text + BYTES - 1000, 1000),
          "... as they are");
    check(sendfile(fd, file, &at, 5) == 0, "behind the end there is nothing");
    check(sendfile(fd, file, &at, 0) == 0, "no byte is no error");
    close(fd);
}

static void refused(void)
{
    int appends = make_file("/tmp/sendfile.append", O_APPEND), folder = open("/tmp", O_RDONLY);
    int readable = open("/proc/self/exe", O_RDONLY), writable = open("/dev/null", O_WRONLY);
    off_t below = -1, at = 0;

    check(sendfile(appends, file, NULL, 1) < 0 && errno == EINVAL,
          "no file that is written at its end");
    check(sendfile(readable, file, NULL, 1) < 0 && errno == EBADF, "none that is open for reading");
    check(sendfile(writable, writable, NULL, 1) < 0 && errno == EBADF,
          "from none that is open for writing");
    check(sendfile(writable, folder, NULL, 1) < 0 && errno == EINVAL, "from no folder");
    check(sendfile(writable, 99, NULL, 1) < 0 && errno == EBADF, "from no file that is not open");
    check(sendfile(99, file, NULL, 1) < 0 && errno == EBADF, "... nor to one");
    check(sendfile(writable, file, &below, 1) < 0 && errno == EINVAL, "at no offset below 0");
    check(sendfile(writable, file, &at, (size_t)-1) < 0 && errno == EINVAL,
          "not more than there can be");
    check(syscall(SYS_sendfile, writable, file, (long)8, 1L) < 0 && errno == EFAULT,
          "no offset where nothing is");
    check(sendfile(writable, readable, &at, 1000) == 1000 && at == 1000,
          "the program itself is sent");
    check(position() == 0, "what is refused moves nothing");
    close(appends);
    close(folder);
    close(readable);
    close(writable);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, note);
    for (unsigned i = 0; i < BYTES; i++)
        text[i] = (unsigned char)(i * 7919u >> 4);
    file = make_file("/tmp/sendfile.from", 0);
    check(write(file, text, BYTES) == BYTES && position() == BYTES, "a file");
    to_socket();
    to_full_socket();
    to_datagrams();
    to_pipe();
    to_file();
    refused();
    printf("1..%u\n", count);
    return failed != 0;
}
