"""What attention costs, counted and not timed, so that every machine finds the same numbers.

The library's own functions are called with arrays that keep an account of the arithmetic done with them.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd

from .. import checks, stimuli
from ..attention import linear_attention, softmax_attention
from ..rules import RULES

CHUNK = 64

# form: (what runs it, multiply-adds to leading order, numbers kept for the next query); t steps, sizes k and v
_FORMS = {
    "softmax": (softmax_attention, lambda t, k, v: t * t * (k + v), lambda t, k, v: t * (k + v)),
    "linear, parallel": (linear_attention, lambda t, k, v: t * t * (k + v), lambda t, k, v: t * (k + v)),
    "linear, loop": (RULES["hebbian"].scan, lambda t, k, v: 3 * t * k * v, lambda t, k, v: k * v),
    "linear, chunks": (
        lambda *stimuli: RULES["hebbian"].scan_parallel(*stimuli, chunk=CHUNK),
        lambda t, k, v: t * (min(t, CHUNK) * (k + v) + 2 * k * v),
        lambda t, k, v: k * v,
    ),
}
FORMS = tuple(_FORMS)


def run_cost(
    lengths=(32, 64, 128, 256, 512, 1024, 2048), forms=FORMS, key_dim: int = 64, value_dim: int | None = None
) -> pd.DataFrame:
    """Count the arithmetic of one causal forward pass against its length.

    Parameters
    ----------
    lengths : sequence of int
        Numbers of time steps.
    forms : sequence of {"softmax", "linear, parallel", "linear, loop", "linear, chunks"}
        Softmax attention and linear attention over all pairs of steps, Hebb's rule step by step, and Hebb's rule in
        chunks of 64 steps. The last three give the same numbers.
    key_dim, value_dim : int
        ``value_dim`` is ``key_dim`` if not given.

    Returns
    -------
    pandas.DataFrame
        One row per (form, t): ``form``, ``t``, ``multiply_adds`` (multiplications and divisions, with the addition that
        may follow), ``predicted`` (the same to leading order), ``exponentials``, ``largest`` (numbers in the largest
        array made on the way), ``kept`` (numbers that must be kept to answer the next query).

    Raises
    ------
    ValueError
        If an argument is out of range or unknown; before any work starts.

    Notes
    -----
    To leading order: all pairs of steps ``t² (k + v)``, since the masked half is computed too; the loop ``3 t k v``
    (fade, write, read); chunks of c steps ``t (c (k + v) + 2 k v)``. The fading of the empty matrix at the first step
    is not counted.

    Examples
    --------
    >>> table = run_cost(lengths=[128, 256], forms=["softmax", "linear, loop"], key_dim=8)
    >>> print(table[["form", "t", "multiply_adds"]].to_string(index=False))
            form   t  multiply_adds
         softmax 128         294912
         softmax 256        1179648
    linear, loop 128          25536
    linear, loop 256          51136
    """
    lengths, forms = checks.counts("lengths", lengths), checks.some_of("forms", forms, FORMS)
    k = checks.count("key_dim", key_dim)
    v = k if value_dim is None else checks.count("value_dim", value_dim)
    (rng,) = stimuli.generators(0, 1)  # the account does not depend on the numbers, only on their shapes
    rows = []
    for form in forms:
        forward, predicted, kept = _FORMS[form]
        for t in lengths:
            keys, values, queries = (rng.standard_normal((t, size)) for size in (k, v, k))
            account = count_arithmetic(forward, keys, values, queries)
            rows.append(
                (form, t, account["multiply_adds"], predicted(t, k, v), account["exponentials"], account["largest"],
                 kept(t, k, v))
            )  # fmt: skip
    return pd.DataFrame(rows, columns=["form", "t", "multiply_adds", "predicted", "exponentials", "largest", "kept"])


def count_arithmetic(function, *arrays: np.ndarray) -> Counter:
    """Call ``function(*arrays)`` and count its multiply-adds, exponentials and the size of the largest array it made.

    Examples
    --------
    >>> account = count_arithmetic(lambda a, b: np.exp(a @ b), np.ones((2, 3)), np.ones((3, 5)))
    >>> account["multiply_adds"], account["exponentials"], account["largest"]
    (30, 10, 10)
    """
    account = Counter()
    counted = type("Counted", (_Counted,), {"account": account})
    function(*(np.asarray(x).view(counted) for x in arrays))
    return account


class _Counted(np.ndarray):
    """An array that enters into ``account`` what is done with it, and hands the duty on to every result."""

    account: Counter

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **settings):
        plain = [x.view(np.ndarray) if isinstance(x, _Counted) else x for x in inputs]
        if out is not None:
            settings["out"] = tuple(x.view(np.ndarray) if isinstance(x, _Counted) else x for x in out)
        result = getattr(ufunc, method)(*plain, **settings)
        if method == "__call__":
            size = np.size(result)
            if ufunc is np.matmul:
                self.account["multiply_adds"] += size * plain[0].shape[-1]
            elif ufunc in (np.multiply, np.divide):
                self.account["multiply_adds"] += size
            elif ufunc is np.exp:
                self.account["exponentials"] += size
        return self._counted(result)

    def __array_function__(self, function, types, inputs, settings):
        # where, tril, stack and their like would hand back plain arrays and end the account
        return self._counted(super().__array_function__(function, types, inputs, settings))

    def _counted(self, result):
        if not isinstance(result, np.ndarray):
            return result
        self.account["largest"] = max(self.account["largest"], result.size)
        return result.view(type(self))
