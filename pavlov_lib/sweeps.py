"""What each sweep of the command line does: its cells, how one is run, how the table of all is joined and drawn.

A cell is named by its settings and draws its seed from them.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from . import __version__, checks
from .experiments import run_capacity, run_depth, run_drift

NOT_IN_THE_SEED = ("rule", "rules", "device", "dtype", "generator")


@dataclasses.dataclass(frozen=True)
class Sweep:
    """What a command does: its cells, the function that runs one, and how the table of all of them is drawn."""

    cells: Callable[[argparse.Namespace], list[dict]]
    run: Callable[[dict, Path], pd.DataFrame]
    join: Callable[[pd.DataFrame], pd.DataFrame]
    draw: Callable[[pd.DataFrame], object]


def name_of(cell: dict) -> str:
    """A name that stands for all settings of a cell and the version of the library, and for nothing else."""
    return f"{cell['command']}-{_digest({**cell, 'version': __version__})[:20]}"


def seed_of(cell: dict) -> int:
    """A seed of the cell's own, from the seed of the command and what the cell is about.

    Rule, device, dtype and generator are no part of it: rules are compared on the same stimuli, and so are devices
    where NumPy draws.
    """
    return int(_digest({name: value for name, value in cell.items() if name not in NOT_IN_THE_SEED})[-8:], 16)


def _settings(cell: dict) -> dict:
    return {name: value for name, value in cell.items() if name != "command"}


def _digest(cell: dict) -> str:
    return hashlib.sha256(json.dumps(cell, sort_keys=True).encode()).hexdigest()


def _cells(args, run: Callable, shared: dict, small: dict) -> list[dict]:
    """One cell per (rule, d_k, load), once the smallest cell has refused, in a moment, what no cell could run."""
    checks.counts("dims", args.dims)
    checks.positive_numbers("loads", args.loads)
    for rule in args.rules:
        run(rule=rule, dims=[min(args.dims)], **(shared | small | {"trials": 1}))
    return [
        {"command": args.command, "rule": rule, "dims": [d_k], "loads": [load], **shared}
        for rule in args.rules
        for d_k in args.dims
        for load in args.loads
    ]


def _rows(run: Callable, cell: dict, **first) -> pd.DataFrame:
    """Rows of an experiment, with what tells cells apart in front."""
    table = run(**(_settings(cell) | {"seed": seed_of(cell)}))
    for place, (name, value) in enumerate(first.items()):
        table.insert(place, name, value)
    return table


def capacity_cells(args) -> list[dict]:
    """One cell per (rule, d_k, load)."""
    shared = {
        "trials": args.trials, "seed": args.seed, "value_dim": args.value_dim, "rate": args.rate,
        "overlap": args.overlap, "device": args.device, "dtype": args.dtype, "generator": args.generator,
    }  # fmt: skip
    return _cells(args, run_capacity, shared, {"loads": [1 / min(args.dims)]})


def capacity_cell(cell: dict, out: Path) -> pd.DataFrame:
    """Rows of :func:`run_capacity`."""
    return _rows(run_capacity, cell, rule=cell["rule"])


def depth_cells(args) -> list[dict]:
    """One cell per (rule, d_k, load): stacks of all layers and heads share its memories."""
    towers = {name: sorted(checks.counts(name, getattr(args, name))) for name in ("layers", "heads")}
    shared = {
        "trials": args.trials, "seed": args.seed, "readouts": args.readouts, "value_dim": args.value_dim,
        "rate": args.rate, "device": args.device, "dtype": args.dtype, **towers,
    }  # fmt: skip
    return _cells(args, run_depth, shared, {"loads": [2 / min(args.dims)], "layers": [1], "heads": [1]})


def depth_cell(cell: dict, out: Path) -> pd.DataFrame:
    """Rows of :func:`run_depth`."""
    return _rows(run_depth, cell, rule=cell["rule"])


def drift_cells(args) -> list[dict]:
    """One cell per (rule, d_k, angle)."""
    shared = {
        "steps": args.steps, "cues": args.cues, "reversal": args.reversal, "trials": args.trials, "seed": args.seed,
        "rate": args.rate, "decay": args.decay, "value_dim": args.value_dim, "device": args.device, "dtype": args.dtype,
    }  # fmt: skip
    checks.counts("dims", args.dims, 2)
    if args.reversal is not None and checks.count("reversal", args.reversal, 2) > args.steps:
        raise ValueError(f"reversal must be a step from 2 to {args.steps}; got {args.reversal}")
    small = {"steps": 1, "cues": 1, "trials": 1, "reversal": None}
    for angle in args.angles:
        run_drift(args.rules, key_dim=min(args.dims), angle=angle, **(shared | small))
    return [
        {"command": "drift", "rules": [rule], "key_dim": d_k, "angle": angle, **shared}
        for d_k in args.dims
        for angle in args.angles
        for rule in args.rules
    ]


def drift_cell(cell: dict, out: Path) -> pd.DataFrame:
    """Rows of :func:`run_drift`."""
    return _rows(run_drift, cell, d_k=cell["key_dim"], angle=cell["angle"])


def train_cells(args) -> list[dict]:
    """One cell per (rule, layers, trial), deepest first: the longest must not be the last to start."""
    from .models import STACK_RULES
    from .training import MultiHop, Recall, TrainConfig, shape_at_budget, trial_seeds

    checks.some_of("rules", args.rules, STACK_RULES)
    checks.count("sequences", args.sequences, 2)
    if args.task == "recall":
        task = Recall(args.pairs, 4 * args.pairs if args.symbols is None else args.symbols, args.queries, args.stale)
    else:
        symbols = args.chains * (args.hops + 2) if args.symbols is None else args.symbols
        task = MultiHop(args.chains, args.hops, symbols, args.queries, args.stale)
    how = TrainConfig(
        steps=args.steps, batch=args.batch, learning_rate=args.learning_rate, target=args.target,
        patience=args.patience, precision=args.precision,
    )  # fmt: skip
    shapes = {
        (rule, depth): shape_at_budget(depth, args.budget, vocab=task.vocab, key_dim=args.key_dim, rule=rule)
        for rule in args.rules
        for depth in checks.counts("layers", args.layers)
    }
    shared = {
        "command": "train", "task": {"kind": args.task, **dataclasses.asdict(task)}, "sequences": args.sequences,
        "device": args.device or "cpu",
    }  # fmt: skip
    return [
        {**shared, "stack": dataclasses.asdict(shape), "how": dataclasses.asdict(dataclasses.replace(how, seed=seed))}
        for (_, depth), shape in sorted(shapes.items(), key=lambda item: -item[0][1])
        for seed in trial_seeds(args.seed, args.trials)
    ]


def train_cell(cell: dict, out: Path) -> pd.DataFrame:
    """Rows of one trained stack. Its weights stay in ``models``; a kill in mid-training loses a few seconds of it."""
    from .models import StackConfig
    from .training import MultiHop, Recall, TrainConfig, train_and_test

    kind = {"recall": Recall, "multihop": MultiHop}[cell["task"]["kind"]]
    task = kind(**{name: value for name, value in cell["task"].items() if name != "kind"})
    return train_and_test(
        task, StackConfig(**cell["stack"]), TrainConfig(**cell["how"]), sequences=cell["sequences"],
        device=cell["device"], checkpoint=out / "models" / f"{name_of(cell)}.pt",
    )  # fmt: skip


def draw_grid(table: pd.DataFrame, rows: list[str], columns, draw) -> object:
    """One picture per row group and column: ``draw(rows of the table, column, ax)``."""
    from .figures import new_figure

    groups = list(table.groupby(rows, sort=False))
    figure, axes = new_figure(len(groups), len(columns), width=5.8 * len(columns), squeeze=False)
    for (values, part), line in zip(groups, axes, strict=True):
        for column, ax in zip(columns, line, strict=True):
            draw(part, column, ax)
            named = [f"{name} = {value}" for name, value in zip(rows, values, strict=True)]
            ax.set_title(", ".join([*named, str(column)]), loc="left")
    return figure


def draw_capacity_sweep(table: pd.DataFrame):
    """A row per rule: fidelity and error."""
    from .figures import draw_capacity

    return draw_grid(table, ["rule"], ["fidelity", "error"], lambda part, show, ax: draw_capacity(part, ax, show=show))


def draw_depth_sweep(table: pd.DataFrame):
    """A row per (rule, d_k, n), a column per readout: failure against layers, one curve per number of heads."""
    from .figures import draw_depth

    def draw(part, readout, ax):
        draw_depth(part[part.readout == readout], ax)

    return draw_grid(table, ["rule", "d_k", "n"], table.readout.unique(), draw)


def draw_drift_sweep(table: pd.DataFrame):
    """A row per (d_k, angle): error and norm."""
    from .figures import draw_drift

    return draw_grid(table, ["d_k", "angle"], ["error", "norm"], lambda part, show, ax: draw_drift(part, ax, show=show))


def draw_train_sweep(table: pd.DataFrame):
    """Errors against layers: a row per number of hops where several rules are compared."""
    from .figures import new_figure
    from .figures.stacks import draw_stacks

    if table.rule.nunique() == 1:
        return draw_stacks(table)
    hops = sorted(table.hops.unique())
    figure, axes = new_figure(len(hops), squeeze=False)
    for n, (ax,) in zip(hops, axes, strict=True):
        draw_stacks(table, ax, hops=n)
    return figure


def join_train(table: pd.DataFrame) -> pd.DataFrame:
    """Trials become means with their standard errors."""
    from .training import summarise

    return summarise(table).sort_values(["rule", "layers", "hops"]).reset_index(drop=True)


SWEEPS = {
    "capacity": Sweep(capacity_cells, capacity_cell, lambda table: table, draw_capacity_sweep),
    "depth": Sweep(depth_cells, depth_cell, lambda table: table, draw_depth_sweep),
    "drift": Sweep(drift_cells, drift_cell, lambda table: table, draw_drift_sweep),
    "train": Sweep(train_cells, train_cell, join_train, draw_train_sweep),
}
