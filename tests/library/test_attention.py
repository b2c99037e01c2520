"""Attention in parallel form, against the conditioning circuit, torch's own attention and a public implementation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from peers import naive_module

from pavlov_lib import RULES
from pavlov_lib.attention import elu_plus_one, identity, linear_attention, random_features, softmax_attention

EXACT = 1e-13  # some hundred products added in another order, each rounding 1e-16 relative
FLOAT32 = 2e-6  # the same where one rounding is 6e-8
quick = settings(max_examples=40, deadline=None, derandomize=True)


def tokens(seed, *, steps=70, key_dim=6, value_dim=4, lead=(2,)):
    rng = np.random.default_rng(seed)
    sizes = (key_dim, value_dim, key_dim)
    return tuple(rng.standard_normal((*lead, steps, d)) / np.sqrt(d) for d in sizes)


def assert_close(got, expected, tolerance=EXACT):
    np.testing.assert_allclose(got, expected, atol=tolerance * np.abs(np.asarray(expected)).max(), rtol=0)


# --- claim C5: the conditioning circuit is linear attention


@quick
@given(seed=st.integers(0, 2**32 - 1), steps=st.integers(1, 100), form=st.sampled_from(["scan", "scan_parallel"]))
def test_the_hebbian_circuit_is_causal_linear_attention(seed, steps, form):
    arrays = tokens(seed, steps=steps)
    reads, _ = getattr(RULES["hebbian"], form)(*arrays)
    assert_close(reads, linear_attention(*arrays))


@pytest.mark.parametrize("phi", [identity, elu_plus_one, random_features(6, 16, np.random.default_rng(0))])
def test_the_circuit_with_a_feature_map_is_linear_attention_with_that_map(phi):
    keys, values, queries = tokens(1)
    reads, _ = RULES["hebbian"].scan(phi(keys), values, phi(queries))
    assert_close(reads, linear_attention(keys, values, queries, feature_map=phi))


def test_the_circuit_that_also_learns_a_constant_food_is_normalized_linear_attention():
    keys, values, queries = (elu_plus_one(x) if i != 1 else x for i, x in enumerate(tokens(2)))
    with_one = np.concatenate([values, np.ones_like(values[..., :1])], -1)  # the extra response counts the weights
    reads, _ = RULES["hebbian"].scan(keys, with_one, queries)
    assert_close(reads[..., :-1] / reads[..., -1:], linear_attention(keys, values, queries, normalize=True))


def test_without_the_mask_every_query_reads_the_final_memory():
    keys, values, queries = tokens(3)
    _, state = RULES["hebbian"].scan(keys, values, queries)
    assert_close(linear_attention(keys, values, queries[:, :3], causal=False), queries[:, :3] @ state.mT)


@pytest.mark.parametrize("attention", [softmax_attention, linear_attention])
def test_the_future_does_not_change_the_past(attention):
    keys, values, queries = tokens(4)
    before = attention(keys, values, queries)
    for x in (keys, values, queries):
        x[:, 40:] = 7.0
    np.testing.assert_array_equal(attention(keys, values, queries)[:, :40], before[:, :40])


# --- softmax


def test_softmax_weights_worked_out_by_hand():
    keys, values = np.array([[0.0], [np.log(3.0)]]), np.array([[1.0], [5.0]])
    reads = softmax_attention(keys, values, np.ones((2, 1)), scale=1.0)
    np.testing.assert_allclose(reads, [[1.0], [4.0]], rtol=EXACT)  # weights 1, then (1/4, 3/4)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("scale", [None, 0.3, 20.0])
def test_softmax_attention_is_torch_scaled_dot_product_attention(causal, scale):
    torch = pytest.importorskip("torch", reason="torch is an extra")
    arrays = tokens(5)
    keys, values, queries = (torch.tensor(x, requires_grad=True) for x in arrays)
    expected = torch.nn.functional.scaled_dot_product_attention(queries, keys, values, is_causal=causal, scale=scale)
    got = softmax_attention(keys, values, queries, causal=causal, scale=scale)
    assert_close(got.detach(), expected.detach())
    assert_close(softmax_attention(*arrays, causal=causal, scale=scale), expected.detach())
    weights = torch.from_numpy(np.random.default_rng(0).standard_normal(expected.shape))
    for x, y in zip(
        torch.autograd.grad((got * weights).sum(), (keys, values, queries)),
        torch.autograd.grad((expected * weights).sum(), (keys, values, queries)),
        strict=True,
    ):
        assert_close(x, y)


def test_a_sharp_softmax_recalls_the_nearest_stimulus():
    bells, foods = np.eye(4), np.arange(4.0)[:, None]
    np.testing.assert_allclose(softmax_attention(bells, foods, bells, causal=False, scale=100.0), foods, atol=1e-12)


def test_softmax_does_not_overflow_on_large_matches():
    keys, values = np.full((2, 1), 1e3), np.array([[1.0], [3.0]])
    np.testing.assert_allclose(softmax_attention(keys, values, keys), [[1.0], [2.0]], rtol=EXACT)


# --- feature maps


def test_random_features_approach_softmax_attention_at_the_rate_of_one_over_the_root_of_their_number():
    arrays = tokens(6, steps=20, lead=())
    expected = softmax_attention(*arrays)
    errors = []
    for m in (64, 4096):
        maps = [random_features(6, m, np.random.default_rng(seed)) for seed in range(20)]
        reads = [linear_attention(*arrays, feature_map=phi, normalize=True) for phi in maps]
        errors.append(np.sqrt(np.mean((np.array(reads) - expected) ** 2)))
    # 64 times as many features: an error 8 times smaller; 20 draws fix the ratio to some 20 %
    assert 6 < errors[0] / errors[1] < 11


def test_random_feature_matches_have_the_mean_of_the_exponential():
    rng = np.random.default_rng(7)
    key, query = rng.standard_normal((2, 4)) / 2
    phi = random_features(4, 400_000, rng, scale=1.0)
    matches = 400_000 * phi(key) * phi(query)
    error = matches.std() / np.sqrt(len(matches))
    assert abs(matches.mean() - np.exp(key @ query)) < 4 * error  # four standard errors; the seed is fixed


def test_elu_plus_one_is_continuous_positive_and_does_not_overflow():
    x = np.array([-1.0, -1e-9, 0.0, 1e-9, 1.0, 1e300])
    np.testing.assert_allclose(elu_plus_one(x), [np.exp(-1), 1 - 1e-9, 1, 1 + 1e-9, 2, 1e300], rtol=EXACT)


@pytest.mark.parametrize("phi", [elu_plus_one, random_features(6, 16, np.random.default_rng(0))])
def test_feature_maps_give_the_same_numbers_in_torch_with_gradient_and_on_meta(phi):
    torch = pytest.importorskip("torch", reason="torch is an extra")
    x, _, _ = tokens(8)
    tensor = torch.tensor(x, requires_grad=True)
    assert_close(phi(tensor).detach(), phi(x))
    assert torch.autograd.gradcheck(phi, (tensor[:, :2].detach().requires_grad_(),))
    assert phi(tensor.to("meta")).is_meta
    assert phi(tensor.float()).dtype == torch.float32


@pytest.mark.parametrize("attention", [softmax_attention, linear_attention])
def test_attention_on_meta_touches_no_number(attention):
    torch = pytest.importorskip("torch", reason="torch is an extra")
    arrays = [torch.empty(2, 9, d, device="meta", requires_grad=True) for d in (6, 4, 6)]
    reads = attention(*arrays)
    reads.sum().backward()
    assert reads.is_meta and reads.shape == (2, 9, 4) and all(x.grad.is_meta for x in arrays)


# --- a public implementation: the naive forms of flash-linear-attention, which compute in float32


def peer_arrays(seed):
    torch = pytest.importorskip("torch", reason="torch is an extra")
    return torch, [torch.tensor(x, dtype=torch.float32) for x in tokens(seed, steps=128, lead=(2, 3))]


def test_linear_attention_and_the_hebbian_circuit_are_those_of_a_public_implementation():
    _, (keys, values, queries) = peer_arrays(9)
    peer = naive_module("linear_attn")
    by_time = [x.transpose(1, 2) for x in (queries, keys, values)]  # it takes (batch, time, head, size)
    expected, memory = peer.naive_recurrent_linear_attn(*by_time, scale=1.0, output_final_state=True)
    reads, state = RULES["hebbian"].scan_parallel(keys, values, queries)
    assert_close(reads, expected.transpose(1, 2), FLOAT32)
    assert_close(linear_attention(keys, values, queries), expected.transpose(1, 2), FLOAT32)
    assert_close(state, memory.mT, FLOAT32)


def test_the_hebbian_circuit_with_decay_is_that_of_a_public_implementation():
    torch, (keys, values, queries) = peer_arrays(10)
    decay = torch.rand(2, 3, 128, generator=torch.Generator().manual_seed(0)) * 0.5 + 0.5
    peer = naive_module("simple_gla")
    by_time = [x.transpose(1, 2) for x in (queries, keys, values)]
    expected, memory = peer.naive_recurrent_simple_gla(*by_time, decay.log().transpose(1, 2), scale=1.0)
    reads, state = RULES["hebbian"].scan_parallel(keys, values, queries, decay=decay)
    assert_close(reads, expected.transpose(1, 2), FLOAT32)
    assert_close(state, memory.mT, FLOAT32)


def test_the_delta_circuit_is_that_of_a_public_implementation():
    torch, (keys, values, queries) = peer_arrays(11)
    keys = torch.nn.functional.normalize(keys, dim=-1)
    rate = torch.rand(2, 3, 128, generator=torch.Generator().manual_seed(0))
    peer = naive_module("delta_rule")
    root = queries.shape[-1] ** 0.5  # it divides queries by √k
    expected, memory = peer.delta_rule_recurrence(queries * root, keys, values, rate)
    reads, state = RULES["delta"].scan_parallel(keys, values, queries, rate=rate)
    assert_close(reads, expected, FLOAT32)
    assert_close(state, memory.mT, FLOAT32)


# --- refusals


@pytest.mark.parametrize("attention", [softmax_attention, linear_attention])
@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((5, 3), (4, 2), (5, 3)), r"values must have shape \(\.\.\., t, v\) = \(5, 2\); got \(4, 2\)"),
        (((5, 3), (5, 2), (4, 3)), r"queries must have shape \(\.\.\., t, k\) = \(5, 3\); got \(4, 3\)"),
        (((5, 3), (5, 2), (5, 4)), r"queries must have shape \(\.\.\., t, k\) = \(5, 3\); got \(5, 4\)"),
        (((2, 5, 3), (5, 2), (2, 5, 3)), r"values must have shape"),
        (((3,), (5, 2), (5, 3)), r"keys must have shape \(\.\.\., t, k\); got shape \(3,\)"),
        (((0, 3), (0, 2), (0, 3)), r"keys must hold at least one number; got shape \(0, 3\)"),
    ],
)
def test_attention_refuses_shapes_that_do_not_fit(attention, shapes, message):
    with pytest.raises(ValueError, match=message):
        attention(*(np.ones(shape) for shape in shapes))


def test_attention_refuses_settings_and_numbers_that_do_not_fit():
    keys, values, queries = tokens(12)
    for scale in (0, -1.0, np.nan, "1"):
        with pytest.raises(ValueError, match="scale must be a number"):
            softmax_attention(keys, values, queries, scale=scale)
    with pytest.raises(ValueError, match="feature_map must be callable; got str"):
        linear_attention(keys, values, queries, feature_map="elu")
    with pytest.raises(ValueError, match=r"feature_map\(keys\) must have shape"):
        linear_attention(keys, values, queries, feature_map=lambda x: x[..., :2, :])
    with pytest.raises(ValueError, match=r"x must have shape \(\.\.\., k\) with k = 5; got \(2, 70, 6\)"):
        linear_attention(keys, values, queries, feature_map=random_features(5, 8, np.random.default_rng(0)))
    with pytest.raises(ValueError, match="keys must be float32 or float64; got int64"):
        linear_attention(keys.astype(int), values, queries)
    with pytest.raises(ValueError, match=r"rng must be a numpy\.random\.Generator; got int"):
        random_features(5, 8, 0)
    keys[0, 0, 0] = np.nan
    for attention in (softmax_attention, linear_attention):
        with pytest.raises(ValueError, match="keys must be finite"):
            attention(keys, values, queries)


def test_weights_that_add_up_to_zero_cannot_be_normalized():
    bells = np.array([[1.0], [-1.0]])
    with pytest.raises(FloatingPointError, match="add up to zero"):
        linear_attention(bells, np.ones((2, 1)), bells, normalize=True)
