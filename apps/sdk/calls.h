/* The file of calls that a program built with -finstrument-functions writes (calls.c), for
 * tools/calls.py. Little-endian words of 64 bits. */
#pragma once
#include <stdint.h>

#define CALLS_MAGIC      0x31736c6c61636776u /* "vgcalls1" */
#define CALLS_COUNTS_MAX 8
#define CALLS_BYTES_MAX  (128u << 20)

/* Kinds of pieces. A piece: kind, the thread's number, bytes that follow. */
enum calls_piece {
    CALLS_PIECE_HEAD = 1, /* words: magic, number of counts n, then n each: of an empty call, what
                             it counts in itself; in all; of one that is not recorded, in all; then
                             the names of the counts, as text, with commas */
    CALLS_PIECE_RECORDS,  /* records: a word, then n counts of the thread */
    CALLS_PIECE_END,      /* words: n counts of the process from its start to its end, n of
                             them for writing the file and beginning threads, 1 if
                             there were more records than CALLS_BYTES_MAX */
};

/* A record's word: bit 0: an exit; bits 1 to 31: the function's distance from the program's first
 * byte, in bytes, or CALLS_BEGIN, CALLS_END; from bit 32: the thread's calls that were not recorded
 * so far. */
#define CALLS_BEGIN 0x7ffffffeu /* the thread's first record: it begins */
#define CALLS_END   0x7fffffffu /* the last one */
