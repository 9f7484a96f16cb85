"""The coefficients of `normal_tail` in autograd/base/elementary.h: R(t) = e^(t^2/2) Phi(-t) as a polynomial in
s = 1 / (1 + 0.26 t) without a constant. For float32, 0 <= t <= 13.5, the largest relative error is made as small as can
be (Lawson's iteration); for float64, t <= 38, the polynomial meets R at the Chebyshev nodes.

    python tools/reference/normal_tail.py          needs NumPy and mpmath
"""
import math

import mpmath
import numpy

SLOPE, LAST, TERMS, NODES = 0.26, 13.5, 9, 500

lowest = 1 / (1 + SLOPE * LAST)
s = (1 + lowest) / 2 + (1 - lowest) / 2 * numpy.cos(numpy.pi * (numpy.arange(NODES) + 0.5) / NODES)
wanted = [math.exp(t * t / 2) * math.erfc(t / math.sqrt(2)) / 2 for t in (1 / s - 1) / SLOPE]
basis = numpy.polynomial.chebyshev.chebvander((2 * s - lowest - 1) / (1 - lowest), TERMS - 1)
basis = basis * (s / wanted)[:, None]
weights, best, found = numpy.ones(NODES), math.inf, None
for _ in range(80):
    root = numpy.sqrt(weights)
    series = numpy.linalg.lstsq(basis * root[:, None], root, rcond=None)[0]
    error = abs(basis @ series - 1)
    if error.max() < best:
        best, found = error.max(), series
    weights *= error / error.max() + 1e-4
    weights /= weights.mean()
print(f"largest relative error {best:.1e}")
for coefficient in numpy.polynomial.Chebyshev(found, domain=[lowest, 1]).convert(kind=numpy.polynomial.Polynomial).coef:
    print(f"{coefficient:.10g}")

mpmath.mp.dps = 60
SLOPE, LAST, TERMS = mpmath.mpf("0.26"), 38, 22
lowest = 1 / (1 + SLOPE * LAST)


def wanted_at(s):
    t = (1 / s - 1) / SLOPE
    return mpmath.exp(t * t / 2) * mpmath.erfc(t / mpmath.sqrt(2)) / 2 / s


angles = [mpmath.pi * (k + mpmath.mpf(1) / 2) / TERMS for k in range(TERMS)]
nodes = [(lowest + 1) / 2 + (1 - lowest) / 2 * mpmath.cos(angle) for angle in angles]
powers = mpmath.matrix(TERMS, TERMS)
for row, s in enumerate(nodes):
    for column in range(TERMS):
        powers[row, column] = s**column
series = list(mpmath.lu_solve(powers, mpmath.matrix([wanted_at(s) for s in nodes])))
tested = [lowest + (1 - lowest) * k / 999 for k in range(1000)]
print(f"largest relative error {float(max(abs(mpmath.polyval(series[::-1], s) / wanted_at(s) - 1) for s in tested)):.1e}")
for coefficient in series:
    print(mpmath.nstr(coefficient, 18))
