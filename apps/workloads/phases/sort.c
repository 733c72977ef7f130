/*
 * Sorts random keys.
 *
 * Phases: "fill"; "merge", a bottom-up merge sort, which streams through two arrays; "quick", a
 * quicksort in place by median of three, with unpredictable branches; "search", binary searches, in
 * which each step waits for the one before; "check".
 *
 * Laws:
 * - both arrays ascend and are equal;
 * - their keys add up to the sum of the original keys;
 * - every key is found.
 */
#include <string.h>
#include "apps/workloads/phases/job.h"

enum { FEW = 16, SEARCHES_PER_KEY_INVERSE = 2 };

struct sort {
    uint32_t *keys, *merged, *scratch, *quick;
    size_t count;
    uint64_t key_sum; /* of keys */
    size_t found;
};

static void insertion_sort(uint32_t *keys, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint32_t key = keys[i];
        size_t at = i;
        for (; at > 0 && keys[at - 1] > key; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

/* Merges two ascending runs: na keys at a, and nb keys behind them. */
static void merge(const uint32_t *a, size_t na, size_t nb, uint32_t *out)
{
    const uint32_t *b = a + na, *a_end = b, *b_end = b + nb;

    while (a < a_end && b < b_end)
        *out++ = *b < *a ? *b++ : *a++;
    while (a < a_end)
        *out++ = *a++;
    while (b < b_end)
        *out++ = *b++;
}

/* Returns the array, one of the two, that holds the sorted keys. */
static uint32_t *merge_sort(uint32_t *keys, uint32_t *scratch, size_t count)
{
    for (size_t i = 0; i < count; i += FEW)
        insertion_sort(keys + i, count - i < FEW ? count - i : FEW);
    for (size_t run = FEW; run < count; run *= 2) {
        for (size_t i = 0; i < count; i += 2 * run) {
            size_t na = count - i < run ? count - i : run, rest = count - i - na;
            merge(keys + i, na, rest < run ? rest : run, scratch + i);
        }
        uint32_t *sorted = scratch;
        scratch = keys;
        keys = sorted;
    }
    return keys;
}

static uint32_t median(uint32_t a, uint32_t b, uint32_t c)
{
    if (a > b) {
        uint32_t t = a;
        a = b;
        b = t;
    }
    return c < a ? a : c > b ? b : c;
}

/* Hoare's partition. Keys 0..result-1 are at most the pivot, the others at least; neither part is
 * empty. */
static size_t partition(uint32_t *keys, size_t count)
{
    uint32_t pivot = median(keys[0], keys[count / 2], keys[count - 1]);
    size_t low = 0, high = count - 1;

    for (;;) {
        while (keys[low] < pivot)
            low++;
        while (keys[high] > pivot)
            high--;
        if (low >= high)
            return low == 0 ? 1 : low;
        uint32_t t = keys[low];
        keys[low++] = keys[high];
        keys[high--] = t;
    }
}

/* Recurses into the smaller part, so the depth is logarithmic. */
static void quick_sort(uint32_t *keys, size_t count)
{
    while (count > FEW) {
        size_t low = partition(keys, count);
        if (low < count - low) {
            quick_sort(keys, low);
            keys += low;
            count -= low;
        } else {
            quick_sort(keys + low, count - low);
            count = low;
        }
    }
    insertion_sort(keys, count);
}

static bool has_key(const uint32_t *keys, size_t count, uint32_t key)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && keys[low] == key;
}

static void fill(struct phases_job *job, struct sort *sort)
{
    sort->key_sum = 0;
    for (size_t i = 0; i < sort->count; i++) {
        sort->keys[i] = (uint32_t)(prng_next(&job->prng) >> 32);
        sort->key_sum += sort->keys[i];
    }
    memcpy(sort->merged, sort->keys, sort->count * sizeof *sort->keys);
    memcpy(sort->quick, sort->keys, sort->count * sizeof *sort->keys);
}

static const char *check(struct phases_job *job, const struct sort *sort, const uint32_t *merged)
{
    uint64_t key_sum = 0;

    for (size_t i = 0; i < sort->count; i++) {
        if (i && merged[i - 1] > merged[i])
            return "merged_ascends";
        key_sum += merged[i];
        phases_result(job, merged[i]);
    }
    if (key_sum != sort->key_sum)
        return "keys_are_kept";
    if (memcmp(merged, sort->quick, sort->count * sizeof *merged) != 0)
        return "both_sort_alike";
    return sort->found == sort->count / SEARCHES_PER_KEY_INVERSE ? NULL : "keys_are_found";
}

static const char *round_of(struct phases_job *job)
{
    struct sort *sort = job->data;

    phases_enter(job, "fill");
    fill(job, sort);
    phases_enter(job, "merge");
    const uint32_t *merged = merge_sort(sort->merged, sort->scratch, sort->count);
    phases_enter(job, "quick");
    quick_sort(sort->quick, sort->count);
    phases_enter(job, "search");
    sort->found = 0;
    for (size_t i = 0; i < sort->count / SEARCHES_PER_KEY_INVERSE; i++)
        sort->found += has_key(merged, sort->count, sort->keys[i]);
    phases_enter(job, "check");
    return check(job, sort, merged);
}

static void prepare(struct phases_job *job)
{
    struct sort *sort = phases_alloc(job, sizeof *sort);

    sort->count = job->size;
    sort->keys = phases_alloc(job, sort->count * sizeof *sort->keys);
    sort->merged = phases_alloc(job, sort->count * sizeof *sort->keys);
    sort->scratch = phases_alloc(job, sort->count * sizeof *sort->keys);
    sort->quick = phases_alloc(job, sort->count * sizeof *sort->keys);
    job->data = sort;
    job->product = sort->quick;
    job->product_bytes = sort->count * sizeof *sort->keys;
}

const struct phases_kind phases_sort = {"sort", "keys", 150000, 2, 16777216, prepare, round_of};
