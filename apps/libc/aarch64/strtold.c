/*
 * Converts decimal and hexadecimal text to a long double, IEEE's binary128 (AAPCS64), in place of
 * newlib's, which stores the 80 bits of x87 there and truncates. newlib's _strtodg_l (D. Gay's
 * gdtoa, for any precision) converts the digits. All of newlib's strtold, wcstold and scanf use
 * this function.
 */
#include <locale.h>
#include <reent.h>
#include <stdint.h>
#include <string.h>

#define BITS  113    /* of the significand, including the highest, which is not stored */
#define BIAS  16383  /* of the exponent */
#define E_MAX 0x7fff /* of infinity and not-a-number */

/* Declarations of gdtoa's gdtoa.h: a format; kinds of numbers; the sign. */
struct FPI {
    int bits;
    int exponent_min, exponent_max; /* of the significand's lowest bit */
    int rounding;                   /* 0: to zero, 1: to nearest, 2: up, 3: down */
    int sudden_underflow;
};
enum {
    ZERO,
    NORMAL,
    DENORMAL,
    INFINITE,
    NOT_A_NUMBER,
    NOT_A_NUMBER_BITS,
    NO_NUMBER,
    KIND = 7,
    NEGATIVE = 8
};

int _strtodg_l(struct _reent *r, const char *text, char **end, struct FPI *format,
               __int32_t *exponent, __ULong *significand, locale_t locale);
int _strtorx_l(struct _reent *r, const char *text, char **end, int rounding, void *out,
               locale_t locale);

/* Returns FPCR.RMode in gdtoa's terms. */
static int rounding_now(void)
{
    static const uint8_t as_gdtoa[] = {1, 2, 3, 0};
    uint64_t fpcr;

    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    return as_gdtoa[fpcr >> 22 & 3];
}

/* Stores words, the lowest first. */
static void put_quad(uint32_t word[4], const __ULong significand[4], int32_t exponent, int kind)
{
    const uint32_t stored = (1u << (BITS - 1) % 32) - 1;
    uint32_t e = 0;

    for (unsigned i = 0; i < 4; i++)
        word[i] =
            kind == ZERO || kind == NO_NUMBER || kind == INFINITE ? 0 : (uint32_t)significand[i];
    if (kind == NORMAL)
        e = (uint32_t)(exponent + BIAS + BITS - 1);
    else if (kind == INFINITE || kind == NOT_A_NUMBER || kind == NOT_A_NUMBER_BITS)
        e = E_MAX;
    if (kind == NOT_A_NUMBER)
        word[3] = (stored + 1) / 2; /* a quiet one */
    word[3] = (word[3] & stored) | e << 16;
}

int _strtorx_l(struct _reent *r, const char *text, char **end, int rounding, void *out,
               locale_t locale)
{
    struct FPI format = {.bits = BITS,
                         .exponent_min = 1 - BIAS - BITS + 1,
                         .exponent_max = E_MAX - 1 - BIAS - BITS + 1,
                         .rounding = rounding_now()};
    __ULong significand[4] = {0};
    __int32_t exponent = 0;
    uint32_t word[4];

    (void)rounding; /* newlib's guess is wrong here */
    int kind = _strtodg_l(r, text, end, &format, &exponent, significand, locale);
    put_quad(word, significand, exponent, kind & KIND);
    if (kind & NEGATIVE)
        word[3] |= 1u << 31;
    memcpy(out, word, sizeof word);
    return kind;
}
