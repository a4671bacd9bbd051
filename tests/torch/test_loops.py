# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Small programs in the situations that users of PyTorch report, by the numbers of their issues."""
import copy
import pickle
import re

import pytest
import torch
from conftest import Pair, batches_of, budgets_of, pair_of
from torch import nn
from torch.nn import functional
from torch.nn.utils import clip_grad_norm_

import lowtide
from lowtide._memory_meter import MemoryMeter
from lowtide.torch import train_step
from lowtide.torch._heap import OBJECT


def limited_pair(name, optimizer, **options):
    """A pair and a step of it with the lowest budget that is tried."""
    budget = budgets_of(pair_of(name, optimizer).step(**options), batches_of(name, 1)[0])[-1]
    pair = pair_of(name, optimizer)
    return pair, pair.step(budget=budget, **options)


def test_pytorch_194696_budgets_are_texts():
    """auto_checkpoint(model, memory_budget="8GB"). GB are powers of ten."""
    pair, [batch] = pair_of("unet"), batches_of("unet", 1)
    sizes = {"8GB": 8 * 10**9, "8 GiB": 8 << 30, "1.5GiB": 3 << 29, "700MB": 700 * 10**6, "0.5GB": 5 * 10**8,
             "900000kb": 9 * 10**8, "1TiB": 1 << 40, "2.5MB": 2_500_000, "3000000": 3_000_000, "3000000B": 3_000_000}
    for text, size in sizes.items():
        assert pair.step(budget=text)._budget == size
    assert pair.step(budget="2MB", example=batch).last_plan.sequence.budget == 2_000_000


def test_torchtune_1934_clipping_with_updates_in_backward():
    """There, updates in the backward pass exclude clipping. The optimizer has parameters in two groups."""
    def make(parameters):
        return torch.optim.AdamW([{"params": parameters[:9], "lr": 3e-3}, {"params": parameters[9:]}], lr=1e-3)
    pair, step = limited_pair("gpt", make, clip_norm=0.3)
    for batch in batches_of("gpt", 4):
        loss = pair.eager_loss(*batch)
        norm = clip_grad_norm_(pair.eager.parameters(), 0.3)
        pair.eager_optimizer.step()
        assert torch.equal(step(*batch), loss) and torch.equal(step.grad_norm, norm)
        pair.check()


def test_pytorch_124523_accumulation_with_updates_in_backward():
    """There, a post-accumulate hook updates after each batch. Clipping and a scheduler as well, as loops have them."""
    pair, step = limited_pair("gpt", "adamw", accumulate=2, clip_norm=0.3)
    schedulers = [torch.optim.lr_scheduler.CosineAnnealingLR(one, 4) for one in (pair.eager_optimizer, pair.optimizer)]
    for at, batch in enumerate(batches_of("gpt", 8)):
        loss = pair.loss_fn(pair.eager(batch[0]), batch[1])
        loss.backward()
        if at % 2 == 1:
            clip_grad_norm_(pair.eager.parameters(), 0.3)
            pair.eager_optimizer.step()
            pair.eager_optimizer.zero_grad()
        assert torch.equal(step(*batch), loss.detach())
        if at % 2 == 1:
            for scheduler in schedulers:
                scheduler.step()
        pair.check()


def test_ocannl_498_fifty_losses_are_equal_within_the_budget():
    pair, step = limited_pair("residual", "adamw")
    batches = batches_of("residual", 50)
    states = sum(step.plan(*batches[0]).problem.rounded(size)
                 for size in step.plan(*batches[0]).problem.states.values())
    pair.run(step, batches[:1])
    with MemoryMeter() as meter:
        planned = [step(*batch) for batch in batches[1:]]
    assert meter.peak + states <= step._budget + 2 * OBJECT * len(planned)  # the losses are kept, which is not the step
    assert [float(one) for one in planned] == [float(pair.eager_step(*batch)) for batch in batches[1:]]
    pair.check()


def test_deepspeed_2103_one_layer_is_used_six_times():
    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(16, 16)
            self.layer = nn.Linear(16, 16)

        def forward(self, tokens):
            x = self.words(tokens)
            for _ in range(6):
                x = x + torch.tanh(self.layer(x))
            return functional.linear(x, self.words.weight).flatten(0, 1)
    random = torch.Generator().manual_seed(2)
    batches = [(torch.randint(16, (3, 5), generator=random), torch.randint(16, (15,), generator=random))
               for _ in range(4)]
    budget = budgets_of(Pair(Recurrent(), "adamw").step(clip_norm=0.1), batches[0])[-1]
    pair = Pair(Recurrent(), "adamw")
    step = pair.step(budget=budget, clip_norm=0.1)
    for batch in batches:
        loss = pair.eager_loss(*batch)
        clip_grad_norm_(pair.eager.parameters(), 0.1)
        pair.eager_optimizer.step()
        assert torch.equal(loss, step(*batch))
    pair.check()


@pytest.mark.parametrize("options", [{"clip_norm": 1.0}, {"accumulate": 2}])
def test_a_budget_that_no_loop_keeps_names_a_node(options):
    pair, [batch] = pair_of("vit", "adamw"), batches_of("vit", 1)
    floor = lowtide.budget_curve(pair.step(**options).plan(*batch).problem.as_mapping(), points=2, effort=0).floor
    with pytest.raises(lowtide.InvalidError) as caught:
        pair.step(budget=floor - 1, example=batch, **options)
    assert re.search(rf"{floor - 1:,} B: \d+ \w+( of [\w.]+)? needs more for what it reads", str(caught.value))
    pair.check()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda step: pickle.loads(pickle.dumps(step))])
def test_a_copy_of_a_step_goes_on_alone(copied):
    """With a module and an optimizer of its own, in the middle of an accumulation."""
    torch.manual_seed(1)
    module = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
    step = train_step(module, functional.cross_entropy, torch.optim.AdamW(module.parameters()), budget="1MB",
                      accumulate=2, clip_norm=0.1)
    batches = [(torch.randn(4, 8), torch.randint(8, (4,))) for _ in range(6)]
    for batch in batches[:3]:
        step(*batch)
    other = copied(step)
    before = copy.deepcopy(module.state_dict())
    expected = [other(*batch) for batch in batches[3:]]
    assert all(torch.equal(one, module.state_dict()[key]) for key, one in before.items())
    assert all(torch.equal(one, step(*batch)) for one, batch in zip(expected, batches[3:], strict=True))
    assert torch.equal(step.grad_norm, other.grad_norm)
