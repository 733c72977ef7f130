/* See job.h. */
#include "apps/workloads/phases/job.h"
#include <string.h>
#include "apps/libc/hpm.h"

enum { BLOCK_BYTES = 1 << 16 };

const struct phases_kind *const phases_kinds[] = {
    &phases_sort,  &phases_matrix, &phases_chase, &phases_compress,
    &phases_graph, &phases_interp, NULL};

/* A check that would accept this checks nothing. */
static void spoil(struct phases_job *job)
{
    uint64_t random = prng_next(&job->prng);

    ((uint8_t *)job->product)[(random >> 8) % job->product_bytes] ^= 1 << random % 8;
}

void phases_enter(struct phases_job *job, const char *name)
{
    if (job->marks)
        hpm_mark(name);
    if (job->spoil && strcmp(name, "check") == 0)
        spoil(job);
}

/* FNV-1a's multiplication, by words. */
void phases_result(struct phases_job *job, uint64_t value)
{
    job->sum = (job->sum ^ value) * 0x100000001b3u;
    job->sum ^= job->sum >> 32;
}

void *phases_alloc(struct phases_job *job, size_t bytes)
{
    if (!job->arena.block_size)
        job->arena.block_size = BLOCK_BYTES;
    return arena_alloc(&job->arena, bytes, ARENA_LINE);
}
