# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Steps whose values leave for the host and come back."""
import copy
import json

import pytest
import torch
from conftest import EFFORT, Pair, assert_same, batches_of, pair_of
from programs import Gpt
from torch import nn

import lowtide
from lowtide._memory_meter import MemoryMeter
from lowtide.torch import backend, checkpoint_policy, estimate, train_step
from lowtide.torch._host import layout_of
from lowtide.torch._link import HostLink, _measure, copies_of, link_of

CPU = torch.device("cpu")
FAST = HostLink(8_000_000_000, 8_000_000_000, 2_000)


@pytest.fixture(autouse=True)
def fast_link(monkeypatch):
    """Plans do not depend on how busy the machine is."""
    monkeypatch.setattr("lowtide.torch._link._measured", {CPU: FAST})


def convolutions():
    """Four layers with statistics, whose activations are most of the bytes."""
    layers, before = [], 3
    for width in (16, 16, 32, 32):
        layers += [nn.Conv2d(before, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(inplace=True)]
        before = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))


def wide_gpt():
    return Gpt(dropout=0.2, width=64, words=64, length=48)


def image_batches(count):
    random = torch.Generator().manual_seed(2)
    return [(torch.randn(8, 3, 48, 48, generator=random), torch.randint(10, (8,), generator=random))
            for _ in range(count)]


def text_batches(count):
    random = torch.Generator().manual_seed(2)
    return [(torch.randint(64, (4, 48), generator=random), torch.randint(64, (192,), generator=random))
            for _ in range(count)]


LARGE = {"convolutions": (convolutions, image_batches), "gpt": (wide_gpt, text_batches)}


def large_pair(name, optimizer="adamw"):
    torch.manual_seed(1)
    return Pair(LARGE[name][0](), optimizer)


def least_budget(step, batch):
    """What reruns alone can hardly keep, or not at all."""
    step._budget = 1 << 40  # scratch is measured only if there is a budget
    mapping = step.plan(*batch).problem.as_mapping()
    curve = lowtide.budget_curve(mapping, points=8, effort=EFFORT)
    found = [point.budget for point in curve.points if point.fits]
    return found[-1] + (found[0] - found[-1]) // 14


def held_bytes(plan):
    """Parameters, buffers, optimizer and batch."""
    return sum(one["bytes"] for one in plan.problem.as_mapping()["states"])


def sides(plan):
    """How many copies go out, and come in."""
    moves = [one.direction for one in plan.sequence.transfers]
    return moves.count("out"), moves.count("in")


@pytest.mark.parametrize("name", LARGE)
def test_steps_have_the_bits_of_eager_steps_and_keep_the_budget(name):
    pair = large_pair(name)
    batches = LARGE[name][1](6)
    budget = least_budget(large_pair(name).step(), batches[0])
    step = pair.step(budget=budget, example=batches[0], offload="host")
    out, back = sides(step.last_plan)
    assert out > 2 and back >= out, "what leaves is needed again"
    pair.run(step, batches)
    with MemoryMeter() as meter:
        for batch in batches[:2]:
            step(*batch)
    taken = meter.peak + held_bytes(step.last_plan)
    assert step.last_plan.sequence.peak <= budget
    assert taken <= budget
    assert taken > budget * 3 // 4, "the budget could not be exceeded"


def test_budgets_cost_less_than_with_reruns_alone():
    [batch] = image_batches(1)
    budget = least_budget(large_pair("convolutions").step(), batch)
    alone = large_pair("convolutions").step(budget=budget, example=batch).last_plan.sequence
    moved = large_pair("convolutions").step(budget=budget, example=batch, offload="host").last_plan.sequence
    assert alone.overhead > 0.02
    assert moved.overhead < alone.overhead


@pytest.mark.parametrize("name", ["unet", "gpt_dropout", "lstm"])
def test_small_programs_have_the_bits_of_eager_steps(name):
    batches = batches_of(name, 5)
    pair = pair_of(name, "adam")
    step = pair.step(budget=least_budget(pair_of(name, "adam").step(), batches[0]), example=batches[0], offload="host")
    assert sides(step.last_plan)[0] > 0
    pair.run(step, batches)


def test_gradients_that_are_clipped_and_scaled_may_leave():
    # Each gradient waits until all are known, so it leaves. Unscaling writes over it before.
    def made():
        torch.manual_seed(1)
        pair = Pair(Gpt(width=64, words=64, length=48), "sgd")
        return pair, torch.amp.GradScaler("cpu", init_scale=1024.0)

    batches = text_batches(5)
    pair, scaler = made()
    options = {"clip_norm": 0.5, "scaler": scaler}
    probe, other = made()
    budget = least_budget(probe.step(clip_norm=0.5, scaler=other), batches[0])
    step = pair.step(budget=budget, example=batches[0], offload="host", **options)
    plan = step.last_plan
    kinds = {plan.problem.updates[one.node - len(plan.problem.units.units)].kind for one in plan.sequence.transfers
             if one.node >= len(plan.problem.units.units)}
    assert kinds == {"unscale"}
    eager_scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    for batch in batches:
        pair.eager_optimizer.zero_grad()
        loss = pair.loss_fn(pair.eager(*batch[:-1]), batch[-1])
        eager_scaler.scale(loss).backward()
        eager_scaler.unscale_(pair.eager_optimizer)
        norm = torch.nn.utils.clip_grad_norm_(pair.eager.parameters(), 0.5)
        eager_scaler.step(pair.eager_optimizer)
        eager_scaler.update()
        assert_same(loss.detach(), step(*batch), "loss")
        assert_same(norm, step.grad_norm, "norm")
    pair.check()


def test_kept_and_accumulated_gradients_are_those_of_eager_steps():
    batches = text_batches(4)
    for options in ({"gradients": "keep"}, {"accumulate": 2}):
        pair = large_pair("gpt")
        budget = least_budget(large_pair("gpt").step(**options), batches[0])
        step = pair.step(budget=budget, example=batches[0], offload="host", **options)
        assert sides(step.last_plan)[0] > 0
        torch.manual_seed(3)
        for at, batch in enumerate(batches):
            if at % 2 == 0:
                pair.eager_optimizer.zero_grad()
            pair.loss_fn(pair.eager(*batch[:-1]), batch[-1]).backward()
            if at % 2 == 1:
                pair.eager_optimizer.step()
        torch.manual_seed(3)
        for at, batch in enumerate(batches):
            if "gradients" in options and at % 2 == 0:
                pair.optimizer.zero_grad()
            step(*batch)
            if "gradients" in options and at % 2 == 1:
                pair.optimizer.step()
        pair.check()


def test_plans_of_one_profile_are_equal(tmp_path):
    path, [batch] = tmp_path / "step.json", image_batches(1)
    budget = least_budget(large_pair("convolutions").step(), batch)
    large_pair("convolutions").step(budget=budget, example=batch, offload="host", profile=path)
    written = json.loads(path.read_text())
    assert written["links"] == {"cpu": FAST._asdict()}
    plans = [large_pair("convolutions").step(budget=budget, example=batch, offload="host", profile=path).last_plan
             for _ in range(2)]
    assert list(plans[0].sequence.runs) == list(plans[1].sequence.runs)
    assert plans[0].sequence.transfers == plans[1].sequence.transfers != ()
    assert plans[0].host_bytes == plans[1].host_bytes


def test_profiles_without_a_link_or_with_a_wrong_one_are_refused(tmp_path):
    path, [batch] = tmp_path / "step.json", image_batches(1)
    large_pair("convolutions").step(budget="64MiB", example=batch, profile=path)
    with pytest.raises(lowtide.MismatchError, match="no link between cpu and the host"):
        large_pair("convolutions").step(budget="64MiB", example=batch, offload="host", profile=path)
    whole = json.loads(path.read_text())
    for link in ({"latency_ns": 3}, {**FAST._asdict(), "in_bytes_per_second": 0}, {**FAST._asdict(), "more": 1}, 7):
        path.write_text(json.dumps({**whole, "links": {"cpu": link}}))
        with pytest.raises(lowtide.MalformedError, match="links"):
            large_pair("convolutions").step(budget="64MiB", example=batch, offload="host", profile=path)


def test_what_is_at_the_host_at_one_time_shares_no_bytes():
    [batch] = image_batches(1)
    budget = least_budget(large_pair("convolutions").step(), batch)
    plan = large_pair("convolutions").step(budget=budget, example=batch, offload="host").last_plan
    layout = layout_of(plan.sequence.transfers)
    assert plan.host_bytes == layout.bytes > 0
    spans = {}
    for one in plan.sequence.transfers:
        key = one.node, one.output, one.run
        begin, end, _ = spans.get(key, (one.issue, one.complete, 0))
        spans[key] = min(begin, one.issue), max(end, one.complete), one.bytes
    for key, (begin, end, size) in spans.items():
        assert layout.offsets[key] + size <= layout.bytes
        for other, (first, last, more) in spans.items():
            if other != key and begin < last and first < end:
                apart = layout.offsets[key] + size, layout.offsets[other] + more
                assert apart[0] <= layout.offsets[other] or apart[1] <= layout.offsets[key]


def test_reports_and_pages_say_what_leaves():
    [batch] = image_batches(1)
    budget = least_budget(large_pair("convolutions").step(), batch)
    step = large_pair("convolutions").step(budget=budget, example=batch, offload="host")
    out, back = sides(step.last_plan)
    assert f"{out} values leave for the host and come back {back} times" in step.report()
    assert step.html().startswith("<!DOCTYPE html>")
    large = large_pair("convolutions").step(budget="1GiB", example=batch, offload="host")
    assert "nothing leaves for the host" in large.report() and large.last_plan.host_bytes == 0


def test_copies_of_steps_move_values_of_their_own():
    batches = image_batches(3)
    pair = large_pair("convolutions")
    budget = least_budget(large_pair("convolutions").step(), batches[0])
    step = pair.step(budget=budget, example=batches[0], offload="host")
    step(*batches[0])
    other = copy.deepcopy(step)
    losses = [step(*batch) for batch in batches[1:]]
    assert_same(losses, [other(*batch) for batch in batches[1:]], "losses")
    assert sides(other.last_plan)[0] > 0


def test_a_step_that_fails_between_copies_can_run_again():
    batches = image_batches(2)
    pair = large_pair("convolutions")
    budget = least_budget(large_pair("convolutions").step(), batches[0])
    step = pair.step(budget=budget, example=batches[0], offload="host")
    program = step.last_plan.program
    calls = [node for node in program.graph.nodes if "transfer" in node.meta]
    with program.graph.inserting_after(calls[0]):
        program.graph.call_function(fail, ())
    program.recompile()
    with pytest.raises(ZeroDivisionError):
        step(*batches[0])
    program.graph.erase_node(next(iter(program.graph.find_nodes(op="call_function", target=fail))))
    program.recompile()
    pair.planned.load_state_dict(pair.eager.state_dict())
    pair.run(step, batches)


def fail():
    raise ZeroDivisionError


def test_the_link_of_the_cpu_copies_bytes_and_is_measured():
    link = _measure(CPU)
    assert min(link) > 0
    assert link_of(CPU) == FAST
    assert HostLink(5, 3, 7).slower() == lowtide.Link(3, 7)
    copies = copies_of(CPU)
    copies.reserve(300)
    given, back = torch.arange(100, dtype=torch.uint8), torch.zeros(100, dtype=torch.uint8)
    copies.begin_out(given.untyped_storage(), 150).wait()
    copies.begin_in(back.untyped_storage(), 150).wait()
    assert torch.equal(given, back)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch finds no CUDA device")
def test_copies_of_cuda_run_beside_its_kernels():
    device = torch.device("cuda")
    assert min(_measure(device)) > 0
    copies = copies_of(device)
    copies.reserve(1 << 24)
    given = torch.arange(1 << 22, dtype=torch.int32, device=device)
    expected = given.cpu() + 1
    given += 1  # the copy waits for it
    leaving = copies.begin_out(given.untyped_storage(), 0)
    leaving.wait()
    del given
    taken = torch.full((1 << 22,), 7, dtype=torch.int32, device=device)  # may get the same bytes
    back = torch.empty(1 << 22, dtype=torch.int32, device=device)
    copies.begin_in(back.untyped_storage(), 0).wait()
    assert torch.equal((back + 0).cpu(), expected)
    assert bool((taken == 7).all())


def test_values_of_offload_that_are_none_are_refused():
    model, optimizer = convolutions(), None
    options = {"optimizer": optimizer, "gradients": "keep"}
    loss = nn.functional.cross_entropy
    with pytest.raises(lowtide.InvalidError, match="offload is 'disk'; give 'host'"):
        train_step(model, loss, budget="1GiB", offload="disk", **options)
    with pytest.raises(lowtide.InvalidError, match="offload is True"):
        train_step(model, loss, budget="1GiB", offload=True, **options)
    with pytest.raises(lowtide.InvalidError, match="without a budget"):
        train_step(model, loss, offload="host", **options)
    with pytest.raises(lowtide.UnsupportedError, match="arena=False"):
        train_step(model, loss, budget="1GiB", offload="host", arena=True, **options)
    with pytest.raises(lowtide.UnsupportedError, match="no link is known between the device meta and the host"):
        copies_of(torch.device("meta"))


def test_budgets_below_what_one_operator_needs_are_refused():
    [batch] = image_batches(1)
    with pytest.raises(lowtide.InvalidError, match="needs more for what it reads and makes"):
        large_pair("convolutions").step(budget="4MiB", example=batch, offload="host")


def test_other_doors_refuse_offload_with_the_reason():
    given = convolutions(), nn.functional.cross_entropy
    with pytest.raises(lowtide.UnsupportedError, match="autograd holds what the backward pass of a compiled module"):
        backend("1GiB", offload="host")
    with pytest.raises(lowtide.UnsupportedError, match="an estimate runs nothing; omit offload, or use train_step"):
        estimate(*given, example=image_batches(1)[0], offload="host")
    with pytest.raises(lowtide.UnsupportedError, match="autograd holds what a policy saves"):
        checkpoint_policy(*given, image_batches(1)[0], budget="1GiB", offload="host")
