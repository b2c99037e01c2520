"""Trials and schedules: what is shown to the animal, and when it is tested.

A cue is one coordinate of the key. A cue of salience α enters with the entry √α, so that a whole key has squared
length ‖k‖² = Σ α over the cues present. That choice is what makes the delta rule equal to Rescorla and Wagner's model,
salience for salience: see :func:`~pavlov_lib.protocols.run.rescorla_wagner`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from .. import checks


@dataclass(frozen=True)
class Trial:
    """One conditioning trial: the cues that come, the outcome that follows, and the phase it belongs to.

    Parameters
    ----------
    cues : str, list of str, or mapping of str to float
        The cues present, with saliences in (0, 1]; a cue given by name alone has salience 1.
        No cue at all is a rest: time passes, nothing is shown.
    us : float or mapping of str to float
        Magnitude of the unconditional stimulus, not negative; a plain number is the magnitude of ``"food"``.
        An outcome that is not named does not come.
    phase : str
        Name of the phase.

    Raises
    ------
    ValueError
        If a name is no text, a salience lies outside (0, 1], or a magnitude is negative or not finite.

    Examples
    --------
    >>> Trial("bell", us=1)
    Trial(cues=(('bell', 1.0),), us=(('food', 1.0),), phase='training')
    >>> Trial({"bell": 0.5, "light": 0.2}, us={"shock": 2}).us
    (('shock', 2.0),)
    """

    cues: tuple[tuple[str, float], ...]
    us: tuple[tuple[str, float], ...]
    phase: str = "training"

    def __post_init__(self):
        # A frozen class is set once, here, so that equal trials compare equal however they were spelled.
        cues = tuple((_name("a cue", c), _salience(c, s)) for c, s in _items("cues", self.cues, 1.0))
        us = {"food": self.us} if not isinstance(self.us, (Mapping, tuple)) else self.us
        us = tuple((_name("an outcome", u), checks.number(f"magnitude of {u}", m, 0)) for u, m in _items("us", us, 1.0))
        _distinct("cues of one trial", [name for name, _ in cues])
        _distinct("outcomes of one trial", [name for name, _ in us])
        object.__setattr__(self, "cues", cues)
        object.__setattr__(self, "us", us)
        _name("phase", self.phase)


@dataclass(frozen=True)
class Schedule:
    """A protocol: its name, its trials in order, and the probes that are tested after every trial.

    Parameters
    ----------
    name : str
    trials : iterable of Trial
    probes : mapping of str to cues, optional
        Test stimuli: a name for each, and the cues it is made of, given as in :class:`Trial`
        (a cue that no trial shows needs its salience). Testing teaches nothing.
        Each cue alone, if not given.

    Raises
    ------
    ValueError
        If there is no trial or no cue, an entry is no :class:`Trial`, a cue changes its salience on the way
        (a louder bell is another cue), or a probe names a cue of unknown salience.

    Examples
    --------
    >>> schedule = Schedule("lesson", [Trial("bell", 1), Trial(["bell", "light"], 0)])
    >>> schedule.saliences, schedule.outcomes
    ({'bell': 1.0, 'light': 1.0}, ('food',))
    >>> print(schedule.keys)
    [[1. 0.]
     [1. 1.]]
    """

    name: str
    trials: tuple[Trial, ...]
    probes: tuple[tuple[str, tuple[tuple[str, float], ...]], ...] = ()

    def __post_init__(self):
        _name("name", self.name)
        trials = tuple(self.trials) if isinstance(self.trials, Iterable) else ()
        if not trials or not all(isinstance(t, Trial) for t in trials):
            raise ValueError(f"trials must be a non-empty list of Trial objects; got {self.trials!r}")
        object.__setattr__(self, "trials", trials)
        found: dict[str, float] = {}
        for trial in trials:
            _meet(found, trial.cues, f"phase {trial.phase!r}")
        probes = {name: _items(f"probe {name}", cues, None) for name, cues in dict(self.probes).items()}
        for name, cues in probes.items():
            _name("a probe", name)
            _distinct(f"cues of probe {name}", [cue for cue, _ in cues])
            for cue, salience in cues:
                if salience is None:
                    checks.one_of(f"a cue without a salience in probe {name}", cue, found)
            _meet(found, [(c, _salience(c, s)) for c, s in cues if s is not None], f"probe {name!r}")
        if not found or not self.outcomes:
            raise ValueError("a schedule needs at least one cue and one outcome; got none in any trial")
        probes = {name: tuple((c, found[c]) for c, _ in cues) for name, cues in probes.items()}
        object.__setattr__(self, "probes", tuple(probes.items()) or tuple((c, ((c, s),)) for c, s in found.items()))

    @property
    def saliences(self) -> dict[str, float]:
        """Every cue in order of first appearance, with its salience."""
        return dict(
            cue for cues in [*(t.cues for t in self.trials), *(cues for _, cues in self.probes)] for cue in cues
        )

    @property
    def outcomes(self) -> tuple[str, ...]:
        """Every outcome in order of first appearance."""
        return tuple(dict.fromkeys(name for trial in self.trials for name, _ in trial.us))

    @property
    def keys(self) -> np.ndarray:
        """Keys (t, k): the entry of a present cue is √α, of an absent one 0."""
        return self._patterns([trial.cues for trial in self.trials])

    @property
    def values(self) -> np.ndarray:
        """Values (t, v): the magnitude of each outcome on each trial."""
        order = self.outcomes
        return np.array([[dict(trial.us).get(name, 0.0) for name in order] for trial in self.trials])

    @property
    def queries(self) -> np.ndarray:
        """Test stimuli (p, k), one row per probe."""
        return self._patterns([cues for _, cues in self.probes])

    def _patterns(self, compounds) -> np.ndarray:
        order = self.saliences
        return np.array([[np.sqrt(dict(cues).get(cue, 0.0)) for cue in order] for cues in compounds])


def _items(name: str, given, default: float):
    """(name, number) pairs from a name, a list of names, a mapping, or such pairs."""
    if isinstance(given, str):
        return ((given, default),)
    if isinstance(given, Mapping):
        return tuple(given.items())
    if not isinstance(given, Iterable):
        raise ValueError(f"{name} must be a name, a list of names, or a mapping of names to numbers; got {given!r}")
    return tuple(entry if isinstance(entry, tuple) and len(entry) == 2 else (entry, default) for entry in given)


def _meet(found: dict[str, float], cues, where: str) -> None:
    """Add cues to those found so far; refuse one that comes back with another salience."""
    for cue, salience in cues:
        if found.setdefault(cue, salience) != salience:
            raise ValueError(
                f"{cue} must keep the salience it began with, {found[cue]}; got {salience} in {where} "
                "(a louder bell is another cue: give it another name)"
            )


def _salience(cue: str, value) -> float:
    return checks.number(f"salience of {cue}", value, 0, 1, open_low=True)


def _name(what: str, value) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{what} must be named by a non-empty text; got {value!r}")
    return value


def _distinct(what: str, names) -> None:
    if len(set(names)) != len(names):
        raise ValueError(f"{what} must be distinct; got {', '.join(map(str, names))}")
