"""Run a schedule through a learning rule, and through Rescorla and Wagner's model beside it."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

import numpy as np
import pandas as pd

from .. import checks
from ..rules import RULES, Rule, read
from .trials import Schedule

HINT = "the rate is past the rule's stability limit; use a smaller rate or weaker cues"


def run_protocol(schedule: Schedule, *, rule: Rule = RULES["delta"], rate=0.2, **settings) -> pd.DataFrame:
    """Run a conditioning schedule through a learning rule.

    Every trial writes one CS-US pair; after it, every probe is read. Reading teaches nothing.

    Parameters
    ----------
    schedule : Schedule
        What is shown, and what is tested.
    rule : Rule
        One of ``RULES``, the object itself.
    rate : float or list of float
        Learning rate η, finite and not negative; one for all trials, or one for each.
    **settings
        Further settings of the rule, such as ``decay`` for the Hebbian rule.

    Returns
    -------
    pandas.DataFrame
        One row per trial, probe and outcome: ``trial`` (from 1), ``phase``, ``cue`` (the probe), ``us`` (the outcome),
        ``response`` (what the probe recalls after this trial: its associative strength),
        ``predicted`` (the same from the Rescorla-Wagner model with β = rate),
        ``surprise`` (the outcome of this trial minus what its cues recalled just before it came).

    Raises
    ------
    ValueError
        If an argument does not fit.
    FloatingPointError
        If the responses outgrow float64, as they do far past the stability limit.

    Notes
    -----
    ``predicted`` is the model's prediction whatever the rule: for the delta rule it equals ``response``
    within rounding, and for the other rules it shows what error correction would have done.

    Examples
    --------
    >>> from pavlov_lib import RULES
    >>> from pavlov_lib.protocols import extinction, run_protocol
    >>> lesson = extinction(acquisition=2, extinction=2)
    >>> run_protocol(lesson, rule=RULES["delta"], rate=0.5)[["trial", "phase", "response", "predicted", "surprise"]]
       trial        phase  response  predicted  surprise
    0      1  acquisition    0.5000     0.5000     1.000
    1      2  acquisition    0.7500     0.7500     0.500
    2      3   extinction    0.3750     0.3750    -0.750
    3      4   extinction    0.1875     0.1875    -0.375
    >>> print(run_protocol(lesson, rule=RULES["hebbian"], rate=0.5)["response"].to_list())  # Hebb cannot unlearn
    [0.5, 1.0, 1.0, 1.0]
    """
    schedule, rates = _checked(schedule, rate)
    _check_rule(rule, settings)
    keys, values, queries = schedule.keys, schedule.values, schedule.queries
    state = np.zeros((values.shape[1], keys.shape[1]))
    responses, surprises = [], []
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow is reported once, below, with its cause
        for key, value, eta in zip(keys, values, rates, strict=True):
            surprises.append(value - read(state, key))
            state = rule.write(state, key, value, rate=float(eta), **settings)
            responses.append(queries @ state.T)
        checks.finished(np.stack(responses), state, HINT)
    return _table(schedule, responses, rescorla_wagner(schedule, rate=rate), surprises)


def rescorla_wagner(schedule: Schedule, *, rate=0.2) -> np.ndarray:
    """Associative strengths by Rescorla and Wagner's model: ΔV_i = α_i β (λ − Σ V), over the cues present.

    Written from the model's own words, one number per cue, without keys, matrices or the rules of this library,
    so that agreement with the delta rule is evidence and not a tautology.

    Parameters
    ----------
    schedule : Schedule
    rate : float or list of float
        β, finite and not negative; one for all trials, or one for each
        (the model itself allows two: one for trials with the US, one for trials without).

    Returns
    -------
    array (t, p, v)
        Σ V over the cues of each probe, after each trial, for each outcome.

    Raises
    ------
    ValueError
        If an argument does not fit.
    FloatingPointError
        If the predictions outgrow float64, as they do far past β Σ α = 2.

    Notes
    -----
    The delta rule with key entries √α_i does S_i ← S_i + η (λ − Σ_j S_j √α_j) √α_i.
    Multiply by √α_i and call V_i = S_i √α_i, the response to cue i alone: V_i ← V_i + α_i η (λ − Σ_j V_j).
    So η is β, and the two are the same model. Sources: [RescorlaWagner1972]_; the identity, [SuttonBarto1981]_.

    .. [RescorlaWagner1972] R. A. Rescorla, A. R. Wagner, A theory of Pavlovian conditioning, 1972.
    .. [SuttonBarto1981] R. S. Sutton, A. G. Barto, Toward a modern theory of adaptive networks, Psychol. Rev. 88, 1981.

    Examples
    --------
    >>> from pavlov_lib.protocols import blocking, rescorla_wagner
    >>> bell, light = rescorla_wagner(blocking(pretraining=20, compound=20), rate=0.5)[-1]
    >>> print(bell.round(3), light.round(3))  # the bell already predicts the food: the light is blocked
    [1.] [0.]
    """
    schedule, rates = _checked(schedule, rate)
    saliences = schedule.saliences
    strength = {outcome: dict.fromkeys(saliences, 0.0) for outcome in schedule.outcomes}
    rows = []
    for trial, beta in zip(schedule.trials, rates.tolist(), strict=True):
        arrived = dict(trial.us)
        for outcome, V in strength.items():
            expected = sum(V[cue] for cue, _ in trial.cues)
            for cue, alpha in trial.cues:
                V[cue] += alpha * beta * (arrived.get(outcome, 0.0) - expected)
        rows.append([[sum(V[cue] for cue, _ in cues) for V in strength.values()] for _, cues in schedule.probes])
    predicted = np.array(rows, dtype=float)
    if not np.isfinite(predicted).all():
        raise FloatingPointError(f"the predictions outgrew float64: {HINT}")
    return predicted


def _checked(schedule, rate) -> tuple[Schedule, np.ndarray]:
    """The schedule and one rate per trial, or ``ValueError``."""
    if not isinstance(schedule, Schedule):
        raise ValueError(f"schedule must be a Schedule; got {type(schedule).__name__}")
    trials = len(schedule.trials)
    if not isinstance(rate, Iterable) or isinstance(rate, str):
        return schedule, np.full(trials, checks.number("rate", rate, 0))
    rates = [checks.number("each rate", r, 0) for r in rate]
    if len(rates) != trials:
        raise ValueError(f"rate must be one number or one for each of the {trials} trials; got {len(rates)} numbers")
    return schedule, np.array(rates)


def _check_rule(rule, settings: dict) -> None:
    if not isinstance(rule, Rule):
        raise ValueError(f"rule must be a Rule, such as RULES['delta']; got {rule!r}")
    takes = set(inspect.signature(rule.write).parameters) - {"state", "key", "value", "rate"}
    for name in settings:
        if name not in takes:
            allowed = ", ".join(["rate", *sorted(takes)])
            raise ValueError(f"settings of the {rule.name} rule must be among {allowed}; got {name}")


def _table(schedule: Schedule, responses, predicted: np.ndarray, surprises) -> pd.DataFrame:
    """One row per trial, probe and outcome."""
    probes, outcomes = [name for name, _ in schedule.probes], schedule.outcomes
    rows = [
        (t + 1, trial.phase, cue, us, responses[t][p, v], predicted[t, p, v], surprises[t][v])
        for t, trial in enumerate(schedule.trials)
        for p, cue in enumerate(probes)
        for v, us in enumerate(outcomes)
    ]
    return pd.DataFrame(rows, columns=["trial", "phase", "cue", "us", "response", "predicted", "surprise"])
