/* String functions by vectors of 16 bytes, which every x86-64 processor has. */
#include <emmintrin.h>
#include <stdint.h>
#include "apps/libc/names.h"

#define NAME(function) __vigil_##function##_sse2
#define WHOLE          0xffffu

typedef __m128i vec;
typedef __m128i_u loose_vec;

#define load(p)             _mm_loadu_si128((const loose_vec *)(p))
#define load_aligned(p)     _mm_load_si128((const vec *)(p))
#define store(p, v)         _mm_storeu_si128((loose_vec *)(p), v)
#define store_aligned(p, v) _mm_store_si128((vec *)(p), v)
#define every(byte)         _mm_set1_epi8(byte)
#define equal(a, b)         _mm_cmpeq_epi8(a, b)
#define least(a, b)         _mm_min_epu8(a, b)
#define all(a, b)           _mm_and_si128(a, b)
#define bits(v)             ((uint32_t)_mm_movemask_epi8(v))

#include "apps/libc/x86_64/string_vector.h"
