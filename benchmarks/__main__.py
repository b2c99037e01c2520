"""The command line: time the circuits against their peers, print tables, keep the results."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from . import measures, report

RESULTS = Path(__file__).parent / "results"


def shape(text: str) -> tuple[int, int, int, int]:
    """``"1,4,4096,64"`` as (batch, heads, time, size)."""
    try:
        sizes = tuple(int(part) for part in text.split(","))
    except ValueError:
        sizes = ()
    if len(sizes) != 4 or min(sizes) < 1:
        raise argparse.ArgumentTypeError(f"expected batch,heads,time,size as four numbers from 1; got {text!r}")
    return sizes


def arguments(words: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short sequences and few rounds, in under a minute")
    parser.add_argument(
        "--shape", type=shape, action="append", metavar="B,H,T,D",
        help="batch, heads, time and size; may be repeated (default: 1,4,4096,64 and 8,8,1024,64)",
    )  # fmt: skip
    parser.add_argument("--rounds", type=int, default=None, help="rounds each contestant takes part in (default: 9)")
    parser.add_argument("--out", type=Path, default=None, help="where results are kept (default: benchmarks/results)")
    options = parser.parse_args(words)
    if options.rounds is not None and options.rounds < 3:
        parser.error(f"--rounds must be at least 3; got {options.rounds}")
    return options


def main(words: list[str] | None = None) -> int:
    """Run, print, save."""
    options = arguments(words)
    if options.quick:
        shapes, lengths, rounds, budget, longest_loop = [(1, 2, 256, 64)], (64, 128, 256, 512), 3, 0.5, 128
    else:
        shapes, lengths, rounds, budget, longest_loop = [report.REFERENCE, (8, 8, 1024, 64)], LENGTHS, 9, 40.0, 4096
    shapes, rounds = options.shape or shapes, options.rounds or rounds
    out = options.out or (None if options.quick else RESULTS)
    if out is None:
        print("A quick run keeps no results; give --out to keep them.")

    about = report.machine()
    with tqdm(desc="timing", unit=" turns", disable=None) as bar:

        def tick(name: str) -> None:
            bar.set_postfix_str(name, refresh=False)
            bar.update()

        # the first shape is the one to compare by; the others get less time for their slow loops
        budgets = [budget] + [budget / 4] * len(shapes)
        tables = [
            measures.side_by_side(s, rounds=rounds, budget=allowed, tick=tick)
            for s, allowed in zip(shapes, budgets, strict=False)
        ]
        growth = measures.against_length(
            lengths, rounds=rounds, budget=budget / 4, longest_loop=longest_loop, tick=tick
        )
    table = pd.concat(tables, ignore_index=True)
    results = {
        "table.csv": table,
        "growth.csv": growth,
        "slopes.csv": measures.slopes(growth).rename("slope").reset_index(),
        "memory.csv": measures.memory(shapes[0]),
        "monte_carlo.csv": measures.monte_carlo(trials=4 if options.quick else 200, rounds=1 if options.quick else 5),
        "decoding.csv": measures.decoding(steps=1000 if options.quick else 10_000),
    }
    if report.REFERENCE in shapes:
        results["aims.csv"] = report.aims(tables[shapes.index(report.REFERENCE)])
    show(about, results)
    if out is not None:
        for name, content in {**results, "machine.json": about, "growth.png": report.draw(growth)}.items():
            report.save(out, name, content)
        print(f"\nResults are in {out}")
    return 0


LENGTHS = (1024, 2048, 4096, 8192, 16384)
TITLES = {
    "table.csv": "Medians, and how many times as long as this library's chunks ('both' is forward and backward)",
    "growth.csv": "Cost against length, four heads of size 64",
    "slopes.csv": "Power of the length with which forward and backward grow",
    "memory.csv": "Most memory alive in forward and backward, in units of one input",
    "monte_carlo.csv": "Capacity curves, random numbers included: how many times as long as this library takes",
    "decoding.csv": "One write and one read, microseconds: early in a life and late",
    "aims.csv": "What the chunks were built to reach: how many times as long the contestant takes",
}


def show(about: dict, results: dict[str, pd.DataFrame]) -> None:
    """Print every table."""
    print("; ".join(f"{key} {value}" for key, value in about.items()))
    for name, table in results.items():
        print(f"\n{TITLES[name]}\n{table.to_string(index=False, float_format='{:.3g}'.format, na_rep='–')}")


if __name__ == "__main__":
    sys.exit(main())
