"""What the exponential adds, what stands in for it, and which animal attention is."""

import math

import numpy as np
import pytest

from pavlov_lib import theory
from pavlov_lib.attention import linear_attention, softmax_attention
from pavlov_lib.experiments import (
    ANIMALS,
    run_exponential,
    run_feature_maps,
    run_overlap,
    run_scoreboard,
    run_sharpness,
)
from pavlov_lib.figures import (
    draw_exponential,
    draw_feature_maps,
    draw_overlap,
    draw_scoreboard,
    draw_sharpness,
)
from pavlov_lib.protocols import LIMITS
from pavlov_lib.stimuli import unit_vectors


def test_softmax_is_linear_attention_with_centred_matches_to_first_order():
    rng = np.random.default_rng(0)
    keys, values, queries = unit_vectors(rng, 30, 8), unit_vectors(rng, 30, 5), unit_vectors(rng, 7, 8)
    matches = queries @ keys.T
    centred = (matches - matches.mean(1, keepdims=True)) @ values / 30
    for beta in (1e-3, 1e-4):
        rest = (softmax_attention(keys, values, queries, causal=False, scale=beta) - values.mean(0)) / beta
        assert np.abs(rest - centred).max() < beta  # the second order, with matches below 1


def test_softmax_ignores_what_all_keys_share_and_linear_attention_does_not():
    rng = np.random.default_rng(1)
    keys, values, queries = unit_vectors(rng, 20, 8), unit_vectors(rng, 20, 5), unit_vectors(rng, 6, 8)
    moved = keys + unit_vectors(rng, 8)
    how = {"causal": False, "scale": 5.0}
    np.testing.assert_allclose(
        softmax_attention(moved, values, queries, **how), softmax_attention(keys, values, queries, **how), atol=1e-12
    )
    linear = [linear_attention(k, values, queries, causal=False) for k in (keys, moved)]
    assert np.abs(linear[0] - linear[1]).max() > 0.1


def test_softmax_noise_is_the_mean_over_random_keys():
    rng = np.random.default_rng(2)
    for beta, d in ((1.0, 8), (3.0, 16)):
        x = unit_vectors(rng, 400_000, d)[:, 0]
        samples = np.exp(2 * beta * (x - 0.8))
        error = 4 * samples.std() / math.sqrt(len(samples))
        assert theory.softmax_noise(beta, d, 0.8) == pytest.approx(samples.mean(), abs=error)


def test_softmax_noise_of_a_dull_memory_is_one_and_falls_with_sharpness():
    noise = [theory.softmax_noise(beta, 32) for beta in (1e-9, 1.0, 4.0, 16.0)]
    assert noise[0] == pytest.approx(1, abs=1e-6)
    assert noise == sorted(noise, reverse=True)


def test_nearest_key_capacity_is_where_another_key_is_nearer_once_in_ten():
    rng = np.random.default_rng(3)
    n = round(theory.nearest_key_capacity(8, 0.7, 0.1))
    nearer = (unit_vectors(rng, 20_000, n - 1, 8)[..., 0] > 0.7).any(-1)
    assert nearer.mean() == pytest.approx(0.1, abs=0.025)  # four standard errors, and n is a small whole number


def test_fidelity_follows_its_formula_where_many_neighbours_share_the_spill():
    table = run_sharpness(betas=[2.0, 4.0], counts=[8, 64, 512], questions=1000)
    # approximate: a mean of quotients against a quotient of means, within two hundredths in 16 dimensions
    assert ((table.fidelity - table.predicted).abs() < 4 * table.fidelity_se + 0.02).all()


def test_sharper_memories_err_less():
    table = run_sharpness(betas=[2.0, 8.0], counts=[256], questions=1000)
    assert table.error_rate.tolist() == sorted(table.error_rate, reverse=True)
    assert table.error_rate[0] > 0.8 > 0.1 > table.error_rate[2]


def test_capacity_is_exponential_for_softmax_and_not_for_linear_attention():
    table = run_exponential(dims=[6, 12], betas=[64.0], questions=1500).set_index(["memory", "d_k"])
    grown = {memory: table.capacity[memory, 12] / table.capacity[memory, 6] for memory in ("linear", "softmax")}
    assert grown["softmax"] == pytest.approx(table.nearest["softmax", 12] / table.nearest["softmax", 6], rel=0.35)
    assert grown["linear"] < 4  # 2² times as many at twice the dimension; the exponential gives 26 times


def test_random_features_are_as_wrong_as_predicted_and_approach_softmax():
    table = run_feature_maps(betas=[0.5], features=[64, 4096], trials=30).set_index(["feature_map", "features"])
    for m in (64, 4096):
        row = table.loc[("random features", m)]
        assert row.weight_error == pytest.approx(row.predicted_error, rel=0.15)  # heavy tails, even at β = 1/2
    gap = [table.fidelity["softmax", 0] - table.fidelity["random features", m] for m in (64, 4096)]
    assert gap[0] > 3 * abs(gap[1])


def test_a_shared_direction_does_what_the_formulas_say():
    table = run_overlap(overlaps=[0.0, 0.3, 0.8], trials=20)
    known = table[table.memory != "delta"]
    assert ((known.fidelity - known.predicted).abs() < 4 * known.fidelity_se + 0.01).all()
    at = table.set_index(["memory", "overlap"]).fidelity
    assert at["linear, keys centred", 0.8] > 0.65 > 0.2 > at["linear", 0.8]
    assert at["softmax, sharper", 0.8] > 0.95 > 0.6 > at["softmax", 0.8]


def test_the_laboratory_tells_three_animals_apart():
    table = run_scoreboard().set_index(["animal", "phenomenon"]).shown
    shown = {animal: {name for name, yes in table[animal].items() if yes} for animal in ANIMALS}
    assert shown["linear attention"] == {"acquisition", "generalisation"}
    assert shown["delta rule"] == {
        "acquisition", "generalisation", "extinction", "discrimination", "overshadowing", "blocking", "overexpectation",
        "conditioned inhibition",
    }  # fmt: skip
    assert not shown["delta rule"] & {limit.name for limit in LIMITS}
    assert shown["softmax attention"] == {
        "acquisition", "extinction", "discrimination", "latent inhibition", "negative patterning",
    }  # fmt: skip


def test_softmax_answers_with_the_share_of_fed_trials():
    effects = run_scoreboard(["softmax attention"]).set_index("phenomenon").effect
    assert effects["extinction"] == pytest.approx(0.5)  # 20 fed of 20, then 20 of 40
    assert effects["latent inhibition"] == pytest.approx(1 - 3 / 23)


def test_results_repeat_with_their_seed():
    for run in (
        lambda seed: run_sharpness(counts=[4], questions=128, seed=seed),
        lambda seed: run_exponential(dims=[4], betas=[8.0], questions=128, seed=seed),
        lambda seed: run_feature_maps(betas=[1.0], features=[8], trials=2, seed=seed),
        lambda seed: run_overlap(["linear"], [0.2], trials=2, seed=seed),
    ):
        assert run(1).equals(run(1))
        assert not run(1).equals(run(2))


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (lambda: run_sharpness(betas=[0.0]), "each of betas"),
        (lambda: run_sharpness(counts=[1]), "each of counts"),
        (lambda: run_sharpness(key_dim=2), "key_dim"),
        (lambda: run_sharpness(similarity=0.0), "similarity"),
        (lambda: run_sharpness(questions=127), "questions"),
        (lambda: run_exponential(dims=[2]), "each of dims"),
        (lambda: run_exponential(similarity=1.0), "below 1"),
        (lambda: run_exponential(tolerance=0.6), "tolerance"),
        (lambda: run_exponential(dims=[10], betas=[64.0], questions=128, most=8), "every memory fails"),
        (lambda: run_feature_maps(features=[]), "features"),
        (lambda: run_feature_maps(pairs=1), "pairs"),
        (lambda: run_overlap(memories=["other"]), "each of memories"),
        (lambda: run_overlap(overlaps=[1.0]), "overlaps"),
        (lambda: run_overlap(overlaps=[]), "overlaps"),
        (lambda: run_overlap(beta=0.0), "beta"),
        (lambda: run_scoreboard(animals=["dog"]), "each of animals"),
        (lambda: run_scoreboard(rate=0.0), "rate"),
        (lambda: theory.softmax_noise(1.0, 2), "d_k"),
        (lambda: theory.nearest_key_capacity(8, 1.0, 0.1), "below 1"),
        (lambda: theory.nearest_key_capacity(8, 0.5, 0.0), "tolerance"),
    ],
)
def test_bad_input_is_refused(run, message):
    with pytest.raises(ValueError, match=message):
        run()


def test_the_figures_draw_their_tables():
    sharpness = run_sharpness(counts=[4, 8], questions=128)
    for show in ("fidelity", "error_rate"):
        assert "softmax, β = 16: 2 points" in draw_sharpness(sharpness, show=show).digest()
    with pytest.raises(ValueError, match="show must be one of"):
        draw_sharpness(sharpness, show="other")
    assert "linear: 2 points" in draw_exponential(run_exponential(dims=[4, 5], questions=128)).digest()
    maps = run_feature_maps(betas=[1.0], features=[8, 16], trials=2)
    assert "random features, β = 1: 2 points" in draw_feature_maps(maps).digest()
    assert "delta: 2 points" in draw_overlap(run_overlap(overlaps=[0.1, 0.2], trials=2)).digest()
    assert "shown: 15 points" in draw_scoreboard(run_scoreboard()).digest()
