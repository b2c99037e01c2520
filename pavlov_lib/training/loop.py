"""The training loop: a run that can be killed at any moment and goes on with the same numbers."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from torch.nn import functional as F
from tqdm.auto import tqdm

from .. import checks
from ..models import Stack, StackConfig, usable_device
from .tasks import HELD_OUT, TRAINING, Batch, MultiHop, Recall, draw


@dataclass(frozen=True)
class TrainConfig:
    """How to train.

    Parameters
    ----------
    steps : int
        Batches at most. The learning rate warms up over the first 50 (or a tenth of them, if that is less),
        and goes down to zero over the last three in ten.
    batch : int
        Sequences per step.
    learning_rate : float
        Largest step of AdamW.
    clip : float
        Largest norm of the gradient.
    seed : int
        Of weights, batches and held-out sequences.
    evaluate_every : int
        Steps between two looks at ``held_out`` sequences that are never trained on.
    held_out : int
    target : float, optional
        Stop as soon as the held-out accuracy reaches this.
    patience : int, optional
        Stop after so many looks in a row without a new lowest held-out loss.
    precision : {"float32", "bfloat16"}
        Of the matrix products around the rules; the rules themselves always work in float32.

    Raises
    ------
    ValueError
        If a setting is out of range.
    """

    steps: int = 400
    batch: int = 64
    learning_rate: float = 1e-2
    clip: float = 1.0
    seed: int = 0
    evaluate_every: int = 50
    held_out: int = 256
    target: float | None = None
    patience: int | None = None
    precision: str = "float32"

    def __post_init__(self):
        for name in ("steps", "batch", "evaluate_every"):
            checks.count(name, getattr(self, name))
        checks.count("held_out", self.held_out, 2)  # one sequence has no standard error
        checks.number("learning_rate", self.learning_rate, 0, open_low=True)
        checks.number("clip", self.clip, 0, open_low=True)
        checks.seed(self.seed)
        if self.target is not None:
            checks.number("target", self.target, 0, 1)
        if self.patience is not None:
            checks.count("patience", self.patience)
        checks.one_of("precision", self.precision, ("float32", "bfloat16"))


class Trained(NamedTuple):
    """What training gives back.

    ``history``: one row per look at the held-out sequences: ``step``, ``loss`` (of the training batch),
    ``held_out_loss``, ``accuracy``, ``accuracy_se``, ``learning_rate``.
    """

    model: Stack
    history: pd.DataFrame
    accuracy: float
    accuracy_se: float


def train(
    task: Recall | MultiHop,
    stack: StackConfig,
    settings: TrainConfig | None = None,
    *,
    device: str = "cpu",
    checkpoint: str | Path | None = None,
    checkpoint_every: int = 50,
    progress: bool = True,
) -> Trained:
    """Train a stack on a task.

    Parameters
    ----------
    task : Recall or MultiHop
    stack : StackConfig
        With room for the task's ``vocab``.
    settings : TrainConfig, optional
    device : {"cpu", "cuda", "mps", "auto"}
    checkpoint : path, optional
        A file that is written whole every ``checkpoint_every`` steps. If it exists, training goes on from there:
        on one and the same CPU with exactly the numbers of a run that was never interrupted.
    checkpoint_every : int
    progress : bool
        Show a progress bar.

    Returns
    -------
    Trained

    Raises
    ------
    ValueError
        If the stack has no room for the task's tokens, the device cannot be used, or the checkpoint is no checkpoint
        of this very run.
    FloatingPointError
        If the loss is no longer finite.

    Examples
    --------
    >>> task = Recall(pairs=2, symbols=8)
    >>> small = StackConfig(layers=1, heads=2, key_dim=8, value_dim=8, vocab=task.vocab)
    >>> trained = train(task, small, TrainConfig(steps=200, target=0.95), progress=False)
    >>> trained.accuracy > 0.95
    True
    """
    settings = TrainConfig() if settings is None else settings
    check_run(task, stack, settings)
    checks.count("checkpoint_every", checkpoint_every)
    run = _Run(task, stack, settings, usable_device(device))
    path = None if checkpoint is None else Path(checkpoint)
    if path is not None and path.exists():
        run.load(path)
    with tqdm(
        total=settings.steps, initial=run.step, disable=not progress, desc=f"{stack.rule}, L={stack.layers}"
    ) as bar:
        while not run.finished:
            run.advance()
            bar.update()
            if run.rows and run.rows[-1]["step"] == run.step:
                bar.set_postfix(accuracy=f"{run.rows[-1]['accuracy']:.3f}")
            if path is not None and (run.step % checkpoint_every == 0 or run.finished):
                run.save(path)
    last = run.rows[-1]
    return Trained(run.model, pd.DataFrame(run.rows), last["accuracy"], last["accuracy_se"])


def evaluate(
    model: Stack, task: Recall | MultiHop, *, sequences: int = 1000, seed: int = 0, precision: str = "float32"
) -> pd.DataFrame:
    """How often the stack answers right, on sequences that training with the same seed never saw.

    Returns
    -------
    pandas.DataFrame
        One row per number of hops: ``hops``, ``loss``, ``accuracy``, ``accuracy_se``, ``answers`` (how many).
        The standard error counts a sequence as one sample, for its questions share their context.

    Raises
    ------
    ValueError
        If an argument is out of range, or the stack has no room for the task's tokens.

    Examples
    --------
    >>> fresh = Stack(StackConfig(layers=1, heads=2, key_dim=4, value_dim=4, vocab=33))
    >>> bool(evaluate(fresh, Recall(pairs=4, symbols=32), sequences=100).accuracy[0] < 0.2)
    True
    """
    check_room(task, model.config)
    checks.count("sequences", sequences, 2)
    batch = draw(task, seed, HELD_OUT, 0, sequences)
    loss, right = answers(model, batch, precision)
    rows = []
    for hops in np.unique(batch.hops):
        of = batch.hops == hops
        rows.append((int(hops), float(loss[of].mean()), *_ratio(right, of), int(of.sum())))
    return pd.DataFrame(rows, columns=["hops", "loss", "accuracy", "accuracy_se", "answers"])


class _Run:
    """A training run that can stop after any step and go on."""

    def __init__(self, task, stack: StackConfig, settings: TrainConfig, device: torch.device):
        self.task, self.settings = task, settings
        self.model = Stack(stack, seed=settings.seed, device=device)
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(),
            lr=settings.learning_rate,
            betas=(0.9, 0.98),
            weight_decay=0.0,
            fused=device.type in ("cpu", "cuda"),  # one kernel for all weights
        )
        self.step, self.rows, self.lowest, self.waited, self.stopped = 0, [], math.inf, 0, False

    @property
    def finished(self) -> bool:
        return self.stopped or self.step >= self.settings.steps

    def advance(self) -> None:
        """One batch, and a look at the held-out sequences where one is due."""
        how = self.settings
        rate = _learning_rate(how, self.step)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        batch = draw(self.task, how.seed, TRAINING, self.step, how.batch)
        losses, _ = scores(self.model, batch, how.precision)
        self.optimizer.zero_grad()
        loss = losses.mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), how.clip)
        self.optimizer.step()
        self.step += 1
        # the loss is read here and not at every step: reading it makes a GPU wait
        if self.step % how.evaluate_every == 0 or self.step == how.steps:
            self._look(float(loss.detach()), rate)

    def _look(self, loss: float, rate: float) -> None:
        how = self.settings
        batch = draw(self.task, how.seed, HELD_OUT, 0, how.held_out)
        losses, right = answers(self.model, batch, how.precision)
        held_out = float(losses.mean())
        if not (math.isfinite(loss) and math.isfinite(held_out)):
            raise FloatingPointError(f"the loss is no longer finite at step {self.step}: use a smaller learning_rate")
        accuracy, se = _ratio(right, np.ones_like(batch.hops, dtype=bool))
        self.rows.append(
            {"step": self.step, "loss": loss, "held_out_loss": held_out, "accuracy": accuracy, "accuracy_se": se,
             "learning_rate": rate}
        )  # fmt: skip
        self.waited = 0 if held_out < self.lowest else self.waited + 1
        self.lowest = min(self.lowest, held_out)
        enough = how.target is not None and accuracy >= how.target
        self.stopped = enough or (how.patience is not None and self.waited >= how.patience)

    def identity(self) -> dict[str, Any]:
        """What makes this run this run, in plain words and numbers."""
        parts = {"task": self.task, "stack": self.model.config, "settings": self.settings}
        return {name: {"kind": type(part).__name__, **dataclasses.asdict(part)} for name, part in parts.items()}

    def save(self, path: Path) -> None:
        """Write everything whole: a kill at any moment leaves the old file or the new one, never a half."""
        content = {
            "identity": self.identity(), "model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(),
            "step": self.step, "rows": self.rows, "lowest": self.lowest, "waited": self.waited, "stopped": self.stopped,
        }  # fmt: skip
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(path.name + ".part")
        torch.save(content, part)
        part.replace(path)

    def load(self, path: Path) -> None:
        """Go on from a file that :meth:`save` wrote."""
        place = next(self.model.parameters()).device
        try:
            content = torch.load(path, map_location=place, weights_only=True)
            then = content["identity"]
        except (RuntimeError, EOFError, KeyError, TypeError, pickle.UnpicklingError) as error:
            raise ValueError(f"checkpoint must be a file written by train; got {path}") from error
        now = self.identity()
        if then != now:
            differ = [
                f"{part}.{name}: {then[part].get(name)!r} there, {now[part].get(name)!r} here"
                for part in now
                for name in sorted({*then[part], *now[part]})
                if then[part].get(name) != now[part].get(name)
            ]
            raise ValueError(f"checkpoint must be of this very run; got {path} with {'; '.join(differ)}")
        self.model.load_state_dict(content["model"])
        self.optimizer.load_state_dict(content["optimizer"])
        for name in ("step", "rows", "lowest", "waited", "stopped"):
            setattr(self, name, content[name])


def _learning_rate(how: TrainConfig, step: int) -> float:
    """Up over the first steps, level, down to zero over the last three in ten."""
    up = (step + 1) / min(50, max(1, how.steps // 10))
    down = (how.steps - step) / max(1, 0.3 * how.steps)
    return how.learning_rate * min(1.0, up, down)


def scores(model: Stack, batch: Batch, precision: str):
    """Losses (b, q) and predicted tokens (b, q), on the model's device."""
    place = model.embedding.weight.device
    half = contextlib.nullcontext()
    if precision == "bfloat16":
        half = torch.autocast(place.type, dtype=torch.bfloat16)
    with half:
        logits, _ = model(torch.from_numpy(batch.tokens).to(place))
    logits = logits[:, torch.from_numpy(batch.asked).to(place)].float()
    answers = torch.from_numpy(batch.answers).to(place)
    return F.cross_entropy(logits.flatten(0, 1), answers.flatten(), reduction="none").view_as(answers), logits.argmax(
        -1
    )


def answers(model: Stack, batch: Batch, precision: str):
    """Losses and whether the answers are right, both (b, q), as NumPy arrays."""
    with torch.no_grad():
        losses, named = scores(model, batch, precision)
    return losses.cpu().numpy(), named.cpu().numpy() == batch.answers


def _ratio(right: np.ndarray, of: np.ndarray) -> tuple[float, float]:
    """Share of right answers among ``of``, and its standard error with a sequence as one sample: both (b, q)."""
    hits, asked = (right & of).sum(1), of.sum(1)
    share = hits.sum() / asked.sum()
    # residuals of a ratio: sequences differ in how many of these questions they hold
    return float(share), float(np.sqrt(((hits - share * asked) ** 2).sum()) / asked.sum())


def check_run(task, stack, settings) -> None:
    for name, part, kinds in (("stack", stack, StackConfig), ("settings", settings, TrainConfig)):
        if not isinstance(part, kinds):
            raise ValueError(f"{name} must be a {kinds.__name__}; got {type(part).__name__}")
    check_room(task, stack)


def check_task(task) -> None:
    if not isinstance(task, (Recall, MultiHop)):
        raise ValueError(f"task must be a Recall or a MultiHop; got {type(task).__name__}")


def check_room(task, stack: StackConfig) -> None:
    check_task(task)
    if stack.vocab < task.vocab:
        raise ValueError(f"the stack's vocab must be at least the task's, {task.vocab}; got {stack.vocab}")
