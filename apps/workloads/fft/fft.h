/* A Fourier transform in six steps; see fft.c. */
#pragma once
#include "apps/common/real.h"
#include "apps/common/spmd.h"

enum { FFT_SAMPLES = 2 };

struct fft {
    uint64_t log2n, block; /* log2 of the elements; rows and columns of a block to transpose */
    size_t n, rows, columns;
    unsigned log2_rows, log2_columns;
    struct complex_number *x, *other, *twiddles; /* n each */
    /* powers of a root of order columns, and of order n */
    struct complex_number *roots, *fine;
    struct real_roots primitive;
    struct {
        uint64_t k;
        struct complex_number value;
    } sample[FFT_SAMPLES]; /* of the last transform */
};

extern const struct spmd_program fft_program;
extern struct fft fft_state;

/* Returns element j of the data by seed. */
struct complex_number fft_element(uint64_t seed, uint64_t j);

/* Transform x to `other`, overwriting x, and back. All threads together. */
void fft_forward(struct spmd_thread *t);
void fft_back(struct spmd_thread *t);
