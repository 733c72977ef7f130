/* String functions by vectors of 32 bytes, for processors with AVX2. */
#pragma GCC target("avx2")
#include <immintrin.h>
#include <stdint.h>
#include "apps/libc/names.h"

#define NAME(function) __vigil_##function##_avx2
#define WHOLE          0xffffffffu

typedef __m256i vec;
typedef __m256i_u loose_vec;

#define load(p)             _mm256_loadu_si256((const loose_vec *)(p))
#define load_aligned(p)     _mm256_load_si256((const vec *)(p))
#define store(p, v)         _mm256_storeu_si256((loose_vec *)(p), v)
#define store_aligned(p, v) _mm256_store_si256((vec *)(p), v)
#define every(byte)         _mm256_set1_epi8(byte)
#define equal(a, b)         _mm256_cmpeq_epi8(a, b)
#define least(a, b)         _mm256_min_epu8(a, b)
#define all(a, b)           _mm256_and_si256(a, b)
#define bits(v)             ((uint32_t)_mm256_movemask_epi8(v))

#include "apps/libc/x86_64/string_vector.h"
