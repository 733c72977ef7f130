/* See real.h. */
#include "apps/common/real.h"
#include <math.h>
#include <string.h>

/* Half angles: cos(x/2) = sqrt((1 + cos x) / 2), sin(x/2) = sin x / (2 cos(x/2)). Neither cancels
 * below a right angle. */
void real_roots_init(struct real_roots *roots)
{
    roots->power[0] = (struct complex_number){1, 0};
    roots->power[1] = (struct complex_number){-1, 0};
    roots->power[2] = (struct complex_number){0, -1};
    for (unsigned k = 3; k < REAL_ROOTS_MAX; k++) {
        struct complex_number whole = roots->power[k - 1];
        double re = sqrt((1 + whole.re) / 2);
        roots->power[k] = (struct complex_number){re, whole.im / (2 * re)};
    }
}

struct complex_number real_root(const struct real_roots *roots, unsigned k, uint64_t e)
{
    struct complex_number product = {1, 0};

    for (; e; e >>= 1, k--) {
        if (e & 1)
            product = complex_product(product, roots->power[k]);
    }
    return product;
}

/* ln 2, split so that the first part times a small integer is exact (fdlibm's split). */
#define LN2_HIGH 0x1.62e42feep-1
#define LN2_LOW  0x1.a39ef35793c76p-33

/* 2^e, -1022 <= e <= 1023. */
static double power_of_two(int e)
{
    uint64_t bits = (uint64_t)(e + 1023) << 52;
    double power;

    memcpy(&power, &bits, sizeof power);
    return power;
}

/* x = k ln 2 + r with |r| <= ln 2 / 2; then Taylor's series, of which the 14th term is below
 * 10^-17. */
double real_exp(double x)
{
    int k = (int)(x / (LN2_HIGH + LN2_LOW) + (x < 0 ? -0.5 : 0.5));
    double r = x - k * LN2_HIGH - k * LN2_LOW, sum = 1;

    for (int term = 14; term > 0; term--)
        sum = 1 + r / term * sum;
    return k < -1021 ? sum * power_of_two(-1021) * power_of_two(k + 1021) : sum * power_of_two(k);
}

/* x = m 2^e with sqrt(1/2) <= m < sqrt(2); log m = 2 atanh((m - 1) / (m + 1)), with an argument
 * below 0.172. */
double real_log(double x)
{
    uint64_t bits;
    double m, sum = 0;
    int e;

    memcpy(&bits, &x, sizeof bits);
    e = (int)(bits >> 52) - 1023;
    bits = (bits & 0xfffffffffffffu) | (uint64_t)1023 << 52;
    memcpy(&m, &bits, sizeof m);
    if (m > 0x1.6a09e667f3bcdp+0) {
        m /= 2;
        e++;
    }
    double s = (m - 1) / (m + 1), square = s * s;
    for (int term = 21; term > 0; term -= 2)
        sum = sum * square + 1.0 / term;
    return 2 * s * sum + e * LN2_LOW + e * LN2_HIGH;
}
