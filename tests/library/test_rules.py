"""The learning rules keep their laws: values worked out by hand, then properties on drawn stimuli."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pavlov_lib import RULES, Rule, read

HEBBIAN, DELTA, OJA = (RULES[name] for name in ("hebbian", "delta", "oja"))
ROUNDING = 1e-12  # a few hundred roundings of float64, each 1e-16 relative, on numbers near one
quick = settings(max_examples=40, deadline=None, derandomize=True)


def stimuli(seed, *, steps=12, key_dim=5, value_dim=3, lead=()):
    """Unit keys, values and unit queries, (..., t, ·), from a seed."""
    rng = np.random.default_rng(seed)
    keys, queries = (_unit(rng.standard_normal((*lead, steps, key_dim))) for _ in range(2))
    return keys, rng.standard_normal((*lead, steps, value_dim)), queries


def _unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


@pytest.fixture(params=["numpy", "torch"])
def array(request):
    """Make an array of either kind."""
    if request.param == "numpy":
        return np.array
    torch = pytest.importorskip("torch", reason="torch is an extra")
    return lambda x: torch.tensor(x, dtype=torch.float64)


def test_there_are_three_rules_and_each_knows_its_name():
    assert list(RULES) == ["hebbian", "delta", "oja"]
    assert all(isinstance(rule, Rule) and rule.name == name for name, rule in RULES.items())


# --- golden values, worked out by hand with S = [[1, 2], [0, 1]], k = (1, 2), v = (1, 3), η = 1/2


GOLDEN = {
    # S + η v kᵀ
    "hebbian": [[1.5, 3.0], [1.5, 4.0]],
    # S k = (5, 2), error (−4, 1), S + ½ error kᵀ
    "delta": [[-1.0, -2.0], [0.5, 2.0]],
    # rows keep 1 − ½·1 = ½ and 1 − ½·9 = −7/2
    "oja": [[1.0, 2.0], [1.5, -0.5]],
}


@pytest.mark.parametrize("name", RULES)
def test_one_write_gives_the_numbers_worked_out_by_hand(name, array):
    state, key, value = array([[1.0, 2.0], [0.0, 1.0]]), array([1.0, 2.0]), array([1.0, 3.0])
    got = RULES[name].write(state, key, value, rate=0.5)
    assert got.tolist() == GOLDEN[name]  # every number is a short binary fraction: no tolerance


def test_hebbian_decay_scales_the_old_state_only(array):
    state, key, value = array([[1.0, 2.0], [0.0, 1.0]]), array([1.0, 2.0]), array([1.0, 3.0])
    got = HEBBIAN.write(state, key, value, rate=0.5, decay=0.25)
    assert got.tolist() == [[0.75, 1.5], [1.5, 3.25]]


def test_read_is_the_matrix_times_the_test_stimulus(array):
    assert read(array([[1.0, 2.0], [0.0, 1.0]]), array([1.0, 2.0])).tolist() == [5.0, 2.0]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("hebbian", [0.5, 1.0, 1.0, 1.0]),  # food twice, then no food: the response stays (C15)
        ("delta", [0.5, 0.75, 0.375, 0.1875]),  # the error halves, then extinction halves the response (C16)
        ("oja", [0.5, 0.75, 0.75, 0.75]),  # no activity, no forgetting
    ],
)
def test_acquisition_then_extinction_with_one_bell(name, expected, array):
    bell, food = array([[1.0]] * 4), array([[1.0], [1.0], [0.0], [0.0]])
    reads, state = RULES[name].scan(bell, food, bell, rate=0.5)
    assert reads.ravel().tolist() == expected
    assert state.tolist() == [[expected[-1]]]


def test_a_read_comes_after_the_write_of_the_same_step(array):
    reads, _ = HEBBIAN.scan(array([[1.0, 0.0]]), array([[7.0]]), array([[1.0, 0.0]]))
    assert reads.tolist() == [[7.0]]


# --- laws


@quick
@given(seed=st.integers(0, 2**32 - 1), size=st.floats(0.1, 10))
def test_delta_recalls_the_last_pair_exactly_where_rate_times_squared_norm_is_one(seed, size):
    keys, values, _ = stimuli(seed)
    keys = keys * size
    reads, _ = DELTA.scan(keys, values, keys, rate=1 / size**2)
    np.testing.assert_allclose(reads, values, atol=ROUNDING)


@quick
@given(seed=st.integers(0, 2**32 - 1), rate=st.floats(0.01, 1.99))
def test_delta_never_moves_away_from_the_pair_it_writes_below_the_stability_limit(seed, rate):
    keys, values, _ = stimuli(seed)
    state = np.random.default_rng(seed).standard_normal((values.shape[-1], keys.shape[-1]))
    before = np.linalg.norm(values[0] - read(state, keys[0]))
    after = np.linalg.norm(values[0] - read(DELTA.write(state, keys[0], values[0], rate=rate), keys[0]))
    assert after == pytest.approx(abs(1 - rate) * before, abs=ROUNDING)


@quick
@given(seed=st.integers(0, 2**32 - 1), rate=st.floats(0.01, 1.99))
def test_delta_leaves_orthogonal_bells_alone(seed, rate):
    rng = np.random.default_rng(seed)
    first, second = np.linalg.qr(rng.standard_normal((5, 2)))[0].T
    state, value = rng.standard_normal((3, 5)), rng.standard_normal(3)
    np.testing.assert_allclose(
        read(DELTA.write(state, first, value, rate=rate), second), read(state, second), atol=ROUNDING
    )


@quick
@given(seed=st.integers(0, 2**32 - 1))
def test_oja_keeps_each_row_within_the_longest_bell_over_the_smallest_response(seed):
    # with v_i = ±1 and η ≤ 1, a row is a weighted mean of ± the keys: never longer than a key
    keys, values, queries = stimuli(seed, steps=200)
    rate = np.random.default_rng(seed).uniform(0.01, 1)
    _, state = OJA.scan(keys, np.sign(values), queries, rate=rate)
    assert np.linalg.norm(state, axis=-1).max() <= 1 + ROUNDING


def test_hebbian_norm_grows_with_time_and_oja_norm_does_not():
    keys, values, queries = (np.tile(x, (100, 1)) for x in (np.eye(1, 5), np.ones((1, 3)), np.eye(1, 5)))
    for rule, expected in ((HEBBIAN, 10.0), (OJA, 1 - 0.9**100)):
        _, state = rule.scan(keys, values, queries, rate=0.1)
        assert state[0, 0] == pytest.approx(expected, rel=ROUNDING)


@quick
@given(seed=st.integers(0, 2**32 - 1))
def test_hebbian_is_causal_linear_attention(seed):
    keys, values, queries = stimuli(seed, lead=(2,))
    reads, _ = HEBBIAN.scan(keys, values, queries)
    np.testing.assert_allclose(reads, np.tril(queries @ keys.mT) @ values, atol=ROUNDING)


def test_hebbian_with_decay_one_is_hebbian_without_decay():
    keys, values, queries = stimuli(0)
    for form in (HEBBIAN.scan, HEBBIAN.scan_parallel):
        plain, _ = form(keys, values, queries)
        np.testing.assert_allclose(form(keys, values, queries, decay=1.0)[0], plain, rtol=0, atol=0)
        np.testing.assert_allclose(form(keys, values, queries, decay=np.ones(12))[0], plain, atol=ROUNDING)


def test_hebbian_forgets_by_the_decay_to_the_power_of_the_age():
    keys, values, queries = stimuli(0)
    reads, _ = HEBBIAN.scan(keys, values, queries, decay=0.8)
    age = np.arange(12)[:, None] - np.arange(12)
    np.testing.assert_allclose(reads, np.tril(queries @ keys.T * 0.8**age) @ values, atol=ROUNDING)


@quick
@given(seed=st.integers(0, 2**32 - 1), rate=st.floats(0.01, 0.5))
def test_subspace_oja_is_the_delta_rule_of_the_transposed_memory(seed, rate):
    keys, values, _ = stimuli(seed)
    values = _unit(values)
    state = np.zeros((3, 5))
    for k, v in zip(keys, values, strict=True):
        state = state + rate * np.outer(v, k - state.T @ v)  # S + η v (k − Sᵀ v)ᵀ
    _, transposed = DELTA.scan(values, keys, values, rate=rate)
    np.testing.assert_allclose(state, transposed.T, atol=ROUNDING)


@pytest.mark.parametrize("name", RULES)
def test_writing_nothing_changes_nothing(name):
    state = np.random.default_rng(0).standard_normal((3, 5))
    keys, values, _ = stimuli(0)
    np.testing.assert_array_equal(RULES[name].write(state, keys[0], values[0], rate=0.0), state)


@pytest.mark.parametrize("name", RULES)
def test_a_scan_is_a_write_and_a_read_at_every_step(name):
    keys, values, queries = stimuli(1, lead=(2,))
    state = np.random.default_rng(1).standard_normal((2, 3, 5))
    reads, last = RULES[name].scan(keys, values, queries, state=state, rate=0.3)
    for t in range(keys.shape[-2]):
        state = RULES[name].write(state, keys[:, t], values[:, t], rate=0.3)
        np.testing.assert_array_equal(reads[:, t], read(state, queries[:, t]))
    np.testing.assert_array_equal(last, state)


@pytest.mark.parametrize("form", ["scan", "scan_parallel"])
@pytest.mark.parametrize("name", RULES)
def test_segment_by_segment_with_the_state_carried_equals_one_pass(name, form):
    keys, values, queries = stimuli(2, steps=100)
    rate = np.random.default_rng(2).uniform(0, 0.3, 100)
    scan = getattr(RULES[name], form)
    whole, last = scan(keys, values, queries, rate=rate)
    state, parts = None, []
    for a, b in ((0, 1), (1, 37), (37, 100)):
        reads, state = scan(keys[a:b], values[a:b], queries[a:b], state=state, rate=rate[a:b])
        parts.append(reads)
    np.testing.assert_allclose(np.concatenate(parts), whole, atol=ROUNDING)
    np.testing.assert_allclose(state, last, atol=ROUNDING)


@pytest.mark.parametrize("form", ["scan", "scan_parallel"])
@pytest.mark.parametrize("name", RULES)
def test_each_head_learns_on_its_own(name, form):
    keys, values, queries = stimuli(3, lead=(2, 3), steps=20)
    rate = np.random.default_rng(3).uniform(0, 0.3, (2, 3, 20))
    scan = getattr(RULES[name], form)
    reads, state = scan(keys, values, queries, rate=rate)
    alone, own = scan(keys[1, 2], values[1, 2], queries[1, 2], rate=rate[1, 2])
    np.testing.assert_allclose(reads[1, 2], alone, atol=ROUNDING)
    np.testing.assert_allclose(state[1, 2], own, atol=ROUNDING)


@pytest.mark.parametrize("name", RULES)
def test_inputs_are_never_modified(name, array):
    keys, values, queries = (array(x) for x in stimuli(4, steps=70))
    state, rate = array(np.ones((3, 5))), array(np.full(70, 0.1))
    given = (keys, values, queries, state, rate)
    copies = [array(x.tolist()) for x in given]
    rule = RULES[name]
    rule.write(state, keys[0], values[0], rate=0.1)
    read(state, keys[0])
    for form in (rule.scan, rule.scan_parallel):
        form(keys, values, queries, state=state, rate=rate)
    for x, copy in zip(given, copies, strict=True):
        assert (x == copy).all()


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_the_kind_and_dtype_that_go_in_come_out(name, dtype, kind):
    xp = np if kind == "numpy" else pytest.importorskip("torch", reason="torch is an extra")
    keys, values, queries = (xp.asarray(x, dtype=getattr(xp, dtype)) for x in stimuli(5, steps=70))
    rule = RULES[name]
    results = [rule.write(xp.zeros((3, 5), dtype=keys.dtype), keys[0], values[0], rate=0.1)]
    for form in (rule.scan, rule.scan_parallel):
        results += form(keys, values, queries, rate=0.1)
    for x in results:
        assert type(x) is type(keys) and x.dtype == keys.dtype


# --- at and past the stability limits


def test_delta_at_the_stability_limit_swings_forever_and_neither_grows_nor_shrinks():
    bell, food = np.ones((200, 1)), np.ones((200, 1))
    reads, _ = DELTA.scan(bell, food, bell, rate=2.0)
    assert reads.ravel().tolist() == [2.0, 0.0] * 100


def test_oja_at_the_stability_limit_swings_forever_and_neither_grows_nor_shrinks():
    bell, food = np.ones((200, 1)), np.ones((200, 1))
    reads, _ = OJA.scan(bell, food, bell, rate=2.0)
    assert reads.ravel().tolist() == [2.0, 0.0] * 100


OUTGROWN = {
    # past η‖k‖² = 2 and η v² = 2 the error is multiplied by −2 at each of 2,000 steps: 2^2000 is past float64
    "delta": (np.ones((2000, 1)), np.ones((2000, 1)), 3.0, "η‖k‖² < 2"),
    "oja": (np.ones((2000, 1)), np.ones((2000, 1)), 3.0, "η v_i² ≤ 2"),
    "hebbian": (np.full((200, 1), 1e154), np.full((200, 1), 1e154), 1.0, "decay below 1"),
}


@pytest.mark.parametrize("form", ["scan", "scan_parallel"])
@pytest.mark.parametrize("name", RULES)
def test_numbers_that_outgrow_the_dtype_are_an_error_that_names_the_limit(name, form, array):
    keys, values, rate, limit = OUTGROWN[name]
    keys, values = array(keys), array(values)
    with pytest.raises(FloatingPointError, match=limit):
        getattr(RULES[name], form)(keys, values, keys, rate=rate)


@pytest.mark.parametrize("name", RULES)
def test_one_write_that_outgrows_the_dtype_is_an_error_that_names_the_limit(name, array):
    state, key, value = array([[1e308]]), array([1e154]), array([1e155])
    with pytest.raises(FloatingPointError, match=OUTGROWN[name][3]):
        RULES[name].write(state, key, value)


def test_a_read_that_outgrows_the_dtype_is_an_error(array):
    with pytest.raises(FloatingPointError, match="outgrew float64"):
        read(array([[1e200]]), array([1e200]))


def test_large_numbers_whose_sum_overflows_are_still_an_answer(array):
    keys = array([[1.0], [1.0]])
    values = array([[1.5e308], [0.0]])  # reads 1.5e308 twice: each is finite, their sum is not
    reads, state = HEBBIAN.scan(keys, values, keys)
    assert reads.ravel().tolist() == [1.5e308, 1.5e308] and state.tolist() == [[1.5e308]]
