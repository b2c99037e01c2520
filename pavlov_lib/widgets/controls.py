"""What a reader can set: sliders, choices, switches and lists of trials. Each checks its value and describes itself."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from .. import checks

RULE_OPTIONS = (("hebbian", "Hebb"), ("delta", "delta"), ("oja", "Oja"))


@dataclass(frozen=True)
class Slider:
    """A number from ``low`` to ``high`` in steps."""

    name: str
    label: str
    low: float
    high: float
    step: float
    value: float
    digits: int = 0

    kind = "slider"

    def checked(self, value) -> float:
        """``value``, moved to the nearest step, or ``ValueError``."""
        x = checks.number(self.name, value, self.low, self.high)
        x = self.low + round((x - self.low) / self.step) * self.step
        return round(x, self.digits) if self.digits else round(x)


@dataclass(frozen=True)
class Choice:
    """One of a few options, each a value and the words shown for it."""

    name: str
    label: str
    options: tuple[tuple[str, str], ...]
    value: str

    kind = "choice"

    def checked(self, value) -> str:
        """``value``, or ``ValueError`` if it is no option."""
        return checks.one_of(self.name, value, [option for option, _ in self.options])


@dataclass(frozen=True)
class Switch:
    """On or off."""

    name: str
    label: str
    value: bool

    kind = "switch"

    def checked(self, value) -> bool:
        """``value``, or ``ValueError`` if it is neither true nor false."""
        return bool(checks.one_of(self.name, value, (True, False)))


@dataclass(frozen=True)
class Trials:
    """A growing list of trials, each spelled ``cue+outcome``."""

    name: str
    label: str
    cues: tuple[tuple[str, str], ...]
    outcomes: tuple[tuple[str, str], ...]
    value: tuple[str, ...]
    most: int

    kind = "trials"

    def checked(self, value) -> tuple[str, ...]:
        """``value`` as a tuple, or ``ValueError`` if a trial is unknown or there are too many."""
        allowed = [f"{cue}+{outcome}" for cue, _ in self.cues for outcome, _ in self.outcomes]
        trials = checks.some_of(self.name, value, allowed) if len(value) else ()
        if len(trials) > self.most:
            raise ValueError(f"{self.name} must hold at most {self.most} trials; got {len(trials)}")
        return trials


Control = Slider | Choice | Switch | Trials


def described(control: Control) -> dict[str, Any]:
    """The control as plain data, for the page."""
    return {"kind": control.kind, **asdict(control)}
