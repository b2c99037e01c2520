"""What one run measures: the field at one shape, cost against length, memory, and one decoding step."""

from __future__ import annotations

import contextlib
import math
import os
import statistics
import sys
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
import torch
from torch.profiler import ProfilerActivity, profile

from pavlov_lib import RULES, read
from pavlov_lib.experiments import run_capacity

from . import contestants
from .timing import Contestant, interleave, stopwatch

OURS = "this library, chunks"
FASTEST = "this library, with torch, in float32"


def side_by_side(shape, *, rounds: int, budget: float, loops: bool = True, tick=lambda name: None) -> pd.DataFrame:
    """Every contestant at one shape: medians in milliseconds, and ratios to this library's chunks for the same rule."""
    field = contestants.field(shape, loops=loops)
    field += contestants.hard_oja(shape)
    interleave(field, rounds=rounds, budget=budget, tick=tick)
    ours = {c.rule: c for c in field if c.name == OURS}
    rows = []
    for c in field:
        row = {"shape": "×".join(map(str, shape)), "rule": c.rule, "contestant": c.name}
        for which in ("forward", "both"):
            row[f"{which}_ms"] = 1e3 * c.median(which)
            row[f"{which}_ratio"] = c.median(which) / ours[c.rule].median(which) if c.rule in ours else math.nan
        rows.append({**row, "rounds": len(c.seconds["both"])})
    return pd.DataFrame(rows)


def against_length(lengths, *, rounds: int, budget: float, longest_loop: int, tick=lambda name: None) -> pd.DataFrame:
    """Chunks, loops and softmax attention for growing numbers of steps: medians of forward and backward together."""
    rows = []
    for steps in lengths:
        shape = (1, 4, steps, 64)
        field = [c for c in contestants.field(shape, loops=steps <= longest_loop) if _in_growth(c)]
        interleave(field, rounds=rounds, budget=budget, tick=tick)
        rows += [
            {"rule": c.rule, "contestant": c.name, "steps": steps, "forward_ms": 1e3 * c.median("forward"),
             "both_ms": 1e3 * c.median("both")} for c in field
        ]  # fmt: skip
    return pd.DataFrame(rows)


def _in_growth(c: Contestant) -> bool:
    return c.rule != "hebbian+decay" and (c.name.startswith("this library") or c.rule == "softmax")


def slopes(growth: pd.DataFrame) -> pd.Series:
    """The power of the length with which forward and backward together grow: the slope in a log-log plot."""
    return growth.groupby(["rule", "contestant"], sort=False).apply(
        lambda g: np.polyfit(np.log(g["steps"]), np.log(g["both_ms"]), 1)[0] if len(g) > 1 else math.nan,
        include_groups=False,
    )


def memory(shape) -> pd.DataFrame:
    """The most memory alive at once in a forward and backward pass, inputs included, in units of one input."""
    rows = []
    for rule, rate in contestants.RATES.items():
        if rule.endswith("decay"):
            continue
        for name, form in ((OURS, RULES[rule].scan_parallel), ("this library, loop", RULES[rule].scan)):
            rows.append({"rule": rule, "contestant": name, "inputs_alive": peak(partial(form, rate=rate), shape)})
    return pd.DataFrame(rows)


def peak(form, shape) -> float:
    """Peak of forward and backward of one form, in units of one input tensor."""

    def passes(keys, values, queries, grad):
        form(keys, values, queries)[0].backward(grad)

    given = contestants.stimuli(shape)
    leaves = [x.requires_grad_() for x in given[:3]]
    passes(*leaves, given[3])  # loads what is loaded once
    for leaf in leaves:
        leaf.grad = None
    with silence(), profile(activities=[ProfilerActivity.CPU], profile_memory=True) as account:
        passes(*leaves, given[3])
    moves = [e for e in account.profiler.kineto_results.events() if e.name() == "[memory]"]
    alive = np.cumsum([e.nbytes() for e in sorted(moves, key=lambda e: e.start_ns())])
    return float(alive.max() / given[0].nbytes) + 4  # keys, values, queries and the gradient were alive before


@contextlib.contextmanager
def silence():
    """Drop what goes straight to the error stream of the process, where the profiler announces its start and end."""
    sys.stderr.flush()
    kept = os.dup(2)
    with Path(os.devnull).open("w") as nothing:
        os.dup2(nothing.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def decoding(*, size: int = 64, steps: int = 10_000, turns: int = 1000) -> pd.DataFrame:
    """One write and one read at the start of a life and after many steps, in NumPy and in torch: microseconds.

    Early and late steps are timed in turn, so that the machine's moods hurt both alike.
    """
    rows = []
    for kind, make in (("NumPy", np.asarray), ("torch", torch.from_numpy)):
        rng = np.random.default_rng(0)
        keys = rng.standard_normal((steps, size)).astype("float32")
        keys = make(keys / np.linalg.norm(keys, axis=-1, keepdims=True))
        for name, rule in RULES.items():
            young = old = rule.write(make(np.zeros((size, size), "float32")), keys[0], keys[0], rate=0.1)
            for key in keys[1:]:
                old = rule.write(old, key, key, rate=0.1)
            times = [[step_seconds(rule, state, keys[t % steps]) for state in (young, old)] for t in range(turns)]
            first, last = (1e6 * statistics.median(column) for column in zip(*times, strict=True))
            rows.append({"rule": name, "kind": kind, "first_us": first, "last_us": last})
    return pd.DataFrame(rows)


def step_seconds(rule, state, key) -> float:
    """Seconds of one write and one read."""
    start = perf_counter()
    read(rule.write(state, key, key, rate=0.1), key)
    return perf_counter() - start


def monte_carlo(*, trials: int = 200, rounds: int = 5) -> pd.DataFrame:
    """The default capacity curves, random numbers included: this library, and two programs one might write."""
    cells = run_capacity(trials=1)[["d_k", "n"]].to_numpy().tolist()
    few = max(1, trials // 20)  # the slowest is timed on few trials, and its time scaled up
    fast = {"trials": trials, "device": "cpu", "dtype": "float32", "generator": "torch"}
    entrants = {
        "this library, one memory for all loads": (lambda: run_capacity(**fast, shared=True), 1),
        FASTEST: (lambda: run_capacity(**fast), 1),
        "this library, with NumPy, in float64": (lambda: run_capacity(trials=trials), 1),
        "NumPy, one memory at a time": (lambda: [_memory(*cell, trials) for cell in cells], 1),
        "NumPy, one association at a time": (lambda: [_association(*cell, few) for cell in cells], trials / few),
    }
    seconds = {name: [] for name in entrants}
    for _ in range(rounds):
        for name, (call, scale) in entrants.items():
            seconds[name].append(scale * stopwatch(call))
    ours = statistics.median(seconds[FASTEST])
    return pd.DataFrame(
        {"program": name, "seconds": statistics.median(s), "ratio": statistics.median(s) / ours}
        for name, s in seconds.items()
    )


def _pairs(rng, n: int, d: int):
    keys, values = rng.standard_normal((2, n, d))
    return keys / np.linalg.norm(keys, axis=1, keepdims=True), values / np.linalg.norm(values, axis=1, keepdims=True)


def _memory(d: int, n: int, trials: int) -> float:
    """Mean fidelity with matrix products, one memory after another."""
    rng, found = np.random.default_rng(0), []
    for _ in range(trials):
        keys, values = _pairs(rng, n, d)
        recalled = keys @ (values.T @ keys).T
        found.append(((recalled * values).sum(1) / np.linalg.norm(recalled, axis=1)).mean())
    return float(np.mean(found))


def _association(d: int, n: int, trials: int) -> float:
    """Mean fidelity with one outer product a pair and one read a bell."""
    rng, found = np.random.default_rng(0), []
    for _ in range(trials):
        keys, values = _pairs(rng, n, d)
        state = np.zeros((d, d))
        for key, value in zip(keys, values, strict=True):
            state += np.outer(value, key)
        for key, value in zip(keys, values, strict=True):
            recalled = state @ key
            found.append(recalled @ value / np.linalg.norm(recalled))
    return float(np.mean(found))
