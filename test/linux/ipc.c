/* System V's semaphores and message queues. Prints TAP; the same under Linux. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef MSG_COPY
#define MSG_COPY 040000
#endif

enum { KEY = 0x56494749, TURNS = 2000 };

struct text {
    long type;
    char text[64];
};

union semun {
    int val;
    struct semid_ds *buf;
    unsigned short *array;
    struct seminfo *info;
};

static unsigned count, failed;

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    failed += !right;
}

static bool fails(long result, int error)
{
    return result == -1 && errno == error;
}

static void note(int n)
{
    (void)n;
}

static int operate(int id, unsigned short number, short by, short flags)
{
    struct sembuf op = {number, by, flags};

    return semop(id, &op, 1);
}

static int value(int id, int number)
{
    return semctl(id, number, GETVAL);
}

/* ---- Semaphores ------------------------------------------------------------------------------ */

static void test_sets(void)
{
    struct semid_ds s;
    int id = semget(KEY, 3, IPC_CREAT | IPC_EXCL | 0640);

    check(id >= 0, "a set is made");
    check(semget(KEY, 3, IPC_CREAT) == id && semget(KEY, 0, 0) == id, "its key finds it");
    check(fails(semget(KEY, 3, IPC_CREAT | IPC_EXCL), EEXIST), "it is not made again");
    check(fails(semget(KEY, 4, 0), EINVAL), "it has no more semaphores");
    check(fails(semget(KEY + 1, 3, 0), ENOENT), "another key finds none");
    check(fails(semget(IPC_PRIVATE, 0, 0600), EINVAL) &&
              fails(semget(IPC_PRIVATE, -1, 0600), EINVAL),
          "none without semaphores");
    check(!semctl(id, 0, IPC_STAT, (union semun){.buf = &s}) && s.sem_nsems == 3 &&
              s.sem_perm.mode == 0640 && s.sem_otime == 0 && s.sem_ctime,
          "its state");
    check(value(id, 0) == 0 && value(id, 2) == 0, "its values are 0");
    check(fails(value(id, 3), EINVAL), "there is no fourth");
    check(!semctl(id, 0, IPC_RMID), "it is removed");
    check(fails(value(id, 0), EINVAL) && fails(semctl(id, 0, IPC_RMID), EINVAL), "and is gone");
}

static void test_values(void)
{
    int id = semget(IPC_PRIVATE, 3, 0600);
    unsigned short set[3] = {4, 5, 6}, got[3] = {0};

    check(!semctl(id, 0, SETALL, (union semun){.array = set}) &&
              !semctl(id, 0, GETALL, (union semun){.array = got}) && got[0] == 4 && got[2] == 6,
          "all values are set and read");
    check(!semctl(id, 1, SETVAL, (union semun){.val = 9}) && value(id, 1) == 9, "one is set");
    check(fails(semctl(id, 1, SETVAL, (union semun){.val = 32768}), ERANGE), "not to 32768");
    check(fails(semctl(id, 3, SETVAL, (union semun){.val = 1}), EINVAL), "nor is a fourth");
    check(semctl(id, 1, GETPID) == getpid(), "who has changed it");
    semctl(id, 0, IPC_RMID);
}

static void test_operations(void)
{
    int id = semget(IPC_PRIVATE, 2, 0600);
    struct timespec brief = {0, 1000000};
    struct sembuf both[] = {{0, 1, 0}, {1, -1, IPC_NOWAIT}}, none = {0, -1, 0};

    check(!operate(id, 0, 3, 0) && value(id, 0) == 3, "up by 3");
    check(!operate(id, 0, -2, 0) && value(id, 0) == 1, "down by 2");
    check(fails(operate(id, 0, -2, IPC_NOWAIT), EAGAIN), "not by 2 again");
    check(fails(operate(id, 0, 0, IPC_NOWAIT), EAGAIN) && !operate(id, 1, 0, 0), "waits for 0");
    check(fails(semop(id, both, 2), EAGAIN) && value(id, 0) == 1, "all operations or none");
    check(fails(operate(id, 2, 1, 0), EFBIG), "no such semaphore: EFBIG");
    check(fails(operate(id, 0, 32767, 0), ERANGE), "too large: ERANGE");
    check(fails(semop(id, both, 0), EINVAL) && fails(semop(id, both, 501), E2BIG),
          "numbers of them");
    check(fails(semop(id, (struct sembuf *)8, 1), EFAULT), "bad memory: EFAULT");
    operate(id, 0, -1, 0);
    check(fails(semtimedop(id, &none, 1, &brief), EAGAIN), "a wait ends at its time");
    semctl(id, 0, IPC_RMID);
    check(fails(operate(id, 0, 1, 0), EINVAL), "no set: EINVAL");
}

/* Two processes take turns. */
static void test_turns(void)
{
    int id = semget(IPC_PRIVATE, 2, 0600), status, pid = fork();

    for (int i = 0; !pid && i < TURNS; i++)
        if (operate(id, 0, -1, 0) || operate(id, 1, 1, 0))
            _exit(1);
    if (!pid)
        _exit(0);
    bool right = true;
    for (int i = 0; i < TURNS; i++)
        right &= !operate(id, 0, 1, 0) && !operate(id, 1, -1, 0);
    waitpid(pid, &status, 0);
    check(right && !status && !value(id, 0) && !value(id, 1), "two processes take turns");
    semctl(id, 0, IPC_RMID);
}

/* Waits until a process waits at a semaphore. */
static bool waits(int id, int command)
{
    for (int i = 0; i < 1000 && !semctl(id, 0, command); i++)
        usleep(1000);
    return semctl(id, 0, command) == 1;
}

static void test_removed(void)
{
    int id = semget(IPC_PRIVATE, 1, 0600), status, pid = fork();

    if (!pid)
        _exit(fails(operate(id, 0, -1, 0), EIDRM) ? 0 : 1);
    check(waits(id, GETNCNT) && !semctl(id, 0, GETZCNT), "a process waits for more");
    semctl(id, 0, IPC_RMID);
    waitpid(pid, &status, 0);
    check(!status, "the set goes: EIDRM");
    id = semget(IPC_PRIVATE, 1, 0600);
    operate(id, 0, 1, 0);
    pid = fork();
    if (!pid) {
        sigaction(SIGUSR1, &(struct sigaction){.sa_handler = note, .sa_flags = SA_RESTART}, NULL);
        _exit(fails(operate(id, 0, 0, 0), EINTR) ? 0 : 1);
    }
    check(waits(id, GETZCNT) && !semctl(id, 0, GETNCNT), "another for 0");
    kill(pid, SIGUSR1);
    waitpid(pid, &status, 0);
    check(!status, "a signal: EINTR");
    semctl(id, 0, IPC_RMID);
}

static void test_undo(void)
{
    int id = semget(IPC_PRIVATE, 2, 0600), status, pid;

    operate(id, 0, 5, 0);
    pid = fork();
    if (!pid) {
        operate(id, 0, -3, SEM_UNDO);
        operate(id, 0, 1, SEM_UNDO);
        operate(id, 1, 4, SEM_UNDO);
        operate(id, 1, -1, 0);
        _exit(value(id, 0) == 3 && value(id, 1) == 3 ? 0 : 1);
    }
    waitpid(pid, &status, 0);
    check(!status, "a process changes values");
    check(value(id, 0) == 5, "its end takes that back");
    check(value(id, 1) == 0, "but no value becomes negative");
    pid = fork();
    if (!pid) {
        operate(id, 0, -3, SEM_UNDO);
        semctl(id, 0, SETVAL, (union semun){.val = 7});
        _exit(0);
    }
    waitpid(pid, &status, 0);
    check(value(id, 0) == 7, "a value that was set stays");
    semctl(id, 0, IPC_RMID);
}

/* ---- Messages -------------------------------------------------------------------------------- */

static int put(int id, long type, const char *what, int flags)
{
    struct text t = {.type = type};

    strcpy(t.text, what);
    return msgsnd(id, &t, strlen(what) + 1, flags);
}

/* Returns whether the message asked for is this one. */
static bool gets(int id, long type, int flags, const char *what, long its)
{
    struct text t = {0};
    ssize_t n = msgrcv(id, &t, sizeof(t.text), type, flags);

    return n == (ssize_t)strlen(what) + 1 && !strcmp(t.text, what) && t.type == its;
}

static void test_queue(void)
{
    int id = msgget(KEY, IPC_CREAT | 0640);
    struct msqid_ds s;
    struct text t;

    check(id >= 0 && msgget(KEY, 0) == id, "a queue is made, and found");
    check(fails(msgget(KEY, IPC_CREAT | IPC_EXCL), EEXIST), "it is not made again");
    check(!put(id, 1, "one", 0) && !put(id, 3, "three", 0) && !put(id, 2, "two", 0),
          "three messages");
    check(!msgctl(id, IPC_STAT, &s) && s.msg_qnum == 3 && s.msg_lspid == getpid() && s.msg_stime &&
              s.msg_qbytes == 16384 && s.msg_perm.mode == 0640,
          "its state");
    check(gets(id, 0, 0, "one", 1), "the first");
    check(gets(id, -3, 0, "two", 2), "the lowest type");
    check(fails(msgrcv(id, &t, sizeof(t.text), 1, IPC_NOWAIT), ENOMSG),
          "none of that type: ENOMSG");
    check(fails(msgrcv(id, &t, 2, 3, 0), E2BIG), "too long: E2BIG");
    check(msgrcv(id, &t, 2, 3, MSG_NOERROR) == 2 && !memcmp(t.text, "th", 2), "or cut");
    put(id, 4, "four", 0);
    put(id, 5, "five", 0);
    check(gets(id, 4, MSG_EXCEPT, "five", 5), "any but one type");
    check(fails(put(id, 0, "x", 0), EINVAL), "type 0: EINVAL");
    check(fails(msgsnd(id, &t, 8193, 0), EINVAL), "too many bytes: EINVAL");
    check(!msgctl(id, IPC_RMID, NULL), "it is removed");
    check(fails(put(id, 1, "x", 0), EINVAL), "and is gone");
}

static void test_full(void)
{
    int id = msgget(IPC_PRIVATE, 0600), status, pid;
    struct msqid_ds s;

    msgctl(id, IPC_STAT, &s);
    s.msg_qbytes = 8;
    check(!msgctl(id, IPC_SET, &s) && !put(id, 1, "1234567", 0), "a queue of 8 bytes");
    check(fails(put(id, 1, "x", IPC_NOWAIT), EAGAIN), "is full");
    pid = fork();
    if (!pid)
        _exit(put(id, 2, "x", 0) ? 1 : 0);
    usleep(20000);
    check(gets(id, 1, 0, "1234567", 1), "room is made");
    waitpid(pid, &status, 0);
    check(!status && gets(id, 0, 0, "x", 2), "for who waits");
    pid = fork();
    if (!pid) {
        struct text t;
        _exit(fails(msgrcv(id, &t, 64, 0, 0), EIDRM) ? 0 : 1);
    }
    usleep(20000);
    msgctl(id, IPC_RMID, NULL);
    waitpid(pid, &status, 0);
    check(!status, "the queue goes: EIDRM");
}

int main(void)
{
    test_sets();
    test_values();
    test_operations();
    test_turns();
    test_removed();
    test_undo();
    test_queue();
    test_full();
    printf("1..%u\n", count);
    return failed != 0;
}
