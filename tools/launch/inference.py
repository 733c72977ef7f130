"""What few independent values say: means with intervals, ratios of two means, many at once. Pure."""
import math

ITERATIONS, TINY, NEAR = 300, 1e-300, 1e-14


def mean(values):
    return sum(values) / len(values)


def variance_of_mean(values):
    """Returns the estimated variance of the mean of at least two values."""
    m = mean(values)
    return sum((v - m) ** 2 for v in values) / (len(values) - 1) / len(values)


def beta_part(a, b, x):
    """Returns the regularized incomplete beta function I_x(a, b), by its continued fraction in
    Lentz's way (Press et al., Numerical Recipes, 6.4)."""
    if x <= 0 or x >= 1:
        return min(max(x, 0.0), 1.0)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_part(b, a, 1 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
                     + a * math.log(x) + b * math.log(1 - x)) / a
    c, d = 1.0, 1 / ((1 - (a + b) * x / (a + 1)) or TINY)
    fraction = d
    for m in range(1, ITERATIONS):
        for term in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                     -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1 / ((1 + term * d) or TINY)
            c = (1 + term / c) or TINY
            fraction *= c * d
        if abs(c * d - 1) < NEAR:
            break
    return front * fraction


def student_tails(t, freedom):
    """Returns the probability that Student's t lies further from 0 than `t`."""
    return beta_part(freedom / 2, 0.5, freedom / (freedom + t * t))


def student_quantile(freedom, tails=0.05):
    """Returns the t further than which only `tails` of the probability lies."""
    low, high = 0.0, 1.0
    while student_tails(high, freedom) > tails:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if student_tails(middle, freedom) > tails else (low, middle)
    return (low + high) / 2


def interval(values, tails=0.05):
    """Returns half the width of the mean's interval of confidence; None: a single value has none."""
    if len(values) < 2:
        return None
    return student_quantile(len(values) - 1, tails) * math.sqrt(variance_of_mean(values))


def welch_freedom(v1, n1, v2, n2):
    """Returns the degrees of freedom for means of these variances and numbers of values (Welch)."""
    below = v1 ** 2 / (n1 - 1) + v2 ** 2 / (n2 - 1)
    return (v1 + v2) ** 2 / below if below else n1 + n2 - 2


class Ratio:
    """mean(after) / mean(before): `ratio`; `low` and `high`, its interval by Fieller's theorem,
    None where it has no bounds; `p`, of the two means' being equal (Welch's test)."""

    def __init__(self, before, after, tails=0.05):
        m1, m2 = mean(before), mean(after)
        v1, v2 = variance_of_mean(before), variance_of_mean(after)
        freedom = welch_freedom(v1, len(before), v2, len(after))
        self.ratio = m2 / m1 if m1 else None
        self.low = self.high = None
        if v1 + v2:
            self.p = student_tails((m2 - m1) / math.sqrt(v1 + v2), freedom)
        else:
            self.p = 1.0 if m1 == m2 else 0.0
        if not m1:
            return
        t = student_quantile(freedom, tails)
        g = t * t * v1 / (m1 * m1)
        if g < 1:
            half = t / abs(m1) * math.sqrt(max(v2 + self.ratio ** 2 * v1 - g * v2, 0.0))
            self.low = (self.ratio - half) / (1 - g)
            self.high = (self.ratio + half) / (1 - g)


def holm(ps, level=0.05):
    """Returns for each p whether its hypothesis is rejected, so that all together err with
    probability `level` at most (Holm 1979)."""
    rejected, going = [False] * len(ps), True
    for rank, i in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        going = going and ps[i] <= level / (len(ps) - rank)
        rejected[i] = going
    return rejected
