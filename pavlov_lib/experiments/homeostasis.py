"""Homeostasis: what Oja's rule keeps in bounds, what that buys, and the components it finds when its output is free."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from .. import checks, stimuli
from ..rules import RULES
from .common import cosine, mean_and_se

WORLDS = ("one pair", "new pairs")
STREAMED = ("hebbian", "oja")
# how outcomes are coded, each of length one: (draw them, E v_i⁴ of one entry)
_CODES = {
    "unit": (lambda rng, n, d: stimuli.unit_vectors(rng, n, d), lambda d: 3 / (d * (d + 2))),
    "signs": (lambda rng, n, d: rng.choice([-1.0, 1.0], size=(n, d)) / math.sqrt(d), lambda d: 1 / d**2),
    "one-hot": (lambda rng, n, d: np.eye(d)[rng.integers(d, size=n)], lambda d: 1 / d),
}
CODES = tuple(_CODES)
FREE_FORMS = ("neuron by neuron", "subspace")


def run_homeostasis(
    rules=STREAMED,
    worlds=WORLDS,
    steps=(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048),
    key_dim: int = 32,
    trials: int = 40,
    seed: int = 0,
    *,
    code: str = "unit",
    rate: float = 1.0,
    ceiling: float = 0.5,
) -> pd.DataFrame:
    """Write unit pairs on and on, and watch the size of the memory, its synapses, and the recall of the newest pair.

    Oja's rule is the form with the output clamped to the US.

    Parameters
    ----------
    rules : sequence of {"hebbian", "oja"}
    worlds : sequence of {"one pair", "new pairs"}
        The same pair every time, or a fresh random pair each time.
    steps : sequence of int
        Numbers of writes after which to measure.
    key_dim : int
        Key and value dimension d.
    trials : int
    seed : int
    code : {"unit", "signs", "one-hot"}
        Outcomes in random directions, with entries ±1/√d, or with a single entry 1.
    rate : float
        Learning rate, above zero.
    ceiling : float
        A synapse counts as saturated when it is stronger than this, above zero.

    Returns
    -------
    pandas.DataFrame
        One row per (rule, world, n): ``rule``, ``world``, ``n``, ``norm`` (root of the mean squared norm over trials),
        ``norm_se``, ``predicted_norm``, ``saturated`` (share of synapses), ``saturated_se``, ``predicted_saturated``,
        ``newest`` (cosine of recall and value of the pair written last), ``newest_se``, ``predicted_newest``.

    Raises
    ------
    ValueError
        If an argument is out of range or unknown; before any work starts.
    FloatingPointError
        If the rate is so large that a memory outgrew its numbers.

    Notes
    -----
    With one pair the predictions are closed forms of the pair that was drawn: row i is ``n η v_i k`` by Hebb's rule and
    ``(1 − (1 − η v_i²)ⁿ) k / v_i`` by Oja's. With new pairs the mean squared norm is ``η² n`` and
    ``η² (1 − cⁿ)/(1 − c)`` with ``c = 1 − 2η/d + η² E v_i⁴``, exactly; the share of saturated synapses takes a synapse
    as normally distributed, and the cosine is a quotient of means: both are approximations.

    Examples
    --------
    >>> table = run_homeostasis(worlds=["new pairs"], steps=[400], trials=20).set_index("rule")
    >>> bool(table.norm["hebbian"] > 19 and table.norm["oja"] < 5)
    True
    """
    rules, worlds = checks.some_of("rules", rules, STREAMED), checks.some_of("worlds", worlds, WORLDS)
    steps = tuple(sorted(set(checks.counts("steps", steps))))
    d, trials = checks.count("key_dim", key_dim), checks.count("trials", trials)
    draw, fourth_moment = _CODES[checks.one_of("code", code, CODES)]
    rate = checks.number("rate", rate, 0, open_low=True)
    ceiling = checks.number("ceiling", ceiling, 0, open_low=True)
    rows = []
    for world, rng in zip(WORLDS, stimuli.generators(seed, len(WORLDS)), strict=True):
        if world not in worlds:
            continue
        states = {name: np.zeros((trials, d, d)) for name in rules}
        for n in range(1, steps[-1] + 1):
            if n == 1 or world == "new pairs":
                key, value = stimuli.unit_vectors(rng, trials, d), draw(rng, trials, d)
            for name in rules:
                states[name] = RULES[name].write(states[name], key, value, rate=rate)
                if n in steps:
                    if world == "one pair":
                        predicted = _summary(_one_pair(name, n, key, value, rate), key, value, ceiling)[::2]
                    else:
                        predicted = _new_pairs(name, n, d, rate, fourth_moment(d), ceiling)
                    measured = _summary(states[name], key, value, ceiling)
                    rows.append((name, world, n, *_beside(measured, predicted)))
    columns = ["rule", "world", "n"]
    columns += [c for x in ("norm", "saturated", "newest") for c in (x, f"{x}_se", f"predicted_{x}")]
    order = {name: i for i, name in enumerate((*WORLDS, *STREAMED))}
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values(
        ["world", "rule", "n"], ignore_index=True, key=lambda c: c.map(order) if c.name != "n" else c
    )


def _summary(states, key, value, ceiling):
    """Norm, saturated share and newest cosine, each followed by its standard error."""
    square, square_se = mean_and_se((states**2).sum((-2, -1)))
    norm = square**0.5
    saturated = mean_and_se((np.abs(states) > ceiling).mean((-2, -1)))
    newest = mean_and_se(cosine((states @ key[..., None])[..., 0], value))
    return norm, square_se / (2 * norm), *saturated, *newest


def _beside(measured, predicted):
    for i, number in enumerate(predicted):
        yield from (measured[2 * i], measured[2 * i + 1], number)


def _one_pair(rule: str, n: int, key, value, rate):
    """The memory after n writes of one pair, in closed form: key (trials, d), value (trials, d) -> (trials, d, d)."""
    if rule == "hebbian":
        strength = n * rate * value
    else:
        gone = 1 - (1 - rate * value**2) ** n
        strength = np.divide(gone, value, out=np.zeros_like(value), where=value != 0)
    return strength[..., None] * key[..., None, :]


def _new_pairs(rule: str, n: int, d: int, rate: float, fourth: float, ceiling: float):
    kept = 1.0 if rule == "hebbian" else 1 - 2 * rate / d + rate**2 * fourth
    square = rate**2 * (n if kept == 1 else (1 - kept**n) / (1 - kept))
    saturated = math.erfc(ceiling / math.sqrt(2 * square / d**2))
    return square**0.5, saturated, rate / math.sqrt(rate**2 + (square - rate**2) / d)


def run_components(
    forms=FREE_FORMS,
    neurons: int = 3,
    inputs: int = 16,
    steps=(1, 30, 100, 300, 1000, 3000, 10000),
    trials: int = 20,
    seed: int = 0,
    *,
    rate: float = 0.01,
) -> pd.DataFrame:
    """Leave the output of Oja's rule free, ``y = S x``, and compare what it finds with a singular value decomposition.

    The inputs are normal with variances 1, 0.6, 0.36, ... along random axes.

    Parameters
    ----------
    forms : sequence of {"neuron by neuron", "subspace"}
        ``S_i + η y_i (x − y_i S_i)``, in which each neuron minds itself alone, or ``S + η y (x − Sᵀ y)ᵀ``, in which all
        share one error.
    neurons, inputs : int
        Fewer neurons than inputs.
    steps : sequence of int
        Numbers of inputs after which to measure.
    trials : int
    seed : int
    rate : float
        Above zero. Small, or the weights keep wandering about what they have found.

    Returns
    -------
    pandas.DataFrame
        One row per (form, n): ``form``, ``n``, ``first`` (squared cosine of a neuron's weights with the first principal
        component, averaged over neurons), ``principal`` (share of the squared weights that lies in the span of the
        first ``neurons`` components), ``components`` (effective number of different directions among the neurons),
        each with its standard error. The components are those of all inputs that were shown, by singular value
        decomposition.

    Raises
    ------
    ValueError
        If an argument is out of range or unknown; before any work starts.
    FloatingPointError
        If the rate is so large that the weights outgrew their numbers.

    Notes
    -----
    The effective number of directions is ``(Σ σ²)² / Σ σ⁴`` over the singular values of S: 1 if all neurons have the
    same weights up to sign and length, ``neurons`` if theirs are orthogonal and equally long.

    Examples
    --------
    >>> table = run_components(steps=[3000], trials=3).set_index("form")
    >>> print(table.components.round(1).to_dict())
    {'neuron by neuron': 1.0, 'subspace': 3.0}
    """
    forms = checks.some_of("forms", forms, FREE_FORMS)
    neurons, inputs, trials = (
        checks.count(name, x) for name, x in (("neurons", neurons), ("inputs", inputs), ("trials", trials))
    )
    if neurons >= inputs:
        raise ValueError(f"neurons must be fewer than inputs={inputs}; got {neurons}")
    steps = tuple(sorted(set(checks.counts("steps", steps))))
    rate = checks.number("rate", rate, 0, open_low=True)
    (rng,) = stimuli.generators(seed, 1)
    axes = np.linalg.qr(rng.standard_normal((trials, inputs, inputs)))[0]
    shown = rng.standard_normal((trials, max(steps[-1], inputs), inputs)) * 0.6 ** (np.arange(inputs) / 2) @ axes.mT
    components = np.linalg.svd(shown, full_matrices=False)[2]  # rows, the strongest first
    start = 0.1 * stimuli.unit_vectors(rng, trials, neurons, inputs)
    rows = []
    for form in forms:
        state = start
        for n in range(1, steps[-1] + 1):
            x = shown[:, n - 1]
            y = (state @ x[..., None])[..., 0]
            if form == "subspace":  # the delta rule of the transposed memory: y is the key, x the value
                state = RULES["delta"].write(state.mT, y, x, rate=rate).mT
            else:  # the clamped rule, fed its own response
                state = RULES["oja"].write(state, x, y, rate=rate)
            if n in steps:
                rows.append((form, n, *_found(state, components, neurons)))
    columns = ["form", "n", *(c for x in ("first", "principal", "components") for c in (x, f"{x}_se"))]
    return pd.DataFrame(rows, columns=columns)


def _found(state, components, neurons: int):
    along = state @ components.mT  # (trials, neurons, inputs): weights in the axes of the components
    length = (state**2).sum(-1)
    first = (along[..., 0] ** 2 / length).mean(-1)
    principal = (along[..., :neurons] ** 2).sum((-2, -1)) / length.sum(-1)
    squares = np.linalg.svd(state, compute_uv=False) ** 2
    different = squares.sum(-1) ** 2 / (squares**2).sum(-1)
    return tuple(x for m in (first, principal, different) for x in mean_and_se(m))
