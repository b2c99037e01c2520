"""Refuse bad input before any work starts.

Every public function of the library calls these checks first, so that a wrong shape, rate, dtype or device
is answered by a ``ValueError`` that says what was expected and what came, never by a silent broadcast.

The same functions find out whether the caller works in NumPy or in torch.
torch is never imported here: an array can only be a tensor if the caller has imported torch already.
"""

from __future__ import annotations

import contextlib
import math
import numbers
import sys
from typing import Any

import numpy as np

Array = Any  # a numpy.ndarray or a torch.Tensor; the library returns the kind it was given

FLOATS = ("float32", "float64")
_SPELLED = {"f": "float32", "d": "float64"}


def is_tensor(x: object) -> bool:
    """True if ``x`` is a torch tensor; never imports torch."""
    if isinstance(x, np.ndarray):
        return False
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def dtype_name(x: Array) -> str:
    """``"float32"`` for both ``numpy.float32`` and ``torch.float32``."""
    if isinstance(x, np.ndarray):  # NumPy takes microseconds to spell a dtype, as long as a small matrix product
        return _SPELLED.get(x.dtype.char) or str(x.dtype)
    return str(x.dtype).removeprefix("torch.")


def values_are_readable(x: Array) -> bool:
    """Whether looking at the numbers in ``x`` is free: not on ``meta``, not on a GPU, not while compiling.

    Shapes, dtypes and devices are checked everywhere.
    Values are checked only here, since reading a number from a GPU would make it wait for the host.
    """
    if not is_tensor(x):
        return True
    torch = sys.modules["torch"]
    return x.device.type == "cpu" and not torch.compiler.is_compiling()


def namespace(**arrays: Array):
    """The module (``numpy`` or ``torch``) that all the named arrays belong to.

    Raises
    ------
    ValueError
        If an argument is no array, is not float32 or float64, or if the arrays mix NumPy with torch,
        two dtypes or two devices.
    """
    first_name, first = next(iter(arrays.items()))
    for name, x in arrays.items():
        if not (isinstance(x, np.ndarray) or is_tensor(x)):
            raise ValueError(f"{name} must be a NumPy array or a torch tensor; got {type(x).__name__}")
        if dtype_name(x) not in FLOATS:
            raise ValueError(f"{name} must be float32 or float64; got {dtype_name(x)}")
        if is_tensor(x) != is_tensor(first):
            raise ValueError(
                f"{first_name} and {name} must both be NumPy arrays or both be torch tensors; "
                f"got {type(first).__name__} and {type(x).__name__}"
            )
        if dtype_name(x) != dtype_name(first):
            raise ValueError(f"{name} must have the dtype of {first_name}, {dtype_name(first)}; got {dtype_name(x)}")
        if is_tensor(x) and x.device != first.device:
            raise ValueError(f"{name} must be on the device of {first_name}, {first.device}; got {x.device}")
    return sys.modules["torch"] if is_tensor(first) else np


def shape(name: str, x: Array, expected: tuple[int, ...], spelled: str) -> None:
    """Raise unless ``x`` has exactly the shape ``expected``, written ``spelled`` in the message."""
    if tuple(x.shape) != tuple(expected):
        raise ValueError(f"{name} must have shape {spelled} = {tuple(expected)}; got {tuple(x.shape)}")


def not_empty(name: str, x: Array) -> None:
    """Raise if ``x`` holds no number at all."""
    if 0 in tuple(x.shape):
        raise ValueError(f"{name} must hold at least one number; got shape {tuple(x.shape)}")


def all_finite(name: str, x: Array) -> None:
    """Raise if ``x`` holds a NaN or an infinity, where its values can be read for free."""
    if values_are_readable(x) and not math.isfinite(float(abs(_detached(x)).max())):
        raise ValueError(f"{name} must be finite; got NaN or infinity")


def pair(state: Array, key: Array, value: Array):
    """Check one CS-US pair against a state; return the array module.

    state ``(..., v, k)``, key ``(..., k)``, value ``(..., v)``.
    """
    xp = namespace(state=state, key=key, value=value)
    at_least("state", state, 2, "(..., v, k)")
    not_empty("state", state)
    lead, v, k = tuple(state.shape[:-2]), state.shape[-2], state.shape[-1]
    shape("key", key, (*lead, k), "(..., k)")
    shape("value", value, (*lead, v), "(..., v)")
    return xp


def sequence(keys: Array, values: Array, queries: Array | None, state: Array | None):
    """Check a sequence of CS-US pairs with its test stimuli; return ``(array module, state)``.

    keys ``(..., t, k)``, values ``(..., t, v)``, queries ``(..., t, k)`` or None (no test), state ``(..., v, k)`` or
    None (empty).
    """
    arrays = {"keys": keys, "values": values, "queries": queries, "state": state}
    xp = namespace(**{name: x for name, x in arrays.items() if x is not None})
    for name, spelled in (("keys", "(..., t, k)"), ("values", "(..., t, v)")):
        at_least(name, arrays[name], 2, spelled)
        not_empty(name, arrays[name])
    *lead, t, k = keys.shape
    v = values.shape[-1]
    shape("values", values, (*lead, t, v), "(..., t, v)")
    if queries is not None:
        shape("queries", queries, (*lead, t, k), "(..., t, k)")
    if state is None:
        state = xp.zeros((*lead, v, k), dtype=keys.dtype, device=keys.device)
    shape("state", state, (*lead, v, k), "(..., v, k)")
    return xp, state


def attention(keys: Array, values: Array, queries: Array, causal: bool):
    """Check what attention gets; return the array module.

    keys ``(..., t, k)``, values ``(..., t, v)``, queries ``(..., t, k)``; if not ``causal``, any number of queries.
    """
    xp = namespace(keys=keys, values=values, queries=queries)
    for name, x in (("keys", keys), ("values", values), ("queries", queries)):
        at_least(name, x, 2, "(..., t, v)" if name == "values" else "(..., t, k)")
        not_empty(name, x)
    *lead, t, k = keys.shape
    shape("values", values, (*lead, t, values.shape[-1]), "(..., t, v)")
    shape("queries", queries, (*lead, t if causal else queries.shape[-2], k), "(..., t, k)")
    return xp


def at_least(name: str, x: Array, axes: int, spelled: str) -> None:
    """Raise unless ``x`` has at least ``axes`` axes, written ``spelled`` in the message."""
    if x.ndim < axes:
        raise ValueError(f"{name} must have shape {spelled}; got shape {tuple(x.shape)}")


def setting(name: str, x, like: Array, axes: tuple[int, ...], spelled: str, *, decay: bool = False):
    """Check a learning rate or a decay: a number, or an array of the shape ``axes``.

    An axis of an array may have length 1 where one setting serves the whole axis (one decay per head, say).
    Returns a plain ``float`` or the array, so that arithmetic with ``like`` keeps its dtype.
    A rate is finite and not negative; a decay lies in (0, 1].
    """
    allowed = "in (0, 1]" if decay else "finite and not negative"
    if isinstance(x, numbers.Real) and not isinstance(x, (bool, np.bool_)):
        x = float(x)
        if not math.isfinite(x) or x < 0 or (decay and not 0 < x <= 1):
            raise ValueError(f"{name} must be {allowed}; got {x}")
        return x
    if not (isinstance(x, np.ndarray) or is_tensor(x)):
        raise ValueError(f"{name} must be a number or an array of shape {spelled}; got {type(x).__name__}")
    namespace(**{"keys": like, name: x})
    if x.ndim != len(axes) or any(got not in (1, want) for got, want in zip(x.shape, axes, strict=True)):
        raise ValueError(f"{name} must be a number or have shape {spelled} = {tuple(axes)}; got {tuple(x.shape)}")
    if values_are_readable(x):
        low, high = float(_detached(x).min()), float(_detached(x).max())
        fits = (low > 0 and high <= 1) if decay else (low >= 0 and math.isfinite(high))
        if not fits:  # also when a NaN made every comparison false
            raise ValueError(f"{name} must be {allowed}; got values from {low} to {high}")
    return x


def arithmetic(like: Array):
    """The block in which a rule or attention computes: without NumPy's warnings, and without torch's autocast.

    NumPy need not warn, since :func:`finished` looks at the result.
    Autocast is off because sums over a whole sequence are made here, which half precision cannot hold.
    A backward pass belongs outside autocast, as torch advises.
    """
    if not is_tensor(like):
        return np.errstate(over="ignore", invalid="ignore", divide="ignore")
    torch, kind = sys.modules["torch"], like.device.type
    if torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind):
        return torch.autocast(kind, enabled=False)
    return contextlib.nullcontext()


def finished(reads: Array | None, state: Array, hint: str, /, **inputs) -> None:
    """Refuse to hand back NaN or infinity: say whether the input held it or the rule made it.

    Nothing is refused where looking at the numbers would cost: on a GPU, on ``meta``, while compiling.

    Raises
    ------
    ValueError
        If one of ``inputs`` is not finite.
    FloatingPointError
        If the inputs were finite and the numbers outgrew the dtype; ``hint`` names the stability limit.
    """
    if not values_are_readable(state):
        return
    results = [x for x in (reads, state) if x is not None]
    with arithmetic(state):
        # one sum sees every NaN and infinity, and costs a single pass
        if all(math.isfinite(float(_detached(x).sum())) for x in results):
            return
    for name, x in inputs.items():
        if x is not None and not isinstance(x, float):  # a number was checked already
            all_finite(name, x)
    for x in results:  # the sum itself may overflow where every entry is still finite
        if not math.isfinite(float(abs(_detached(x)).max())):
            raise FloatingPointError(f"the numbers outgrew {dtype_name(x)}: {hint}")


def count(name: str, value, minimum: int = 1) -> int:
    """A whole number of at least ``minimum``, or ``ValueError``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral) or value < minimum:
        raise ValueError(f"{name} must be a whole number of at least {minimum}; got {value!r}")
    return int(value)


def counts(name: str, values, minimum: int = 1) -> tuple[int, ...]:
    """A non-empty list of whole numbers, or ``ValueError``."""
    return tuple(count(f"each of {name}", v, minimum) for v in _listed(name, values))


def number(name: str, value, low: float = -math.inf, high: float = math.inf, *, open_low: bool = False) -> float:
    """A finite number in ``[low, high]`` (``(low, high]`` if ``open_low``), or ``ValueError``."""
    real = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    if not real or not math.isfinite(value) or not low <= value <= high or (open_low and value == low):
        bracket = "(" if open_low else "["
        raise ValueError(f"{name} must be a number in {bracket}{low}, {high}]; got {value!r}")
    return float(value)


def positive_numbers(name: str, values) -> tuple[float, ...]:
    """A non-empty list of finite numbers above zero, or ``ValueError``."""
    return tuple(number(f"each of {name}", v, 0, open_low=True) for v in _listed(name, values))


def one_of(name: str, value, allowed) -> Any:
    """One of the ``allowed`` names, or ``ValueError`` listing them."""
    if value not in tuple(allowed):
        raise ValueError(f"{name} must be one of {', '.join(map(str, allowed))}; got {value!r}")
    return value


def some_of(name: str, values, allowed) -> tuple:
    """A non-empty list of ``allowed`` names, or ``ValueError`` listing them."""
    return tuple(one_of(f"each of {name}", v, allowed) for v in _listed(name, values))


def seed(value) -> int:
    """A whole number that seeds a random generator, or ``ValueError``."""
    return count("seed", value, minimum=0)


def _listed(name: str, values) -> tuple:
    try:
        listed = () if isinstance(values, (str, bytes)) else tuple(values)
    except TypeError:
        listed = ()
    if not listed:
        raise ValueError(f"{name} must be a non-empty list; got {values!r}")
    return listed


def _detached(x: Array) -> Array:
    return x.detach() if is_tensor(x) else x
