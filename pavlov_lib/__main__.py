"""Sweeps larger than a notebook: ``python -m pavlov_lib capacity|depth|drift|train --out FOLDER``.

A sweep is a list of cells, one experiment each.
A cell is named by its settings and draws its seed from them, so its numbers do not depend on what else is computed,
where, or in which order.
Each result is written whole, as soon as it is there; the same command, given again, goes on with what is missing,
and a wider sweep into the same folder keeps what it can use.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
from pathlib import Path

import joblib
import pandas as pd
from tqdm.auto import tqdm

from . import __version__, checks
from .experiments import GENERATORS, TRACKERS
from .reference import write_whole
from .rules import RULES
from .sweeps import SWEEPS, Sweep, name_of
from .theory import READOUTS


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, and ends with exit code 2."""

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}\n")


def main(argv: list[str] | None = None) -> int:
    """Run a sweep; returns the exit code: 0 done, 1 a cell failed, 2 bad arguments, 130 stopped by Ctrl-C."""
    parser = make_parser()
    args = parser.parse_args(argv)
    sweep = SWEEPS[args.command]
    try:
        args.device = _device(args.device)
        cells = {name_of(cell): cell for cell in sweep.cells(args)}  # the same cell asked for twice runs once
        out = _folder(args.out)
        engine = _engine(args)
    except ValueError as error:
        parser.exit(2, f"{parser.prog} {args.command}: {' '.join(str(error).split())}\n")
    try:
        with engine:
            fill(args.command, sweep, cells, out, jobs=args.jobs, quiet=args.quiet)
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", file=sys.stderr)
        return 130
    except (ValueError, ArithmeticError, OSError, RuntimeError) as error:
        print(f"{parser.prog} {args.command}: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    finish(args, sweep, cells, out)
    return 0


def fill(command: str, sweep: Sweep, cells: dict[str, dict], out: Path, *, jobs: int | None, quiet: bool) -> None:
    """Run the cells that are not there yet, and write each result whole when it comes."""
    folder = out / "cells"
    folder.mkdir(parents=True, exist_ok=True)
    for leftover in folder.glob("*.part"):  # of a run that was killed while it wrote
        leftover.unlink()
    missing = {name: cell for name, cell in cells.items() if not _file(out, name).exists()}
    work = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")(
        joblib.delayed(_named)(sweep.run, name, cell, out) for name, cell in missing.items()
    )
    done = len(cells) - len(missing)
    for name, table in tqdm(work, total=len(cells), initial=done, desc=command, unit="cell", disable=quiet):
        write_whole(_file(out, name), table.to_csv(index=False).encode())


def finish(args: argparse.Namespace, sweep: Sweep, cells: dict[str, dict], out: Path) -> None:
    """Join the cells to one CSV, in the order of the command, and draw it."""
    table = pd.concat([pd.read_csv(_file(out, name)) for name in cells])
    table = sweep.join(table.reset_index(drop=True))
    settings = {"pavlov_lib": __version__, "command": args.command, "cells": cells}
    write_whole(out / f"{args.command}.csv", table.to_csv(index=False).encode())
    write_whole(out / f"{args.command}.json", (json.dumps(settings, indent=1) + "\n").encode())
    figure = sweep.draw(table)
    most = 2**16 / max(figure.get_size_inches())  # a PNG of matplotlib's has fewer than 2^16 pixels a side
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=min(160, int(most) - 1), metadata={"Software": None})
    write_whole(out / f"{args.command}.png", picture.getvalue())
    print(f"{len(cells)} cells, {len(table)} rows: {out / args.command}.csv, {out / args.command}.png")


# ------------------------------------------------------------------------------------------------- arguments


def make_parser() -> Parser:
    """The arguments of all commands."""
    parser = Parser(prog="python -m pavlov_lib", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True, metavar="|".join(SWEEPS))

    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--out", required=True, metavar="FOLDER", help="for cells, table and picture; made if missing")
    common.add_argument("--seed", type=_whole(0), default=0)
    common.add_argument("--device", help="cpu, cuda, mps, auto or another torch device (NumPy if not given)")
    common.add_argument(
        "--jobs", type=_jobs, help="processes, -1 for one per core (default: 1, or what the engine has)"
    )
    common.add_argument("--backend", choices=["loky", "dask", "ray"], help="what runs the cells (default: loky)")
    common.add_argument("--address", help="of a running dask or ray cluster; one is started here if not given")
    common.add_argument("--quiet", action="store_true", help="no progress bar")

    numpy = argparse.ArgumentParser(add_help=False)
    numpy.add_argument("--rate", type=float, default=1.0, help="learning rate")
    numpy.add_argument("--value-dim", type=_whole(1), help="d_v (default: d_k)")
    numpy.add_argument("--dtype", choices=checks.FLOATS, default="float64")

    one = commands.add_parser("capacity", parents=[common, numpy], help="fidelity against the number of stored pairs")
    one.add_argument("--rules", nargs="+", choices=list(RULES), default=["hebbian"])
    one.add_argument(
        "--dims", nargs="+", type=_whole(1), default=[16, 32, 64, 128, 256, 512], help="key dimensions d_k"
    )
    one.add_argument("--loads", nargs="+", type=float, default=[0.125, 0.25, 0.5, 1, 1.5, 2, 3, 4, 6, 8], help="n/d_k")
    one.add_argument("--trials", type=_whole(1), default=1000)
    one.add_argument("--overlap", type=float, default=0.0, help="expected inner product of two keys")
    one.add_argument(
        "--generator",
        choices=GENERATORS,
        default="numpy",
        help="what draws the pairs; torch needs --device",
    )

    one = commands.add_parser("depth", parents=[common, numpy], help="failure of stacks by layers, heads and d_k")
    one.add_argument("--rules", nargs="+", choices=list(RULES), default=["hebbian"])
    one.add_argument("--layers", nargs="+", type=_whole(1), default=[1, 2, 4, 8, 16, 32])
    one.add_argument("--heads", nargs="+", type=_whole(1), default=[1, 2, 4, 8, 16])
    one.add_argument("--dims", nargs="+", type=_whole(1), default=[16, 32, 64], help="key dimensions d_k")
    one.add_argument("--loads", nargs="+", type=float, default=[2, 3, 4], help="n/d_k")
    one.add_argument("--readouts", nargs="+", choices=list(READOUTS), default=list(READOUTS))
    one.add_argument("--trials", type=_whole(1), default=100)

    one = commands.add_parser("drift", parents=[common, numpy], help="tracking a world that changes")
    one.add_argument("--rules", nargs="+", choices=list(TRACKERS), default=list(TRACKERS))
    one.add_argument("--dims", nargs="+", type=_whole(2), default=[32, 64, 128], help="key dimensions d_k")
    one.add_argument("--angles", nargs="+", type=float, default=[0.001, 0.002, 0.01], help="radians per step")
    one.add_argument("--steps", type=_whole(1), default=4000)
    one.add_argument("--cues", type=_whole(1), default=8)
    one.add_argument("--decay", type=float, default=0.95, help="what hebbian+decay keeps per step")
    one.add_argument("--reversal", type=_whole(2), help="step from which on all outcomes are reversed")
    one.add_argument("--trials", type=_whole(1), default=100)

    one = commands.add_parser("train", parents=[common], help="trained stacks of one budget, wide against deep")
    one.add_argument("--task", choices=["multihop", "recall"], default="multihop")
    one.add_argument("--rules", nargs="+", default=["delta"], help="hebbian, hebbian+decay, delta or oja")
    one.add_argument("--layers", nargs="+", type=_whole(1), default=[1, 2, 4, 8])
    one.add_argument("--budget", type=_whole(1), default=16_000, help="parameters of every stack")
    one.add_argument("--key-dim", type=_whole(1), default=8, help="key and value size of a head")
    one.add_argument("--pairs", type=_whole(1), default=4, help="recall: pairs in a context")
    one.add_argument("--chains", type=_whole(1), default=3, help="multihop: chains in a context")
    one.add_argument("--hops", type=_whole(1), default=2, help="multihop: links to follow")
    one.add_argument("--symbols", type=_whole(1), help="to draw bells and foods from")
    one.add_argument("--queries", type=_whole(1), help="questions per sequence (default: all that there are)")
    one.add_argument("--stale", type=_whole(0), default=0, help="pairs that come once before with a wrong food")
    one.add_argument("--steps", type=_whole(1), default=2000)
    one.add_argument("--batch", type=_whole(1), default=64)
    one.add_argument("--learning-rate", type=float, default=1e-2)
    one.add_argument("--target", type=float, help="stop at this held-out accuracy")
    one.add_argument("--patience", type=_whole(1), help="stop after so many looks without a new lowest held-out loss")
    one.add_argument("--precision", choices=["float32", "bfloat16"], default="float32")
    one.add_argument("--sequences", type=_whole(2), default=2000, help="to test each trained stack on")
    one.add_argument("--trials", type=_whole(2), default=5)
    return parser


def _whole(least: int):
    def whole(text: str) -> int:
        try:
            return checks.count("it", int(text), least)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"must be a whole number of at least {least}; got {text!r}") from error

    return whole


def _jobs(text: str) -> int:
    return -1 if text == "-1" else _whole(1)(text)


def _device(name: str | None) -> str | None:
    if name is None:
        return None
    try:
        from .models import usable_device
    except ModuleNotFoundError as error:
        raise ValueError(f"device must be left out where torch is not installed; got {name!r}") from error
    return str(usable_device(name))


def _folder(out: str) -> Path:
    """The folder to write to; nothing is written yet."""
    path = Path(out)
    there = next(p for p in (path, *path.absolute().parents) if p.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise ValueError(f"out must be a folder that can be written to; got {out}")
    return path


def _engine(args: argparse.Namespace) -> contextlib.AbstractContextManager:
    """What runs the cells: an engine of the caller's own (``joblib.parallel_config``) if no backend is named."""
    if args.address is not None and args.backend not in ("dask", "ray"):
        raise ValueError("address needs --backend dask or ray; got none of them")
    if args.backend in (None, "loky"):
        return joblib.parallel_config("loky") if args.backend else contextlib.nullcontext()
    try:
        if args.backend == "dask":
            from dask.distributed import Client
        else:
            import ray
            from ray.util.joblib import register_ray
    except ModuleNotFoundError as error:
        name = {"dask": "dask.distributed", "ray": "ray"}[args.backend]
        raise ValueError(f"backend {args.backend} needs {name}, which is not installed") from error

    @contextlib.contextmanager
    def cluster():
        with contextlib.ExitStack() as stack:
            if args.backend == "dask":
                local = {"n_workers": _workers(args.jobs), "threads_per_worker": 1, "dashboard_address": None}
                stack.enter_context(Client(args.address) if args.address else Client(**local))
            else:
                ray.init(args.address, num_cpus=None if args.address else _workers(args.jobs))
                stack.callback(ray.shutdown)
                register_ray()
            with joblib.parallel_config(args.backend):
                yield

    return cluster()


def _workers(jobs: int | None) -> int:
    return joblib.cpu_count() if jobs == -1 else jobs or 1


def _named(run, name: str, cell: dict, out: Path) -> tuple[str, pd.DataFrame]:
    return name, run(cell, out)


def _file(out: Path, name: str) -> Path:
    return out / "cells" / f"{name}.csv"


if __name__ == "__main__":
    from pavlov_lib.__main__ import main as run  # under its own name, so that worker processes find its functions

    sys.exit(run())
