# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Modules whose training steps torch_step.py measures, with batches. Their blocks may run inside checkpoints."""
import dataclasses
import math
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint


class Staged(nn.Module):
    """A module with a chain of blocks. Each `group` of blocks runs inside one checkpoint; 0: no checkpoints."""

    group = 0

    def through(self, blocks, x):
        if not self.group:
            return run_in_turn(blocks, x)
        for begin in range(0, len(blocks), self.group):
            x = checkpoint(run_in_turn, blocks[begin:begin + self.group], x, use_reentrant=False)
        return x


def run_in_turn(blocks, x):
    for block in blocks:
        x = block(x)
    return x


def convolved(inputs, outputs, kernel=3, stride=1, groups=1):
    return [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
            nn.BatchNorm2d(outputs)]


class Residual(nn.Module):
    """A block of ResNet-18 or, with a bottleneck, of ResNet-50."""

    def __init__(self, inputs, width, stride, has_bottleneck):
        super().__init__()
        outputs = 4 * width if has_bottleneck else width
        parts = ([*convolved(inputs, width, 1), nn.ReLU(), *convolved(width, width, 3, stride), nn.ReLU(),
                  *convolved(width, outputs, 1)] if has_bottleneck else
                 [*convolved(inputs, width, 3, stride), nn.ReLU(), *convolved(width, width)])
        self.branch = nn.Sequential(*parts)
        is_same = stride == 1 and inputs == outputs
        self.shortcut = nn.Identity() if is_same else nn.Sequential(*convolved(inputs, outputs, 1, stride))

    def forward(self, x):
        return functional.relu(self.branch(x) + self.shortcut(x))


class ResNet(Staged):
    def __init__(self, width, layers, has_bottleneck, classes=100):
        super().__init__()
        self.stem = nn.Sequential(*convolved(3, width, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        blocks, channels = [], width
        for stage, count in enumerate(layers):
            for at in range(count):
                blocks.append(Residual(channels, width << stage, 2 if stage and not at else 1, has_bottleneck))
                channels = (width << stage) * (4 if has_bottleneck else 1)
        self.blocks = nn.ModuleList(blocks)
        self.head = nn.Linear(channels, classes)

    def forward(self, x):
        return self.head(self.through(self.blocks, self.stem(x)).mean((2, 3)))


class Inverted(nn.Module):
    """A block of MobileNetV2."""

    def __init__(self, inputs, outputs, stride, factor):
        super().__init__()
        hidden = inputs * factor
        expand = [*convolved(inputs, hidden, 1), nn.ReLU6()] if factor > 1 else []
        self.branch = nn.Sequential(*expand, *convolved(hidden, hidden, 3, stride, hidden), nn.ReLU6(),
                                    *convolved(hidden, outputs, 1))
        self.is_same = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.branch(x) if self.is_same else self.branch(x)


class MobileNet(Staged):
    """MobileNetV2. The first convolution is a block, too."""

    STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))

    def __init__(self, stages=STAGES, classes=100):
        super().__init__()
        blocks, channels = [nn.Sequential(*convolved(3, 32, 3, 2), nn.ReLU6())], 32
        for factor, outputs, count, stride in stages:
            for at in range(count):
                blocks.append(Inverted(channels, outputs, 1 if at else stride, factor))
                channels = outputs
        self.blocks = nn.ModuleList(blocks)
        self.last = nn.Sequential(*convolved(channels, 4 * channels, 1), nn.ReLU6())
        self.head = nn.Linear(4 * channels, classes)

    def forward(self, x):
        return self.head(self.last(self.through(self.blocks, x)).mean((2, 3)))


def twice_convolved(inputs, outputs):
    return nn.Sequential(*convolved(inputs, outputs), nn.ReLU(), *convolved(outputs, outputs), nn.ReLU())


class Up(nn.Module):
    """A block of the second half of a U-Net."""

    def __init__(self, width):
        super().__init__()
        self.grow = nn.ConvTranspose2d(2 * width, width, 2, 2)
        self.body = twice_convolved(2 * width, width)

    def forward(self, x, skipped):
        return self.body(torch.cat([self.grow(x), skipped], 1))


class UNet(Staged):
    def __init__(self, width, depth, classes=8):
        super().__init__()
        widths = [width << level for level in range(depth + 1)]
        self.down = nn.ModuleList(twice_convolved(*pair) for pair in zip([3, *widths], widths))
        self.up = nn.ModuleList(Up(one) for one in reversed(widths[:-1]))
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        def run(block, *inputs):
            return checkpoint(block, *inputs, use_reentrant=False) if self.group else block(*inputs)

        skipped = []
        for block in self.down[:-1]:
            skipped.append(run(block, x))
            x = functional.max_pool2d(skipped[-1], 2)
        x = run(self.down[-1], x)
        for block in self.up:
            x = run(block, x, skipped.pop())
        return self.head(x)


class Attending(nn.Module):
    """A block of a transformer."""

    def __init__(self, width, heads, dropout, is_causal):
        super().__init__()
        self.heads, self.is_causal = heads, is_causal
        self.norm, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        batch, length, width = x.shape
        qkv = self.qkv(self.norm(x)).view(batch, length, 3, self.heads, width // self.heads)
        mixed = functional.scaled_dot_product_attention(*qkv.permute(2, 0, 3, 1, 4), is_causal=self.is_causal)
        x = x + self.drop(self.out(mixed.transpose(1, 2).reshape(batch, length, width)))
        return x + self.drop(self.mlp(self.norm2(x)))


class GPT(Staged):
    """A language model with tied embeddings."""

    def __init__(self, width, layers, words, length, dropout=0.0):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Parameter(torch.randn(length, width) * 0.02)
        self.blocks = nn.ModuleList(Attending(width, width // 32, dropout, True) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, x):
        return self.head(self.norm(self.through(self.blocks, self.words(x) + self.places))).flatten(0, 1)


class ViT(Staged):
    def __init__(self, width, layers, image, patch=16, classes=100):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.places = nn.Parameter(torch.randn(1, (image // patch) ** 2, width) * 0.02)
        self.blocks = nn.ModuleList(Attending(width, width // 64, 0.0, False) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2) + self.places
        return self.head(self.norm(self.through(self.blocks, x)).mean(1))


class Recurrent(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.cell = nn.LayerNorm(width), nn.LSTM(width, width, batch_first=True)

    def forward(self, x):
        return x + self.cell(self.norm(x))[0]


class LSTM(Staged):
    def __init__(self, width, layers, classes=64):
        super().__init__()
        self.blocks = nn.ModuleList(Recurrent(width) for _ in range(layers))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.through(self.blocks, x)).flatten(0, 1)


@dataclasses.dataclass(frozen=True)
class Model:
    """A module and its batches."""

    make: Callable[[], Staged]
    batch: Callable[[torch.Generator], tuple[torch.Tensor, torch.Tensor]]
    is_transformer: bool = False
    is_random: bool = False

    def module(self, seed=1):
        torch.manual_seed(seed)
        return self.make()

    def batches(self, count, seed=2):
        random = torch.Generator().manual_seed(seed)
        return [self.batch(random) for _ in range(count)]


def images(count, size, classes=100, dense=False):
    target = (count, size, size) if dense else (count,)
    return lambda random: (torch.randn(count, 3, size, size, generator=random),
                           torch.randint(0, classes, target, generator=random))


def words(count, length, number):
    return lambda random: (torch.randint(0, number, (count, length), generator=random),
                           torch.randint(0, number, (count * length,), generator=random))


def sequences(count, length, width, classes=64):
    return lambda random: (torch.randn(count, length, width, generator=random),
                           torch.randint(0, classes, (count * length,), generator=random))


def models(batch=1.0):
    """The eight models of the figures. `batch` is the share of the usual batches."""
    def share(count):
        return max(1, math.floor(count * batch))

    return {
        "resnet18": Model(lambda: ResNet(16, (2, 2, 2, 2), False), images(share(8), 112)),
        "resnet50": Model(lambda: ResNet(12, (3, 4, 6, 3), True), images(share(6), 112)),
        "mobilenetv2": Model(MobileNet, images(share(8), 96)),
        "unet": Model(lambda: UNet(12, 4), images(share(4), 96, 8, dense=True)),
        "gpt": Model(lambda: GPT(128, 6, 1024, 192), words(share(4), 192, 1024), is_transformer=True),
        "vit": Model(lambda: ViT(128, 6, 128), images(share(8), 128), is_transformer=True),
        "gpt_dropout": Model(lambda: GPT(128, 6, 1024, 192, dropout=0.1), words(share(4), 192, 1024),
                             is_transformer=True, is_random=True),
        "lstm": Model(lambda: LSTM(128, 6), sequences(share(12), 48, 128)),
    }


def small_models():
    """Models whose steps take milliseconds."""
    return {
        "resnet18": Model(lambda: ResNet(8, (1, 1), False, 10), images(4, 32, 10)),
        "gpt_dropout": Model(lambda: GPT(64, 2, 96, 32, dropout=0.1), words(2, 32, 96), is_transformer=True,
                             is_random=True),
    }


def deep_model():
    """About 1,000 units."""
    return Model(lambda: ResNet(8, (3, 30, 36, 3), True), images(2, 64))
