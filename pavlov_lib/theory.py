"""Closed-form predictions, each derived in the book and none fitted to a measurement.

Set-up throughout: keys independent and uniform on the unit sphere of R^{d_k}, values independent and uniform on the
unit sphere of R^{d_v}; ``S`` holds all n pairs; ``r_j = S k_j`` is what test stimulus j recalls.
"""

from __future__ import annotations

import math

import numpy as np

from . import checks

# --- how well one memory recalls -------------------------------------------------------------------------------------


def hebbian_error(n, d_k: int):
    """Expected squared error of recall, ``E‖r_j − v_j‖² = (n − 1) / d_k``, exact.

    Each of the other n − 1 values leaks in with weight ``k_i·k_j``, whose mean square is ``1/d_k``.

    Examples
    --------
    >>> float(hebbian_error(33, 32))
    1.0
    """
    return (np.asarray(n) - 1)[()] / checks.count("d_k", d_k)


def fidelity(error):
    """Mean cosine of recall from the squared error of a Hebbian memory, ``1 / sqrt(1 + error)``.

    The noise is nearly orthogonal to the signal, which has length 1. Within 0.01 of the truth from d_k = 32 on.

    Examples
    --------
    >>> float(fidelity(0.0))
    1.0
    """
    return 1 / np.sqrt(1 + np.asarray(error))[()]


def capacity_slope(tau: float) -> float:
    """Associations per key dimension that are recalled with mean cosine ``tau``: ``1/τ² − 1``.

    Solving ``tau = 1 / sqrt(1 + (n − 1)/d_k)`` for n gives the straight line ``n = 1 + d_k (1/τ² − 1)``.

    Examples
    --------
    >>> round(capacity_slope(0.9), 4)
    0.2346
    """
    return 1 / checks.number("tau", tau, 0, 1, open_low=True) ** 2 - 1


def expected_recall(rule: str, n: int, d_k: int, d_v: int, *, rate: float = 1.0, decay: float = 1.0):
    """Expected squared error and approximate fidelity of every item after n writes, oldest first.

    The signal ``C_j = E[r_j·v_j]`` and the power ``R_j = E‖r_j‖²`` of each rule obey short recursions in the number of
    later writes; then ``error_j = R_j − 2 C_j + 1`` (exact) and ``fidelity_j ≈ C_j / sqrt(R_j)``.

    Parameters
    ----------
    rule : {"hebbian", "delta", "oja"}
    n, d_k, d_v : int
    rate : float
        Learning rate η. The delta rule's recursion is exact at every rate, stable or not.
    decay : float
        What is kept per step; for "hebbian" only.

    Returns
    -------
    error, fidelity : arrays (n,)

    Raises
    ------
    ValueError
        If the rule is unknown or a number is out of range.

    Examples
    --------
    >>> error, cosine = expected_recall("hebbian", 9, 16, 16)
    >>> print(error[0], error[-1])
    0.5 0.5
    >>> error, cosine = expected_recall("delta", 9, 16, 16)
    >>> print(error[-1])  # the last pair is recalled exactly
    0.0
    """
    checks.one_of("rule", rule, _RECALL)
    n, d_k, d_v = checks.count("n", n), checks.count("d_k", d_k), checks.count("d_v", d_v)
    eta, decay = checks.number("rate", rate, 0), checks.number("decay", decay, 0, 1, open_low=True)
    if decay != 1 and rule != "hebbian":
        raise ValueError(f"decay must be 1 for the {rule} rule, which has none; got {decay}")
    signal, power = _RECALL[rule](n, d_k, d_v, eta, decay)
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = np.where(power > 0, signal / np.sqrt(power), 0.0)
    return power - 2 * signal + 1, cosine


def _hebbian_recall(n, d_k, d_v, eta, decay):
    age = np.arange(n)[::-1]  # writes since item j, oldest first
    weight = eta * decay**age
    return weight, weight**2 + ((weight**2).sum() - weight**2) / d_k


def _oja_recall(n, d_k, d_v, eta, decay):
    age = np.arange(n)[::-1]
    kept = 1 - eta / d_v  # E(1 − η v_i²)
    kept2 = 1 - 2 * eta / d_v + 3 * eta**2 / (d_v * (d_v + 2))  # E(1 − η v_i²)²
    own = eta**2 * kept2**age
    return eta * kept**age, own + (own.sum() - own) / d_k


def _delta_recall(n, d_k, d_v, eta, decay):
    signal, power = np.zeros(n), np.zeros(n)
    norm = 0.0  # E‖S‖² before write j
    for j in range(n):
        # later writes, seen by the items 0..j−1: k·k_j has mean square 1/d_k, and E (k·k_j)² ‖S k‖² the form below
        power[:j] += -2 * eta * power[:j] / d_k + eta**2 * (1 / d_k + (norm + 2 * power[:j]) / (d_k * (d_k + 2)))
        signal[:j] *= 1 - eta / d_k
        signal[j], power[j] = eta, (1 - eta) ** 2 * norm / d_k + eta**2
        norm += -2 * eta * norm / d_k + eta**2 * (1 + norm / d_k)
    return signal, power


_RECALL = {"hebbian": _hebbian_recall, "delta": _delta_recall, "oja": _oja_recall}


# --- worst case ------------------------------------------------------------------------------------------------------


def mean_overlap(d_k: int) -> float:
    """``E|k_i·k_j|`` of two random unit vectors: ``Γ(d/2) / (√π Γ((d+1)/2))``, close to ``sqrt(2/(π d))``.

    Examples
    --------
    >>> round(mean_overlap(64) / math.sqrt(2 / (math.pi * 64)), 3)
    1.004
    """
    d = checks.count("d_k", d_k)
    return math.exp(math.lgamma(d / 2) - math.lgamma((d + 1) / 2)) / math.sqrt(math.pi)


def worst_case_capacity(d_k: int, epsilon: float = 1.0) -> float:
    """Associations that a typical item survives when all values conspire against it, ``1 + ε / E|k_i·k_j|``.

    Then the interference is ``Σ |k_i·k_j|``, a sum of sizes instead of a sum of signs, and it reaches ``ε`` when n is
    of order ``sqrt(d_k)``. The unluckiest of the n items is hit somewhat earlier: this is an upper estimate.

    Examples
    --------
    >>> round(worst_case_capacity(400) / worst_case_capacity(100), 1)
    1.9
    """
    return 1 + checks.number("epsilon", epsilon, 0, open_low=True) / mean_overlap(d_k)


# --- stacks of memories ----------------------------------------------------------------------------------------------


def head_failure(n: int, d_k: int, d_v: int, averaged: int = 1) -> float:
    """Probability that nearest-codeword decoding of a recall picks another of the n items.

    Let ``y = v_i·v_j`` be the overlap of a competitor's value with the right one, and let ``σ² = (n − 2)/(d_k d_v A)``
    be the variance of the noise along one codeword when the reads of A heads are averaged.
    The competitor wins if ``(1 − y)(1 − x + σ z) < sqrt(1 − y²) σ w`` with ``x ~ N(0, 1/(d_k A))`` the overlap of the
    keys and ``z, w`` standard normal, ``z`` shared by all competitors. Given ``z`` the n − 1 competitors are treated as
    independent, which makes the prediction a little too large (by about a tenth where errors are common).

    Parameters
    ----------
    n : int
        Stored associations, at least 2.
    d_k, d_v : int
        Key and value dimension, d_v of at least 3.
    averaged : int
        Heads whose reads are averaged before decoding (same values, independent keys).

    Examples
    --------
    >>> round(head_failure(64, 32, 32), 2)
    0.18
    """
    n, d_k, d_v = checks.count("n", n, 2), checks.count("d_k", d_k), checks.count("d_v", d_v, 3)
    heads = checks.count("averaged", averaged)
    z, z_weight = np.polynomial.hermite_e.hermegauss(40)
    y, y_weight = np.polynomial.legendre.leggauss(100)
    y_weight = y_weight * (1 - y**2) ** ((d_v - 3) / 2)  # the density of v_i·v_j on the sphere
    sigma = math.sqrt((n - 2) / (d_k * d_v * heads))
    c = np.sqrt((1 - y) / (1 + y))
    margin = c * (1 + sigma * z[:, None]) / np.sqrt(c**2 / (d_k * heads) + sigma**2)
    beaten = (_normal_tail(margin) * y_weight).sum(1) / y_weight.sum()
    return float(((1 - (1 - beaten) ** (n - 1)) * z_weight).sum() / z_weight.sum())


def _normal_tail(x: np.ndarray) -> np.ndarray:
    """P(N(0, 1) > x), entry by entry; NumPy has no error function, and SciPy would double the browser's download."""
    return np.vectorize(lambda u: 0.5 * math.erfc(u / math.sqrt(2)))(x)


def any_head_failure(p: float, heads: int) -> float:
    """A layer that needs one right head among ``heads`` independent ones fails with probability ``p^H``."""
    return checks.number("p", p, 0, 1) ** checks.count("heads", heads)


def vote_failure(p: float, heads: int, n: int) -> float:
    """Probability that the plurality vote of independent heads misses the right one of n items.

    A head is right with probability 1 − p and otherwise names one of the n − 1 wrong items, all equally likely;
    ties are broken by a fair draw. Counted exactly, with exponential generating functions.

    Examples
    --------
    >>> vote_failure(0.25, 1, 10)
    0.25
    >>> round(vote_failure(0.25, 2, 10), 12)  # two heads vote no better than one
    0.25
    >>> vote_failure(0.25, 3, 10) < 0.25
    True
    """
    p, heads, n = checks.number("p", p, 0, 1), checks.count("heads", heads), checks.count("n", n, 2)
    right = 0.0
    for c in range(1, heads + 1):  # c heads are right; the others spread their votes over n − 1 wrong items
        wrong = heads - c
        chance = math.comb(heads, c) * (1 - p) ** c * p**wrong
        for tied in range(min(wrong // c, n - 1) + 1):  # so many wrong items reach c votes too, none more
            rest = wrong - tied * c
            ways = _spreads(n - 1 - tied, rest, c - 1) * math.comb(n - 1, tied) / math.factorial(c) ** tied
            right += chance * ways * math.factorial(wrong) / (n - 1) ** wrong / (tied + 1)
    return min(max(1 - right, 0.0), 1.0)


def _spreads(items: int, votes: int, most: int) -> float:
    """Coefficient of x^votes in (Σ_{m ≤ most} x^m / m!)^items: ways to spread votes with at most ``most`` per item."""
    one = np.array([1 / math.factorial(m) for m in range(min(most, votes) + 1)])
    total, power = np.array([1.0]), one
    while items:
        if items & 1:
            total = np.convolve(total, power)[: votes + 1]
        power = np.convolve(power, power)[: votes + 1]
        items >>= 1
    return float(total[votes]) if votes < len(total) else 0.0


def stack_failure(layer_failure: float, layers: int) -> float:
    """A chain of layers is right only if every layer is: ``1 − (1 − q)^L``, about ``L q`` while that is small.

    Examples
    --------
    >>> stack_failure(0.5, 2)
    0.75
    """
    return 1 - (1 - checks.number("layer_failure", layer_failure, 0, 1)) ** checks.count("layers", layers)


def failure_bound(readout: str, layers: int, heads: int, n: int, d_k: int, d_v: int) -> float:
    """Upper bound on the failure of a stack, from Chebyshev's inequality and the union over heads and layers.

    A head can only fail if its error exceeds half the distance to the nearest other value,
    ``ε² = (1 − ρ)/2`` with ``ρ`` the largest overlap of the value with the n − 1 others (taken as the larger of its
    typical size and zero), so ``q = (n − 1)/(d_k ε²)``. Then

    - "any": every head must fail, ``L q^H``, the ``L (n/d_k)^H`` of the claim;
    - "majority": at least half of the heads must fail, ``L C(H, ⌈H/2⌉) q^⌈H/2⌉``;
    - "average": averaging divides the squared error by H, ``L q/H``.

    The bound is safe and loose: it exceeds 1, and says nothing, in the whole range where errors can be seen.

    Examples
    --------
    >>> failure_bound("any", 2, 1, 17, 64, 64) == 2 * failure_bound("any", 1, 1, 17, 64, 64)
    True
    """
    checks.one_of("readout", readout, READOUTS)
    layers, heads = checks.count("layers", layers), checks.count("heads", heads)
    n, d_k, d_v = checks.count("n", n, 2), checks.count("d_k", d_k), checks.count("d_v", d_v, 3)
    rho = min(math.sqrt(2 * math.log(n) / d_v), 0.9)
    q = (n - 1) / (d_k * (1 - rho) / 2)
    half = math.ceil(heads / 2)
    return layers * {"any": q**heads, "majority": math.comb(heads, half) * q**half, "average": q / heads}[readout]


READOUTS = ("any", "majority", "average")


def stack_prediction(readout: str, layers: int, heads: int, n: int, d_k: int, d_v: int) -> float:
    """Predicted failure of a stack for one of the three read-outs, ``1 − (1 − q)^L`` with the layer's failure q.

    Examples
    --------
    >>> round(stack_prediction("any", 1, 2, 64, 32, 32) / head_failure(64, 32, 32) ** 2, 9)
    1.0
    """
    checks.one_of("readout", readout, READOUTS)
    heads = checks.count("heads", heads)
    if readout == "average":
        return stack_failure(head_failure(n, d_k, d_v, averaged=heads), layers)
    p = head_failure(n, d_k, d_v)
    return stack_failure(any_head_failure(p, heads) if readout == "any" else vote_failure(p, heads, n), layers)


# --- stability -------------------------------------------------------------------------------------------------------


def delta_contraction(rate: float, key_norm: float = 1.0) -> float:
    """What a repeated pairing leaves of its error under the delta rule, ``1 − η‖k‖²``; stable while its size is < 1.

    Examples
    --------
    >>> delta_contraction(1.0), delta_contraction(2.5)
    (0.0, -1.5)
    """
    return 1 - checks.number("rate", rate, 0) * checks.number("key_norm", key_norm, 0) ** 2


def oja_plateau_norm(d_v: int, rate: float = 1.0) -> float:
    """Root mean square norm at which Oja's rule settles on independent unit pairs.

    ``E‖S‖² ← a E‖S‖² + η²`` with ``a = E(1 − η v_i²)² = 1 − 2η/d_v + 3η²/(d_v(d_v + 2))``; its fixed point is
    ``η²/(1 − a)``.

    Raises
    ------
    ValueError
        If a is not below 1, so that there is no plateau.

    Examples
    --------
    >>> round(oja_plateau_norm(64), 2)
    5.72
    """
    eta, d_v = checks.number("rate", rate, 0, open_low=True), checks.count("d_v", d_v)
    kept = 1 - 2 * eta / d_v + 3 * eta**2 / (d_v * (d_v + 2))
    if kept >= 1:
        raise ValueError(f"rate must be below 2(d_v + 2)/3 = {2 * (d_v + 2) / 3:g} for a plateau; got {eta}")
    return eta / math.sqrt(1 - kept)


# --- softmax attention ------------------------------------------------------------------------------------------------


def softmax_noise(beta: float, d_k: int, similarity: float = 1.0) -> float:
    """What one other item adds to the squared error of softmax recall, relative to the signal: ``E e^{2β(x − c)}``.

    x is the overlap of two random unit vectors, averaged by quadrature; linear attention has 1/d_k in its place.

    Examples
    --------
    >>> round(softmax_noise(8.0, 64) / math.exp(2 * 8.0**2 / 64 - 16), 2)  # nearly normal overlaps
    0.95
    """
    beta, d_k = checks.number("beta", beta, 0, open_low=True), checks.count("d_k", d_k, 3)
    c = checks.number("similarity", similarity, 0, 1, open_low=True)
    x, weight = np.polynomial.legendre.leggauss(400)
    weight = weight * (1 - x**2) ** ((d_k - 3) / 2)
    return float((weight * np.exp(2 * beta * (x - c))).sum() / weight.sum())


def nearest_key_capacity(d_k: int, similarity: float, tolerance: float) -> float:
    """Pairs among which a query with this similarity to its key has another key nearer with probability ``tolerance``.

    ``n = 1 + log(1 − tolerance) / log(1 − P(x > c))``, which grows like ``(1 − c²)^{−d_k/2}``: exponentially.

    Raises
    ------
    ValueError
        If a number is out of range; with similarity 1 no other key is ever nearer, and there is no limit.

    Examples
    --------
    >>> round(nearest_key_capacity(20, 0.8, 0.1) / nearest_key_capacity(10, 0.8, 0.1) / 0.36**-5, 1)
    1.4
    """
    d_k, c = checks.count("d_k", d_k, 3), checks.number("similarity", similarity, 0, 1, open_low=True)
    tolerance = checks.number("tolerance", tolerance, 0, 0.5, open_low=True)
    if c == 1:
        raise ValueError("similarity must be below 1: no other key is nearer than the key itself; got 1")
    node, weight = np.polynomial.legendre.leggauss(400)
    x = c + (1 - c) * (node + 1) / 2  # where the overlap is above c
    above = ((1 - x**2) ** ((d_k - 3) / 2) * weight).sum() * (1 - c) / 2
    density = math.exp(math.lgamma(d_k / 2) - math.lgamma((d_k - 1) / 2)) / math.sqrt(math.pi)
    return 1 + math.log(1 - tolerance) / math.log1p(-density * above)
