"""Bodies on a line that attract one another: each iteration is four steps of five bodies."""
import sys


def advance(bodies, steps):
    for _ in range(steps):
        for i, (x, v) in enumerate(bodies):
            force = 0.0
            for j, (other, _) in enumerate(bodies):
                if i != j:
                    d = other - x
                    force += d / (abs(d) ** 3 + 0.01)
            bodies[i] = (x + 0.01 * v, v + 0.01 * force)


bodies = [(float(i), 0.0) for i in range(5)]
for n in range(int(sys.argv[1])):
    advance(bodies, 4)
    print("iteration", n)
