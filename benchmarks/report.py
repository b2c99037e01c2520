"""Tables to read, files to keep, and one figure."""

from __future__ import annotations

import io
import json
import os
import platform
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from pavlov_lib import __version__
from pavlov_lib.figures.style import RULE_STYLE, finish, new_figure
from pavlov_lib.reference import write_whole

from .contestants import HARD

# What the chunks were built to reach at the reference shape, as ratios: (rule, contestant, pass) -> at least.
REFERENCE = (1, 4, 4096, 64)
AIMS = {
    ("hebbian", "this library, loop", "both"): 30,
    ("delta", "this library, loop", "both"): 25,
    ("oja", "this library, loop", "both"): 27,
    ("hebbian", "a beginner's loop", "both"): 60,
    ("delta", "a beginner's loop", "both"): 60,
    ("oja", "a beginner's loop", "both"): 60,
    ("hebbian", "fla-core, chunks", "forward"): 1.15,
    ("hebbian", "fla-core, chunks", "both"): 1.2,
    ("hebbian+decay", "fla-core, chunks", "both"): 3.5,
    ("delta", "fla-core, chunks", "forward"): 1.15,
    ("delta", "fla-core, chunks", "both"): 4.5,
    ("hebbian", "fast-transformers, C++ kernel", "forward"): 1.4,
    ("hebbian", "fast-transformers, C++ kernel", "both"): 1.8,
    ("hebbian", "torch, softmax attention", "both"): 8,
    ("delta", "torch, softmax attention", "both"): 4,
    ("oja", "torch, softmax attention", "both"): 6,
    ("hebbian", "bound: bare products", "forward"): 0.75,
    ("hebbian", "bound: bare products", "both"): 0.75,
    ("delta", "bound: bare products", "forward"): 0.55,
    ("delta", "bound: bare products", "both"): 0.65,
    ("oja", "bound: bare products", "forward"): 0.5,
    ("oja", "bound: bare products", "both"): 0.5,
}
AT_MOST = {("oja", name, which): 2.8 for name in HARD for which in ("forward", "both")}


def aims(table: pd.DataFrame) -> pd.DataFrame:
    """Every aim, with what was measured: how many times as long the contestant takes. Some may not have taken part."""
    seconds = table.set_index(["rule", "contestant"])
    rows = []
    for (rule, contestant, which), aim in (AIMS | AT_MOST).items():
        there = ("softmax" if "softmax" in contestant else rule, contestant)
        ours = (rule, "this library, chunks")
        most = (rule, contestant, which) in AT_MOST
        measured, verdict = float("nan"), "not measured"
        if there in seconds.index and ours in seconds.index:
            measured = seconds.loc[there, f"{which}_ms"] / seconds.loc[ours, f"{which}_ms"]
            verdict = "yes" if (measured <= aim if most else measured >= aim) else "no"
        rows.append(
            {"rule": rule, "against": contestant, "pass": which, "aim": f"at {'most' if most else 'least'} {aim}",
             "measured": measured, "reached": verdict}
        )  # fmt: skip
    return pd.DataFrame(rows)


def machine() -> dict:
    """What the numbers depend on, without a name of the machine."""
    return {
        "library": __version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "system": platform.system(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "load before": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def draw(growth: pd.DataFrame):
    """Time of one forward and backward pass against the number of steps, on logarithmic axes."""
    figure, ax = new_figure()
    for (rule, contestant), g in growth.groupby(["rule", "contestant"], sort=False):
        style = RULE_STYLE[rule]
        looped = contestant.endswith("loop")
        label = style["label"] + (", loop" if looped else ", chunks" if rule != "softmax" else "")
        ax.loglog(
            g["steps"], g["both_ms"], color=style["color"], marker=style["marker"], label=label,
            linestyle=":" if looped else "-",
        )  # fmt: skip
    steps = sorted(growth["steps"].unique())
    ax.set_xticks(steps, [f"{t:,}" for t in steps])
    ax.minorticks_off()
    finish(ax, "Chunks grow with the length, softmax with its square", columns=3,
           xlabel="time steps $t$", ylabel="forward and backward, milliseconds")  # fmt: skip
    return figure


def save(folder: Path, name: str, content) -> None:
    """Write a file whole or not at all: a table, a figure, or a dictionary."""
    folder.mkdir(parents=True, exist_ok=True)
    if isinstance(content, pd.DataFrame):
        data = content.to_csv(index=False, float_format="%.4g").encode()
    elif isinstance(content, dict):
        data = (json.dumps(content, indent=2) + "\n").encode()
    else:
        buffer = io.BytesIO()
        content.savefig(buffer, format="png", dpi=160, metadata={"Software": None}, bbox_inches="tight")
        data = buffer.getvalue()
    write_whole(folder / name, data)
