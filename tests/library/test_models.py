"""Stacks of memory layers: one sequence, one result, however it is cut, stepped, compiled or placed."""

import copy
import dataclasses
import pickle

import pytest

torch = pytest.importorskip("torch", reason="torch is an extra: models need it")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from pavlov_lib import RULES  # noqa: E402
from pavlov_lib.models import STACK_RULES, Block, MemoryLayer, Stack, StackConfig, count_parameters  # noqa: E402

ROUNDING = 1e-12  # a few thousand roundings of float64, each 1e-16 relative, on logits of order one
SINGLE = 2e-5  # the same in float32, 1e-7 each
SMALL = {"layers": 2, "heads": 2, "key_dim": 4, "value_dim": 6, "vocab": 11, "chunk": 8}
DEVICES = [
    pytest.param(
        "cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device on this machine")
    ),
    pytest.param(
        "mps", marks=pytest.mark.skipif(not torch.backends.mps.is_available(), reason="no MPS device on this machine")
    ),
]
every_rule = pytest.mark.parametrize("rule", STACK_RULES)


def tokens(*shape, vocab=11, seed=0):
    return torch.randint(vocab, shape, generator=torch.Generator().manual_seed(seed))


def trained_like(stack, seed=1, scale=0.3):
    """Shake all weights, so that nothing is zero or one by initialisation only."""
    rng = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in stack.parameters():
            weight.add_((scale * torch.randn(weight.shape, generator=rng)).to(weight))
    return stack


def double(rule="delta", **settings):
    return trained_like(Stack(StackConfig(rule=rule, **(SMALL | settings)), dtype=torch.float64))


def worst(a, b):
    return (a - b).abs().max().item()


# ------------------------------------------------------------------------------- one sequence, one result


@every_rule
@pytest.mark.parametrize("taps", [1, 2, 4])
def test_a_sequence_read_in_pieces_gives_what_it_gives_in_one(rule, taps):
    stack, x = double(rule, taps=taps), tokens(3, 29)
    whole, end = stack(x)
    for cuts in ([1, 28], [10, 19], [1, 1, 5, 22], [2] * 14 + [1]):
        state, parts = None, []
        for piece in x.split(cuts, 1):
            logits, state = stack(piece, state)
            parts.append(logits)
        assert worst(torch.cat(parts, 1), whole) < ROUNDING
        for layer, expected in zip(state, end, strict=True):
            assert worst(layer.memory, expected.memory) < ROUNDING
            assert worst(layer.recent, expected.recent) < ROUNDING if taps > 1 else layer.recent.numel() == 0


@every_rule
@pytest.mark.parametrize("taps", [1, 2, 4])
def test_decoding_step_by_step_gives_what_the_whole_pass_gives(rule, taps):
    stack, x = double(rule, taps=taps), tokens(3, 29)
    whole, _ = stack(x)
    state, steps = None, []
    for token in x.unbind(1):
        logits, state = stack.step(token, state)
        steps.append(logits)
    assert worst(torch.stack(steps, 1), whole) < ROUNDING


def test_decoding_may_follow_a_prompt_read_in_parallel():
    stack, x = double(), tokens(2, 20)
    whole, _ = stack(x)
    _, state = stack(x[:, :19])
    assert worst(stack.step(x[:, 19], state)[0], whole[:, 19]) < ROUNDING


@every_rule
def test_decoding_needs_the_same_memory_after_many_tokens_as_after_one(rule):
    stack, state, sizes = Stack(StackConfig(rule=rule, **SMALL)), None, []
    with torch.no_grad():
        for token in tokens(1, 150).unbind(1):
            _, state = stack.step(token, state)
            # the storage, not the shape: a view could keep alive all that came
            sizes.append([x.untyped_storage().nbytes() for layer in state for x in layer])
    assert all(size == sizes[0] for size in sizes)


@every_rule
def test_no_token_sees_what_comes_after_it(rule):
    stack, x = double(rule), tokens(1, 20)
    changed = x.clone()
    changed[0, 12] = (changed[0, 12] + 1) % 11
    a, b = stack(x)[0], stack(changed)[0]
    assert worst(a[:, :12], b[:, :12]) == 0
    assert worst(a[:, 12:], b[:, 12:]) > 1e-3


def test_sequences_of_a_batch_do_not_see_each_other():
    stack, x = double(), tokens(3, 15)
    assert worst(stack(x)[0][1], stack(x[1:2])[0][0]) < ROUNDING


def test_inputs_and_states_are_never_modified():
    stack, x = double(), tokens(2, 9)
    _, state = stack(x)
    before, kept = x.clone(), copy.deepcopy([[y.detach() for y in layer] for layer in state])
    stack(x, state)
    stack.step(x[:, 0], state)
    assert torch.equal(x, before)
    assert all(torch.equal(a, b) for now, then in zip(state, kept, strict=True) for a, b in zip(now, then, strict=True))


# ------------------------------------------------------------------------------------- what a layer computes


@every_rule
def test_a_layer_is_its_rule_between_its_projections(rule):
    """The layer written out once more with the loop that defines the rule, and a convolution for the mixing."""
    config = StackConfig(rule=rule, **(SMALL | {"taps": 3}))
    layer = trained_like(MemoryLayer(config)).double()
    h, k, v = config.heads, config.key_dim, config.value_dim
    x = torch.randn(2, 13, config.stream, dtype=torch.float64, generator=torch.Generator().manual_seed(0))

    projected = x @ layer.project.weight.T
    channels = torch.cat([projected[..., : h * k], projected], -1).transpose(1, 2)
    kernel = layer.mix.flip(0).T[:, None]  # a convolution counts from the past
    padded = torch.nn.functional.pad(channels, (config.taps - 1, 0))
    mixed = torch.nn.functional.conv1d(padded, kernel, groups=channels.shape[1]).transpose(1, 2)

    def heads(a, b, size):
        return mixed[..., a:b].reshape(2, 13, h, size).transpose(1, 2)

    keys, queries, values = heads(0, h * k, k), heads(h * k, 2 * h * k, k), heads(2 * h * k, 2 * h * k + h * v, v)
    keys, queries = keys / keys.norm(dim=-1, keepdim=True), queries / queries.norm(dim=-1, keepdim=True)
    gates = mixed[..., 2 * h * k + h * v :].reshape(2, 13, -1, h).permute(2, 0, 3, 1) + layer.gates[:, None, :, None]
    how = {"rate": 1 / (1 + (-gates[0]).exp())}
    if rule == "hebbian+decay":
        how["decay"] = (1 / (1 + (-gates[1]).exp())) ** (1 / 16)
    name = "hebbian" if rule == "hebbian+decay" else rule
    reads, memory = RULES[name].scan(keys, values.tanh() if rule == "oja" else values, queries, **how)
    reads = reads.transpose(1, 2)
    reads = reads / (reads.square().mean(-1, keepdim=True) + 1e-5).sqrt() * layer.scale
    y, state = layer(x)
    assert worst(y, reads.reshape(2, 13, h * v) @ layer.merge.weight.T) < ROUNDING
    assert worst(state.memory, memory) < ROUNDING


@every_rule
@settings(max_examples=20, deadline=None, derandomize=True)
@given(scale=st.floats(0, 1e6), seed=st.integers(0, 1000))
def test_rates_and_keys_stay_inside_the_stability_limit_whatever_the_weights(rule, scale, seed):
    layer = MemoryLayer(StackConfig(rule=rule, **SMALL))
    pieces = scale * torch.randn(2, 5, sum(layer.sizes), generator=torch.Generator().manual_seed(seed))
    keys, queries, values, how = layer._stimuli(pieces)
    rounding = 1 + 1e-6  # a length in float32
    assert keys.norm(dim=-1).max() <= rounding and queries.norm(dim=-1).max() <= rounding
    assert how["rate"].min() >= 0 and how["rate"].max() <= 1
    if rule == "oja":
        assert (how["rate"][..., None] * values.square()).max() <= 1
    assert ("decay" in how) == (rule == "hebbian+decay")
    assert "decay" not in how or (how["decay"].min() > 0 and how["decay"].max() <= 1)


@every_rule
def test_a_long_sequence_under_wild_weights_stays_finite(rule):
    stack = trained_like(Stack(StackConfig(rule=rule, **SMALL)), scale=30.0)
    with torch.no_grad():
        assert stack(tokens(1, 4000))[0].isfinite().all()


def test_without_taps_one_hebbian_layer_cannot_tell_what_followed_what():
    """Which is why keys are mixed from the token before: pairs are only pairs if order counts."""
    x, shuffled = tokens(1, 12), None
    order = torch.cat([torch.randperm(11, generator=torch.Generator().manual_seed(3)), torch.tensor([11])])
    shuffled = x[:, order]
    for taps, differs in ((1, False), (2, True)):
        stack = double("hebbian", layers=1, taps=taps)
        assert (worst(stack(x)[0][:, -1], stack(shuffled)[0][:, -1]) > 1e-3) == differs


def test_a_fresh_stack_scores_every_token_about_alike():
    logits, _ = Stack(StackConfig(vocab=100, heads=8, key_dim=8, value_dim=8))(tokens(20, 20, vocab=100))
    # 40 000 scores with a variance near one: within a third of it, far from the 64 of an unscaled read-out
    assert 2 / 3 < logits.std() < 4 / 3


# -------------------------------------------------------------------------------- gradients and other places


@every_rule
def test_gradients_are_those_of_finite_differences(rule):
    stack, x = double(rule), tokens(2, 9)

    def loss():
        return stack(x)[0].square().sum()

    weights = list(stack.parameters())
    gradients = torch.autograd.grad(loss(), weights)
    rng, step = torch.Generator().manual_seed(0), 1e-6
    directions = [torch.randn(w.shape, generator=rng, dtype=torch.float64) for w in weights]
    along = sum((g * d).sum() for g, d in zip(gradients, directions, strict=True))
    values = []
    with torch.no_grad():
        for sign in (1, -2):  # + step, then from there to - step
            for w, d in zip(weights, directions, strict=True):
                w.add_(sign * step * d)
            values.append(loss())
    # The norm of a nearly empty read magnifies roundings up to 300 times per layer, and the step divides them by 1e-6:
    # 1e-16 · 300² · 1e6 is 1e-5 of the loss.
    assert abs((values[0] - values[1]) / (2 * step) - along) < 1e-5 * (abs(along) + values[0])
    assert all(g.abs().max() > 0 for g in gradients)  # no weight is idle


@every_rule
def test_forward_and_backward_run_on_meta_so_nothing_is_read_back_to_the_host(rule):
    stack = Stack(StackConfig(rule=rule, **SMALL), device="meta")
    logits, state = stack(tokens(2, 21).to("meta"))
    logits.sum().backward()
    assert logits.shape == (2, 21, 11)
    assert all(w.grad is not None and w.grad.device.type == "meta" for w in stack.parameters())
    assert stack.step(tokens(2).to("meta"), state)[0].shape == (2, 11)


@every_rule
def test_a_compiled_stack_is_one_graph_and_the_same_numbers(rule):
    torch.compiler.reset()
    stack, x = double(rule, layers=1), tokens(2, 8)  # one layer and one chunk: tracing is what takes the time
    expected, _ = stack(x)
    want = torch.autograd.grad(expected.square().sum(), list(stack.parameters()))
    compiled = torch.compile(stack, backend="eager", fullgraph=True)
    logits, _ = compiled(x)
    got = torch.autograd.grad(logits.square().sum(), list(stack.parameters()))
    assert worst(logits, expected) < ROUNDING
    # gradients of a sum over 176 squares: as many more roundings
    assert all(worst(a, b) < 1e-9 * max(1.0, b.abs().max().item()) for a, b in zip(got, want, strict=True))


@every_rule
def test_autocast_keeps_the_memory_in_full_precision(rule):
    stack, x = Stack(StackConfig(rule=rule, **SMALL)), tokens(4, 40)
    full, _ = stack(x)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        half, state = stack(x)
        stepped, _ = stack.step(x[:, 0], state)
    assert half.dtype == stepped.dtype == torch.bfloat16
    assert all(layer.memory.dtype == torch.float32 for layer in state)
    # bfloat16 keeps 8 bits: a few per cent of logits of order one after two layers, far below their spread
    assert (half.float() - full).abs().mean() < 0.05 * full.abs().mean() + 0.02
    half.float().square().sum().backward()
    assert all(w.grad.isfinite().all() for w in stack.parameters())


@pytest.mark.parametrize("device", DEVICES)
@every_rule
def test_an_accelerator_gives_the_numbers_of_the_cpu(rule, device):
    x, config = tokens(3, 40), StackConfig(rule=rule, **SMALL)
    here, there = Stack(config), Stack(config, device=device)
    a, b = here(x)[0], there(x.to(device))[0]
    assert b.device.type == device
    assert worst(a, b.cpu()) < 1e-3  # float32, other orders of sums, perhaps TF32
    b.square().sum().backward()
    assert all(w.grad.isfinite().all() for w in there.parameters())
    assert there.step(x[:, 0].to(device))[0].device.type == device


# ------------------------------------------------------------------------------------------- weights and seeds


def test_building_a_stack_leaves_torchs_own_randomness_alone():
    before = torch.get_rng_state()
    Stack(StackConfig(**SMALL), seed=5)
    Block(StackConfig(**SMALL))
    assert torch.equal(torch.get_rng_state(), before)


def test_the_seed_alone_decides_the_weights():
    def weights(seed):
        return torch.cat([w.flatten() for w in Stack(StackConfig(**SMALL), seed=seed).parameters()])

    assert torch.equal(weights(3), weights(3))
    assert not torch.equal(weights(3), weights(4))


def test_layers_begin_different_from_each_other():
    first, second = Stack(StackConfig(**SMALL)).blocks
    assert not torch.equal(first.memory.project.weight, second.memory.project.weight)


def test_the_default_device_of_torch_is_respected():
    with torch.device("meta"):
        assert Stack(StackConfig(**SMALL)).embedding.weight.device.type == "meta"


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    layers=st.integers(1, 3), heads=st.integers(1, 4), key_dim=st.integers(1, 5), value_dim=st.integers(1, 5),
    vocab=st.integers(1, 9), taps=st.integers(1, 4), rule=st.sampled_from(STACK_RULES),
    width=st.none() | st.integers(1, 9), hidden=st.none() | st.integers(1, 9),
)  # fmt: skip
def test_parameters_are_counted_without_building_the_stack(**shape):
    config = StackConfig(**shape)
    assert count_parameters(config) == sum(w.numel() for w in Stack(config).parameters())


def test_a_stack_survives_copying_pickling_and_its_state_dict():
    stack, x = double(), tokens(1, 7)
    expected = stack(x)[0]
    other = Stack(stack.config, seed=9, dtype=torch.float64)
    other.load_state_dict(stack.state_dict())
    for twin in (copy.deepcopy(stack), pickle.loads(pickle.dumps(stack)), other):
        assert torch.equal(twin(x)[0], expected)


# ------------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    "wrong",
    [{"layers": 0}, {"heads": 1.5}, {"key_dim": -1}, {"value_dim": None}, {"vocab": True}, {"width": 0}, {"hidden": 0},
     {"rule": "hopfield"}, {"taps": 0}, {"chunk": "64"}],
)  # fmt: skip
def test_a_shape_that_cannot_be_built_is_refused(wrong):
    (name,) = wrong
    with pytest.raises(ValueError, match=rf"^{name} must be .*; got "):
        StackConfig(**wrong)


def test_a_config_cannot_be_changed_after_it_was_checked():
    with pytest.raises(dataclasses.FrozenInstanceError):
        StackConfig().layers = 0


def test_a_stack_refuses_what_is_no_config_dtype_or_device():
    with pytest.raises(ValueError, match=r"config must be a StackConfig; got dict"):
        Stack({"layers": 1})
    with pytest.raises(ValueError, match=r"dtype must be one of .*; got torch\.float16"):
        Stack(StackConfig(), dtype=torch.float16)
    with pytest.raises(ValueError, match=r"device must be .*; got 'abacus'"):
        Stack(StackConfig(), device="abacus")
    with pytest.raises(ValueError, match=r"seed must be a whole number"):
        Stack(StackConfig(), seed=-1)


@pytest.mark.parametrize(
    ("bad", "message"),
    [(torch.zeros(2, 3), r"int32 or int64; got torch\.float32"), ([[1, 2]], r"must be a torch tensor"),
     (torch.zeros(3, dtype=torch.int64), r"shape \(b, t\), no axis empty; got \(3,\)"),
     (torch.zeros(2, 0, dtype=torch.int64), r"no axis empty; got \(2, 0\)"),
     (torch.tensor([[0, 11]]), r"lie in 0 to 10; got values from 0 to 11"),
     (torch.tensor([[-1, 3]]), r"lie in 0 to 10; got values from -1 to 3")],
)  # fmt: skip
def test_tokens_that_are_none_are_refused(bad, message):
    with pytest.raises(ValueError, match=message):
        Stack(StackConfig(**SMALL))(bad)


def test_a_state_of_another_stack_or_batch_is_refused():
    stack = Stack(StackConfig(**SMALL))
    _, two = stack(tokens(2, 5))
    _, deeper = Stack(StackConfig(**(SMALL | {"layers": 3})))(tokens(2, 5))
    for state, x in ((two, tokens(3, 5)), (deeper, tokens(2, 5))):
        with pytest.raises(ValueError, match="state must hold memories of shapes"):
            stack(x, state)
