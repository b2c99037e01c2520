"""How far back a fading memory sees, how fast it should fade, and what the delta rule leaves alone."""

import math

import numpy as np
import pytest

from pavlov_lib import theory
from pavlov_lib.experiments import (
    best_rate,
    best_weights,
    forgetting_horizon,
    recall_error,
    run_forgetting,
    run_horizon,
    run_recency,
    run_updates,
    use_by_age,
)
from pavlov_lib.figures import draw_forgetting, draw_horizon, draw_recency, draw_updates


def test_the_error_of_every_age_is_as_predicted():
    table = run_forgetting(
        ["hebbian", "hebbian+decay", "delta", "oja"], [0.95], length=128, ages=(0, 5, 40), trials=150
    )
    # exact in expectation: within four standard errors; delta recalls the newest pair to rounding
    assert ((table.error - table.predicted_error).abs() <= 4 * table.error_se + 1e-12).all()
    assert ((table.fidelity - table.predicted_fidelity).abs() <= 4 * table.fidelity_se + 0.02).all()  # approximate


def test_only_without_decay_are_all_ages_alike():
    table = run_forgetting(["hebbian", "hebbian+decay"], [0.95], ages=(0, 100), length=200, trials=40)
    new, old = table[table.age == 0].fidelity.to_numpy(), table[table.age == 100].fidelity.to_numpy()
    assert abs(new[0] - old[0]) < 0.1  # four standard errors
    assert new[1] > 0.8 > 0.2 > old[1]


def test_the_horizon_is_where_the_fidelity_formula_reaches_tau():
    for d_k, decay, tau in ((64, 0.97, 0.7), (256, 0.99, 0.9)):
        age = forgetting_horizon(d_k, decay, tau)
        signal, power = decay ** (2 * age), 1 / (1 - decay**2)
        assert math.sqrt(signal / (signal + (power - signal) / d_k)) == pytest.approx(tau, rel=1e-12)


def test_the_longest_horizon_is_what_a_memory_holds_over_e():
    d_k, tau = 100_000, 0.8
    held = 1 + d_k * theory.capacity_slope(tau)
    decays = np.sqrt(1 - np.linspace(1.5, 5, 701) / held)
    horizons = [forgetting_horizon(d_k, float(g), tau) for g in decays]
    assert max(horizons) == pytest.approx(held / math.e, rel=1e-4)  # corrections are of order 1/D
    assert (1 - decays[np.argmax(horizons)] ** 2) * held == pytest.approx(math.e, abs=0.02)  # the grid's step, twice


def test_the_measured_horizon_is_the_predicted_one():
    table = run_horizon(dims=[64], paces=[math.e, 6.0], trials=60)
    # the formula takes the mean of a quotient for the quotient of means: a few parts in a hundred at 64 dimensions
    assert ((table.horizon - table.predicted).abs() < 4 * table.horizon_se + 0.05 * table.predicted).all()


def test_the_best_weights_are_better_than_any_others():
    rng = np.random.default_rng(0)
    use = rng.dirichlet(np.ones(30))
    least = recall_error(best_weights(use, 16), use, 16)
    for _ in range(50):
        assert recall_error(best_weights(use, 16) + 0.01 * rng.standard_normal(30), use, 16) > least


def test_the_best_rate_is_better_than_its_neighbours():
    use = use_by_age(8.0, 100)
    for loss in (0.0, 0.05, 0.5):
        trace, rate = (1 - loss) ** np.arange(100), best_rate(loss, use, 32)
        errors = [recall_error(factor * rate * trace, use, 32) for factor in (0.99, 1, 1.01)]
        assert errors[1] < min(errors[0], errors[2])


def test_errors_weighted_by_use_are_as_predicted():
    table = run_recency(mean_ages=[3.0, 20.0], losses=[0.0, 0.02, 0.2], length=128, key_dim=32, trials=100)
    assert ((table.error - table.predicted).abs() < 4 * table.error_se).all()
    assert (table.predicted > table.possible).all()


def test_use_falls_by_a_constant_factor_and_adds_up():
    use = use_by_age(4.0, 400)
    np.testing.assert_allclose(use[1:] / use[:-1], 0.8, rtol=1e-12)
    assert use.sum() == pytest.approx(1)
    assert use @ np.arange(400) == pytest.approx(4, rel=1e-9)  # what the cut leaves out is far below this


def test_decay_loses_what_is_left_alone_and_delta_does_not():
    table = run_updates(updates=(0, 400), trials=30).set_index(["memory", "facts", "updates"]).fidelity
    assert table["delta", "quiet", 0] - table["delta", "quiet", 400] < 0.05
    assert abs(table["hebbian+decay", "quiet", 400]) < 0.1  # 0.97^400 is 5e-6; four standard errors
    assert table["delta", "busy", 400] > 0.9 > table["hebbian+decay", "busy", 400] > table["hebbian", "busy", 400]


def test_results_repeat_with_their_seed():
    for run in (
        lambda seed: run_forgetting(ages=[3], length=8, trials=2, seed=seed),
        lambda seed: run_horizon(dims=[16], paces=[2.0], trials=2, seed=seed),
        lambda seed: run_recency(length=16, trials=2, seed=seed),
        lambda seed: run_updates(updates=[4], trials=2, seed=seed),
    ):
        assert run(1).equals(run(1))
        assert not run(1).equals(run(2))


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (lambda: run_forgetting(memories=["other"]), "each of memories"),
        (lambda: run_forgetting(decays=[1.0]), "below 1"),
        (lambda: run_forgetting(decays=[]), "decays"),
        (lambda: run_forgetting(ages=[512]), "below length=512"),
        (lambda: run_forgetting(ages=[-1]), "each of ages"),
        (lambda: run_forgetting(trials=0), "trials"),
        (lambda: run_horizon(paces=[1.0]), "between 1 and D"),
        (lambda: run_horizon(dims=[16], paces=[17.0]), "between 1 and D"),
        (lambda: run_horizon(tau=1.0), "between 1 and D"),
        (lambda: run_horizon(trials=1), "trials"),
        (lambda: forgetting_horizon(8, 1.0, 0.5), "below 1"),
        (lambda: forgetting_horizon(0, 0.9, 0.5), "d_k"),
        (lambda: run_recency(mean_ages=[0.0]), "each of mean_ages"),
        (lambda: run_recency(losses=[1.0]), "losses"),
        (lambda: run_recency(losses=[]), "losses"),
        (lambda: run_recency(trials=1), "trials"),
        (lambda: best_weights(np.ones(3), 4), "add up to 1"),
        (lambda: recall_error(np.ones(3), np.ones(2), 4), "one shape"),
        (lambda: use_by_age(0.0, 3), "mean_age"),
        (lambda: run_updates(memories=["oja"]), "each of memories"),
        (lambda: run_updates(updates=[]), "updates"),
        (lambda: run_updates(busy=0), "busy"),
        (lambda: run_updates(decay=1.0), "below 1"),
    ],
)
def test_bad_input_is_refused(run, message):
    with pytest.raises(ValueError, match=message):
        run()


def test_the_figures_draw_their_tables():
    drawn = draw_forgetting(run_forgetting(ages=[0, 5], length=16, trials=3)).digest()
    assert "Hebb, no decay: 2 points" in drawn and "decay 0.97: 2 points" in drawn
    assert "measured, $d_k$ = 16: 1 points" in draw_horizon(run_horizon(dims=[16], paces=[2.0], trials=3)).digest()
    assert "measured, mean age 4: 10 points" in draw_recency(run_recency(length=16, trials=2)).digest()
    assert "delta, quiet: 2 points" in draw_updates(run_updates(updates=[0, 16], trials=2)).digest()
