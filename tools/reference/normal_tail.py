"""The coefficients of `normal_at` in autograd/kernels/vector_math.h: R(t) = e^(t^2/2) Phi(-t), 0 <= t <= 13.5, as a
polynomial in s = 1 / (1 + 0.26 t) without a constant, the largest relative error made as small as can be (Lawson's
iteration).

    python tools/reference/normal_tail.py          needs NumPy
"""
import math

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
