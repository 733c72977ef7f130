/* Sockets of AF_INET over loopback: what the files of this program share; see inet.c. */
#pragma once
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* Prints a line of TAP. */
void check(bool right, const char *what);
/* Checks the result of a call, and errno if that is not 0. */
void gives(long result, long wanted, int error, const char *what);

uint64_t now_ms(void);
/* Addresses of 127.0.0.1, and calls with them. */
struct sockaddr_in loopback(unsigned port);
int bind_to(int s, struct sockaddr_in a);
int connect_to(int s, struct sockaddr_in a);
struct sockaddr_in name_of(int s);
int listener(int backlog);
/* Makes a connection: s[0] connected, s[1] was accepted. */
void make_pair(int s[2]);
void close_pair(const int s[2]);
/* Returns what poll says within that time. */
unsigned polled(int s, int wanted, int ms);
/* An option that is a number, and the result of setting one. */
int option(int s, int level, int name);
int set(int s, int level, int name, int value);

extern bool fused; /* what is sent has arrived at once: there is nothing for a close to wait for */

/* streams.c */
void test_making(void);
void test_names(void);
void test_connecting(void);
void test_no_waiting(void);
void test_streams(void);
void test_shutting(void);
void test_large(void);
void test_close_behind(void);
void test_wait_all(void);
/* ends.c */
void test_lingering(void);
void test_ended(void);
void test_again(void);
void test_epoll(void);
void test_end_of_wait(void);
/* options.c */
void test_options(void);
/* datagrams.c */
void test_datagrams(void);
void test_refused_datagrams(void);
void test_packet_info(void);
/* ports.c */
void test_cpus(void);
void test_loopback_network(void);
void test_shared_ports(void);
/* many.c */
void test_many(void);
