"""Editing one association: what goes, and what is harmed."""

import numpy as np
import pytest

from pavlov_lib import RULES, read
from pavlov_lib.experiments import EDITS, run_unlearning
from pavlov_lib.experiments import unlearning as module

EXACT = 1e-9  # float64 after a solve of a 24 × 24 system of random keys, condition number below 1e4


@pytest.fixture(scope="module")
def table():
    return run_unlearning(overlaps=(0.0, 0.3, 0.6, 0.9), trials=20).set_index(["edit", "overlap"])


def test_hebb_without_an_outcome_changes_nothing(table):
    hebb = table.loc["hebbian"]
    assert (hebb[["neighbour", "others", "fresh"]] == 0).all(axis=None)
    np.testing.assert_allclose(hebb.residual, 1, atol=EXACT)


@pytest.mark.parametrize("edit", ["delta", "delta, rehearsed", "protected"])
def test_error_correction_erases_the_unwanted_response(table, edit):
    np.testing.assert_allclose(table.loc[edit].residual, 0, atol=EXACT)


def test_delta_harms_the_neighbour_by_the_squared_overlap(table):
    delta = table.loc["delta"]
    np.testing.assert_allclose(delta.neighbour, delta.index.to_numpy() ** 2, atol=EXACT)
    assert ((delta.others - 1 / 64).abs() < 4 * delta.others_se).all()  # the mean squared overlap of random keys
    np.testing.assert_allclose(delta.fresh, 1 / 64, atol=EXACT)


def test_fading_harms_all_alike(table):
    fading = table.loc["hebbian+decay"]
    np.testing.assert_allclose(fading.residual, 0.9**30, atol=EXACT)
    np.testing.assert_allclose(fading[["neighbour", "others"]], (1 - 0.9**30) ** 2, atol=EXACT)


def test_a_protected_write_harms_no_stored_pair_and_pays_elsewhere(table):
    protected = table.loc["protected"]
    np.testing.assert_allclose(protected[["neighbour", "others"]], 0, atol=EXACT)
    assert (protected.fresh > table.loc["delta"].fresh).all()
    assert protected.fresh[0.9] > 3 * protected.fresh[0.0]  # u grows like 1 / (1 − overlap²)


def test_rehearsal_leads_to_the_protected_write():
    how = {"overlaps": [0.3], "pairs": 8, "trials": 5}
    rehearsed, protected = (run_unlearning([e], passes=200, **how) for e in ("delta, rehearsed", "protected"))
    numbers = rehearsed.columns[1:]
    np.testing.assert_allclose(rehearsed[numbers], protected[numbers], atol=1e-8)  # 200 rounds, each closing the gap


def test_the_change_of_any_response_is_the_erased_one_times_the_overlap():
    # whatever the memory holds, exact recall or not
    rng = np.random.default_rng(0)
    state, key, query = rng.standard_normal((5, 7)), rng.standard_normal(7), rng.standard_normal(7)
    after = RULES["delta"].write(state, key, np.zeros(5), rate=0.3)
    np.testing.assert_allclose(
        read(after, query) - read(state, query), -0.3 * (state @ key) * (key @ query), atol=1e-12
    )


def test_the_stimuli_are_what_the_docstring_says():
    keys, values = module._stimuli(np.random.default_rng(1), 3, 6, 9, 0.7)
    np.testing.assert_allclose(np.linalg.norm(keys, axis=-1), 1, atol=1e-12)
    np.testing.assert_allclose((keys[:, 0] * keys[:, 1]).sum(-1), 0.7, atol=1e-12)
    np.testing.assert_allclose(values @ values.mT, np.broadcast_to(np.eye(6), (3, 6, 6)), atol=1e-12)


def test_the_table_is_repeatable_and_has_one_row_per_edit_and_overlap():
    one, two = (run_unlearning(overlaps=[0.2, 0.5], trials=2) for _ in range(2))
    assert one.equals(two)
    assert len(one) == 2 * len(EDITS)
    assert not one.duplicated(["edit", "overlap"]).any()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"edits": ["cut"]}, "each of edits"),
        ({"edits": []}, "edits"),
        ({"overlaps": []}, "overlaps"),
        ({"overlaps": [1.0]}, "below 1"),
        ({"overlaps": [-0.1]}, "each overlap"),
        ({"pairs": 2}, "pairs"),
        ({"pairs": 65}, "at most key_dim"),
        ({"trials": 0}, "trials"),
        ({"fades": 0}, "fades"),
        ({"passes": 0}, "passes"),
        ({"decay": 1}, "decay"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_input_is_refused(how, message):
    with pytest.raises(ValueError, match=message):
        run_unlearning(**how)
