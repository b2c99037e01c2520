"""Attention in parallel form, as transformers write it: every query meets every key at once.

Softmax attention weighs the values by ``exp(scale · q·k)``, and the weights of a query add up to one.
Linear attention leaves out the exponential, so the weights are the matches ``φ(q)·φ(k)`` themselves.
Then the order of multiplication may be exchanged, ``(φ(Q) φ(K)ᵀ) V = φ(Q) (φ(K)ᵀ V)``, and the bracket on the right
is an association matrix, written pair by pair: causal linear attention *is* the Hebbian circuit of
:mod:`pavlov_lib.rules.hebbian`, number for number.

These forms compare all pairs of time steps, so their cost is quadratic in time. They are here to be compared with.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from . import checks
from .checks import Array


def softmax_attention(keys: Array, values: Array, queries: Array, *, causal: bool = True, scale: float | None = None):
    """Softmax attention: ``softmax(scale · Q Kᵀ) V``.

    Parameters
    ----------
    keys : array (..., t, k)
    values : array (..., t, v)
    queries : array (..., t, k)
        If not ``causal``, any number of queries.
    causal : bool
        Whether the query at time t sees only the pairs up to time t.
    scale : float, optional
        Sharpness of the weights, positive; 1/√k if not given. A large one recalls the single nearest key.

    Returns
    -------
    array (..., t, v)

    Raises
    ------
    ValueError
        If a shape, dtype, kind, device or setting does not fit, or an input is not finite.
    FloatingPointError
        If the matches outgrew the dtype.

    Notes
    -----
    Sources: [Vaswani2017]_; as an associative memory, [Ramsauer2021]_.

    .. [Vaswani2017] A. Vaswani et al., Attention is all you need, NeurIPS 2017.
    .. [Ramsauer2021] H. Ramsauer et al., Hopfield networks is all you need, ICLR 2021.

    Examples
    --------
    >>> import numpy as np
    >>> bells, foods = np.eye(2), np.array([[1.0], [3.0]])
    >>> print(softmax_attention(bells, foods, np.zeros((2, 2))).ravel())  # no preference: the mean of what came so far
    [1. 2.]
    """
    xp = checks.attention(keys, values, queries, causal)
    scale = keys.shape[-1] ** -0.5 if scale is None else checks.number("scale", scale, 0, open_low=True)
    with checks.arithmetic(keys):
        scores = scale * (queries @ keys.mT)
        if causal:
            scores = xp.where(xp.tril(xp.ones_like(scores)) > 0, scores, -math.inf)
        reads = _softmax(xp, scores) @ values
    hint = "use a smaller scale or shorter keys"
    checks.finished(None, reads, hint, keys=keys, values=values, queries=queries)
    return reads


def identity(x: Array) -> Array:
    """The feature map that changes nothing: plain linear attention."""
    return x


def linear_attention(
    keys: Array,
    values: Array,
    queries: Array,
    *,
    causal: bool = True,
    feature_map: Callable[[Array], Array] = identity,
    normalize: bool = False,
):
    """Linear attention: ``(φ(Q) φ(K)ᵀ) V``, masked to the past if ``causal``.

    Parameters
    ----------
    keys : array (..., t, k)
    values : array (..., t, v)
    queries : array (..., t, k)
        If not ``causal``, any number of queries.
    causal : bool
        Whether the query at time t sees only the pairs up to time t.
    feature_map : callable
        φ, applied to keys and queries: (..., t, k) -> (..., t, m).
    normalize : bool
        Whether the weights of each query are divided by their sum, as softmax does.
        It needs a positive sum, so a positive feature map.

    Returns
    -------
    array (..., t, v)

    Raises
    ------
    ValueError
        If a shape, dtype, kind, device or setting does not fit, or an input is not finite.
    FloatingPointError
        If numbers outgrew the dtype, or the weights of a query add up to zero and are to be normalized.

    Notes
    -----
    Source: [Katharopoulos2020]_.

    .. [Katharopoulos2020] A. Katharopoulos et al., Transformers are RNNs, ICML 2020.

    Examples
    --------
    >>> import numpy as np
    >>> bells, foods = np.eye(2), np.array([[3.0], [4.0]])
    >>> print(linear_attention(bells, foods, np.ones((2, 2))).ravel())
    [3. 7.]
    """
    xp = checks.attention(keys, values, queries, causal)
    with checks.arithmetic(keys):
        keys_seen, queries_seen = _features(feature_map, keys, queries)
        scores = queries_seen @ keys_seen.mT
        if causal:
            scores = xp.tril(scores)
        reads = scores @ values
        if normalize:
            reads = reads / scores.sum(-1)[..., None]
    hint = "the matches are too large, or the weights of a query add up to zero"
    checks.finished(None, reads, hint, keys=keys, values=values, queries=queries)
    return reads


def elu_plus_one(x: Array) -> Array:
    """The positive feature map ``x + 1`` for x > 0, ``exp(x)`` otherwise; (..., k) -> (..., k).

    Notes
    -----
    Source: [Katharopoulos2020]_.

    .. [Katharopoulos2020] A. Katharopoulos et al., Transformers are RNNs, ICML 2020.

    Examples
    --------
    >>> import numpy as np
    >>> print(elu_plus_one(np.array([-np.inf, 0.0, 2.0])))
    [0. 1. 3.]
    """
    xp = checks.namespace(x=x)
    # the exponential is taken of min(x, 0) only: both sides of where are evaluated, and exp of a large x overflows
    return xp.where(x > 0, x + 1, xp.exp(xp.clip(x, None, 0)))


@dataclass(frozen=True, eq=False)
class RandomFeatures:
    """Positive random features; make them with :func:`random_features`.

    directions (m, k) are the random directions in which a stimulus is measured.
    """

    directions: np.ndarray
    scale: float

    def __call__(self, x: Array) -> Array:
        """``φ(x) = exp(√scale·W x − scale·‖x‖²/2) / √m``; (..., k) -> (..., m)."""
        xp = checks.namespace(x=x)
        m, k = self.directions.shape
        if x.shape[-1] != k:
            raise ValueError(f"x must have shape (..., k) with k = {k}; got {tuple(x.shape)}")
        directions = xp.asarray(self.directions, dtype=x.dtype, device=x.device)
        exponent = math.sqrt(self.scale) * (x @ directions.mT) - self.scale / 2 * (x * x).sum(-1)[..., None]
        return xp.exp(exponent) / math.sqrt(m)


def random_features(key_dim: int, features: int, rng: np.random.Generator, *, scale: float | None = None):
    """Random features whose matches are, on average, those of softmax: ``E[φ(q)·φ(k)] = exp(scale · q·k)``.

    Parameters
    ----------
    key_dim, features : int
        Size k of a stimulus, and number m of features; the error falls as 1/√m.
    rng : numpy.random.Generator
        Where the random directions come from.
    scale : float, optional
        As in :func:`softmax_attention`; 1/√k if not given.

    Returns
    -------
    RandomFeatures
        A feature map for :func:`linear_attention`, (..., k) -> (..., m).

    Raises
    ------
    ValueError
        If a size or the scale is not positive, or ``rng`` is no generator.

    Notes
    -----
    Source: [Choromanski2021]_.

    .. [Choromanski2021] K. Choromanski et al., Rethinking attention with Performers, ICLR 2021.

    Examples
    --------
    >>> import numpy as np
    >>> phi = random_features(4, 50_000, np.random.default_rng(0))
    >>> bell = np.array([1.0, 0.0, 0.0, 0.0])
    >>> bool(abs(phi(bell) @ phi(bell) - np.exp(0.5)) < 0.05)
    True
    """
    key_dim, features = checks.count("key_dim", key_dim), checks.count("features", features)
    scale = key_dim**-0.5 if scale is None else checks.number("scale", scale, 0, open_low=True)
    if not isinstance(rng, np.random.Generator):
        raise ValueError(f"rng must be a numpy.random.Generator; got {type(rng).__name__}")
    return RandomFeatures(rng.standard_normal((features, key_dim)), scale)


def _softmax(xp, scores: Array) -> Array:
    if xp is not np:
        return xp.softmax(scores, -1)
    weights = np.exp(scores - scores.max(-1, keepdims=True))  # the largest weight is exp(0): nothing overflows
    return weights / weights.sum(-1, keepdims=True)


def _features(feature_map, keys: Array, queries: Array) -> tuple[Array, Array]:
    """Both sets of features, (..., t, k) -> (..., t, m), after a check that the map kept all axes but the last."""
    if not callable(feature_map):
        raise ValueError(f"feature_map must be callable; got {type(feature_map).__name__}")
    seen = feature_map(keys), feature_map(queries)
    checks.namespace(keys=keys, **{"feature_map(keys)": seen[0], "feature_map(queries)": seen[1]})
    for name, x, got in (("keys", keys, seen[0]), ("queries", queries, seen[1])):
        checks.shape(f"feature_map({name})", got, (*x.shape[:-1], seen[0].shape[-1]), "(..., t, m)")
    return seen
