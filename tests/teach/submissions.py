"""Submissions to test the marking with, made from what students get."""

from __future__ import annotations

import copy

import nbformat

# What a student who has misunderstood writes, for each task: a piece of the solution, and what stands in its place.
MISTAKES = {
    "write": ("state + rate", "state - rate"),
    "attend": ("@ values", "@ values / len(keys)"),  # an average, as if the weights summed to one
    "find_test": ("strengths @ keys", "keys.sum(0)"),
    "predict": ("(n - 1)", "n"),  # an item does not disturb itself
    "recall": ("values.T @ keys", "values.T @ keys / len(keys)"),
    "measure": ("np.std(errors, ddof=1) / np.sqrt(trials)", "np.std(errors, ddof=1)"),
    "stack_failure": ("1 - (1 - p**heads) ** layers", "layers * p**heads"),  # true while failures are rare
    "decode": ("distances.argmin(1)", "(reads @ values.T).argmax(1)"),  # true for values of one length
    "failures": ("!= np.arange", "== np.arange"),
    "delta_write": ("value - state @ key", "value"),  # Hebb's rule
    "rescorla_wagner": ("strengths[present].sum()", "strengths.sum()"),  # absent cues take part
    "key_of": ("np.where(present, np.sqrt(saliences), 0.0)", "np.where(present, saliences, 0.0)"),
    "outcomes": ("+ np.sin", "- np.sin"),
    "track": ("- truths[t])", "- truths[0])"),  # compares with a world that stood still
    "recovery": ("above[-1] + 1 - flip", "above[-1] - flip"),
    "oja_write": ("rate * value**2", "rate * value"),
    "rest": ("key[None, :] / value[:, None]", "key[None, :] * value[:, None]"),  # faithful recall, as under delta
    "size": ("rate * c**2", "rate * c"),
    "remember": ("decay * state + np.outer(value, key)", "decay * (state + np.outer(value, key))"),  # fades at once
    "fidelity_at": ("squares.sum() - squares[age]", "squares.sum()"),
    "best_decay": ("held = 0", "held = 1"),
}

# What a student writes who only wants the checks to pass.
HARD_CODED = {
    "write": """
def write(state, key, value, rate):
    return np.array([[0.0, 0, 0], [0.5, 0, 0]])

def read(state, query):
    return np.array([0.0, 0.5])
""",
    "attend": """
def attend(keys, values, query):
    return np.array([101.0]) if query[0] else np.array([220.0])
""",
    "find_test": """
def find_test(keys, strengths):
    return np.array([0.6, 0.8, 0.0])
""",
    "predict": """
def predicted_fidelity(n, d_k):
    return {65: 0.70711, 20: 0.544331}[n]

def largest_n(d_k, tau):
    return 67
""",
    "recall": """
def recall(keys, values):
    return values if len(keys) == 3 else np.array([[1, 0.6], [0.6, 1]])
""",
    "measure": """
def measure(n, d, trials, rng):
    return 1.01, 0.02
""",
    "stack_failure": """
def stack_failure(p, heads, layers):
    return {3: 0.001, 2: 0.578125}[heads]

def heads_needed(p, layers, target):
    return 5
""",
    "decode": """
def decode(reads, values):
    return np.array([0, 1])
""",
    "failures": """
def failures(keys, values):
    return 0 if len(keys) == 4 else 0.5
""",
    "delta_write": """
def delta_write(state, key, value, rate):
    return np.array([[0.75, 0.0]]) if state.any() else np.array([[0.5, 0.0]])
""",
    "rescorla_wagner": """
def rescorla_wagner(strengths, present, saliences, beta, outcome):
    return np.array([0.3, 0.15]) if outcome else np.array([0.21, 0.15])
""",
    "key_of": """
def key_of(present, saliences):
    return np.array([1.0, 0.0])

def strengths_of(state, saliences):
    return np.array([0.2, 0.0])
""",
    "outcomes": """
def outcomes(start, across, angle, steps):
    return np.array([[1, 0], [0, 1], [-1, 0]])
""",
    "track": """
def track(rule, keys, truths, order, rate):
    if rule.name == "hebbian":
        return np.array([1, 2, 3, 4]), np.array([0, 1, 4, 9])
    return np.ones(4), np.zeros(4)
""",
    "recovery": """
def recovery(errors, flip, level):
    return 2 if len(errors) == 5 else None
""",
    "oja_write": """
def oja_write(state, key, value, rate):
    return np.array([[0.75, 0.0]]) if state.any() else np.array([[0.5, 0.0]])
""",
    "rest": """
def rest(key, value):
    return np.array([[1.2, 1.6]])

def writes_needed(activity, rate, share):
    return 17 if activity < 1 else None
""",
    "size": """
def decay_of(c, rate):
    return 0.9

def predicted_norm(n, d_v, rate):
    return 1.0 if n == 1 else oja_plateau_norm(32)
""",
    "remember": """
def remember(keys, values, decay):
    return np.array([[0.25], [0.5], [1.0]])
""",
    "fidelity_at": """
def fidelity_at(age, n, decay, d_k):
    return 0.70711 if age == 3 else 1 - decay / 2
""",
    "best_decay": """
def horizon(n, decay, d_k, tau):
    return 0 if decay == 1 else 23

def best_decay(n, d_k, tau, candidates):
    return 0.97
""",
}

# Each of these stands in the first task of one assignment; the others are right.
CRASHES = {
    "mapping": "def write(state, key, value, rate:\n    return",  # no Python
    "capacity": "while True:\n    pass",  # never ends
    "depth": "raise SystemExit",
    "delta": "import a_package_that_nobody_has",
    "drift": "def outcomes(start, across, angle, steps):\n    return outcomes(start, across, angle, 1)",  # no end
    "oja": "import sys\nsys.exit(3)",
    "forgetting": "def remember(keys, values, decay):\n    return keys @ values",  # shapes do not fit
}


def solutions(source) -> dict[str, str]:
    """What stands in the cells that students fill in, by their id."""
    return {c.metadata["nbgrader"]["grade_id"]: c.source for c in source.cells if to_fill_in(c)}


def to_fill_in(cell) -> bool:
    return cell.metadata.get("nbgrader", {}).get("solution", False)


def submission(kind: str, assignment: str, release, source):
    """The notebook that a student of this ``kind`` hands in."""
    notebook, right = copy.deepcopy(release), solutions(source)
    cells = {c.metadata["nbgrader"]["grade_id"]: c for c in notebook.cells if to_fill_in(c)}
    for number, (task, cell) in enumerate(cells.items()):
        if kind == "empty":
            continue
        cell.source = right[task]
        if task == "prose":
            continue
        if kind == "wrong":
            before, after = MISTAKES[task]
            assert right[task].count(before) == 1, f"{task} holds {before!r} once"
            cell.source = right[task].replace(before, after)
        elif kind == "hard-coded":
            cell.source = HARD_CODED[task]
        elif kind == "crashing" and number == 0:
            cell.source = CRASHES[assignment]
    return nbformat.validate(notebook) or notebook
