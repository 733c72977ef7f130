/*
 * Any accesses as those of contended lines, 16 bytes each: no crash; sums are kept, bytes are in
 * their line, parts are parts, and lines come by their cost. The first byte chooses how long lines
 * are.
 */
#include <stdlib.h>
#include <string.h>
#include "apps/tools/c2c/lines.h"

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_rows(const struct lines_line *line, unsigned line_bytes)
{
    struct lines_row *rows;
    uint64_t records = 0, near = 0, cycles = 0;
    uint32_t tid[4];
    size_t n = lines_rows(line, &rows);

    for (size_t i = 0; i < n; i++) {
        records += rows[i].remote.records;
        cycles += rows[i].remote.cycles;
        near += rows[i].near.records;
        size_t threads = lines_threads(&rows[i], tid, 4);
        require(threads && threads <= rows[i].count);
        for (unsigned b = line_bytes; b < LINES_BYTES_MAX; b++)
            require(!(rows[i].used[b / 64] >> b % 64 & 1));
    }
    require(records == line->remote.records && near == line->near.records &&
            cycles == line->remote.cycles);
    free(rows);
}

static void check_line(const struct lines_line *line, unsigned line_bytes)
{
    struct lines_saving padded = lines_padded(line), together = lines_together(line, 14);

    require(line->remote.records && line->count && line->address % line_bytes == 0);
    require(line->met >= 0 && line->met <= line->crossed + 1e-6 && line->crossed <= 1 + 1e-6);
    require(line->dense >= 0 && line->dense <= 1 + 1e-6);
    require(line->verdict == LINES_UNCLEAR || line->remote.records >= LINES_RECORDS_MIN);
    require(line->store_cycles <= line->remote.cycles);
    require(padded.cycles <= padded.at_most + 1e-6 && together.cycles <= together.at_most + 1e-6);
    require(together.at_most <= (double)line->remote.cycles + 1e-6);
    require(lines_users(line) && lines_users(line) <= line->count);
    require(lines_processes(line) && lines_processes(line) <= line->count);
    check_rows(line, line_bytes);
}

static struct lines_access access_of(const uint8_t in[16])
{
    return (struct lines_access){.address = (uint64_t)in[0] << 56 | in[1] << 8 | in[2],
                                 .place = (uint64_t)(in[14] & 15) << 56 | in[1] << 8 | in[2],
                                 .space = in[14] >> 4,
                                 .pid = in[15] >> 4,
                                 .of = in[15] & 15,
                                 .pc = in[3],
                                 .tid = in[4] % 7,
                                 .period = (uint32_t)(in[5] << 8 | in[6]),
                                 .chip = (uint16_t)(in[7] << 4),
                                 .bytes = (uint16_t)(in[8] | (in[9] & 1) << 8),
                                 .latency = (uint16_t)(in[10] << 8 | in[11]),
                                 .kind = in[12] % LINES_KINDS,
                                 .near = in[13] & 1,
                                 .modified = in[13] & 2};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lines lines;
    struct lines_found found;
    uint64_t records = 0;

    if (!size)
        return 0;
    unsigned line_bytes = LINES_BYTES_MIN << data[0] % 3;
    lines_begin(&lines, line_bytes);
    for (size_t at = 1; at + 16 <= size; at += 16) {
        struct lines_access a = access_of(data + at);
        lines_add(&lines, &a);
    }
    require(lines_find(&lines, &found) && !lines.left_out);
    for (size_t i = 0; i < found.count; i++) {
        check_line(&found.line[i], line_bytes);
        require(!i || found.line[i - 1].remote.cycles >= found.line[i].remote.cycles);
        records += found.line[i].remote.records;
    }
    require(records == lines.remote.records);
    lines_found_free(&found);
    lines_end(&lines);
    return 0;
}
