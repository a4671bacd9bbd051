# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Twenty small networks: chains, residuals, branches, attention, recurrence and irregular graphs."""
import itertools
import random

import torch
from torch import nn
from torch.nn import functional


def conv(inputs, outputs, kernel=3, stride=1, groups=1):
    """A convolution that keeps the extents, or halves them, with BatchNormalization."""
    return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
                         nn.BatchNorm2d(outputs))


class Chain(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.layers = nn.Sequential(*itertools.chain.from_iterable(
            (conv(one, other), nn.ReLU(), nn.MaxPool2d(2)) for one, other in zip((3, *widths), widths)))

    def forward(self, x):
        return self.layers(x).mean((2, 3))


class Residual(nn.Module):
    def __init__(self, width, blocks):
        super().__init__()
        self.stem = conv(3, width, stride=2)
        self.blocks = nn.ModuleList([nn.Sequential(conv(width, width), nn.ReLU(), conv(width, width))
                                     for _ in range(blocks)])

    def forward(self, x):
        x = torch.relu(self.stem(x))
        for block in self.blocks:
            x = torch.relu(x + block(x))
        return x.mean((2, 3))


class Mobile(nn.Module):
    """Inverted residuals, as in MobileNetV2, with a gate as in MobileNetV3."""

    def __init__(self, width=8, blocks=3):
        super().__init__()
        self.stem = conv(3, width, stride=2)
        self.blocks = nn.ModuleList([nn.Sequential(conv(width, 4 * width, 1), nn.ReLU6(),
                                                   conv(4 * width, 4 * width, groups=4 * width), nn.ReLU6())
                                     for _ in range(blocks)])
        self.gates = nn.ModuleList([nn.Linear(4 * width, 4 * width) for _ in range(blocks)])
        self.ends = nn.ModuleList([conv(4 * width, width, 1) for _ in range(blocks)])

    def forward(self, x):
        x = self.stem(x)
        for block, gate, end in zip(self.blocks, self.gates, self.ends):
            inner = block(x)
            x = x + end(inner * torch.sigmoid(gate(inner.mean((2, 3))))[:, :, None, None])
        return x.mean((2, 3))


class UNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        pairs = lambda one, other: nn.Sequential(conv(one, other), nn.ReLU(), conv(other, other), nn.ReLU())
        self.down = nn.ModuleList([pairs(3, width), pairs(width, 2 * width)])
        self.middle = pairs(2 * width, 4 * width)
        self.up = nn.ModuleList([pairs(6 * width, 2 * width), pairs(3 * width, width)])

    def forward(self, x):
        kept = []
        for down in self.down:
            x = down(x)
            kept.append(x)
            x = functional.max_pool2d(x, 2)
        x = self.middle(x)
        for up, skip in zip(self.up, reversed(kept)):
            x = up(torch.cat([functional.interpolate(x, scale_factor=2.0, mode="nearest"), skip], 1))
        return x


class Inception(nn.Module):
    def __init__(self, width=16, blocks=2):
        super().__init__()
        quarter = width // 4
        self.stem = conv(3, width, stride=2)
        self.blocks = nn.ModuleList([nn.ModuleList([
            conv(width, quarter, 1), nn.Sequential(conv(width, 2 * width, 1), nn.ReLU(), conv(2 * width, quarter)),
            nn.Sequential(conv(width, width), nn.ReLU(), conv(width, quarter)),
            nn.Sequential(nn.MaxPool2d(3, 1, 1), conv(width, quarter, 1))]) for _ in range(blocks)])

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = torch.relu(torch.cat([branch(x) for branch in block], 1))
        return x.mean((2, 3))


class Dense(nn.Module):
    """Each layer reads the results of all before it, as in DenseNet."""

    def __init__(self, growth=8, layers=5):
        super().__init__()
        self.layers = nn.ModuleList([conv(3 + growth * at, growth) for at in range(layers)])

    def forward(self, x):
        for layer in self.layers:
            x = torch.cat([x, torch.relu(layer(x))], 1)
        return x.mean((2, 3))


class Attention(nn.Module):
    """Layers of a transformer over patches of an image, over tokens, or over tokens with a causal mask."""

    def __init__(self, kind, width, heads, layers):
        super().__init__()
        self.kind, self.heads = kind, heads
        self.begin = nn.Conv2d(3, width, 8, 8) if kind == "patches" else nn.Embedding(100, width)
        self.layers = nn.ModuleList([nn.ModuleDict({
            "first": nn.LayerNorm(width), "mixed": nn.Linear(width, 3 * width), "joined": nn.Linear(width, width),
            "second": nn.LayerNorm(width), "wide": nn.Linear(width, 4 * width), "narrow": nn.Linear(4 * width, width)})
            for _ in range(layers)])
        self.end = nn.Linear(width, 100)

    def forward(self, x):
        x = self.begin(x)
        if self.kind == "patches":
            x = x.flatten(2).transpose(1, 2)
        batch, length, _ = x.shape
        for layer in self.layers:
            parts = layer["mixed"](layer["first"](x)).view(batch, length, 3, self.heads, -1)
            query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)
            scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
            if self.kind == "causal":
                scores = scores + torch.full((length, length), float("-inf")).triu(1)
            mixed = (torch.softmax(scores, -1) @ value).transpose(1, 2).reshape(batch, length, -1)
            x = x + layer["joined"](mixed)
            x = x + layer["narrow"](functional.gelu(layer["wide"](layer["second"](x))))
        return self.end(x)


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.layers = kind(16, 32, batch_first=True)

    def forward(self, x):
        return self.layers(x)[0]


class Mixer(nn.Module):
    def __init__(self, tokens=16, width=32, layers=2):
        super().__init__()
        self.layers = nn.ModuleList([nn.ModuleList([nn.Linear(tokens, 64), nn.Linear(64, tokens), nn.Linear(width, 96),
                                                    nn.Linear(96, width)]) for _ in range(layers)])

    def forward(self, x):
        for one, two, three, four in self.layers:
            x = x + two(functional.gelu(one(x.transpose(1, 2)))).transpose(1, 2)
            x = x + four(functional.gelu(three(x)))
        return x


class Wired(nn.Module):
    """Convolutions at the nodes of a drawn graph, as in RandWire."""

    def __init__(self, seed, nodes=12, width=16):
        super().__init__()
        drawn = random.Random(seed)
        self.sources = [[source for source in range(node) if (node - source <= 2 and drawn.random() < 0.75)
                         or drawn.random() < 0.12] for node in range(nodes)]
        self.stem = nn.Conv2d(3, width, 3, 2, 1)
        self.nodes = nn.ModuleList([nn.Conv2d(width, width, 3, 1, 1) for _ in range(nodes)])

    def forward(self, x):
        x = self.stem(x)
        results = []
        for node, sources in zip(self.nodes, self.sources):
            read = [results[source] for source in sources] or [x]
            results.append(torch.relu(node(sum(read[1:], read[0]))))
        used = set(itertools.chain.from_iterable(self.sources))
        return sum(result for node, result in enumerate(results) if node not in used).mean((2, 3))


class Cells(nn.Module):
    """Cells whose operators and connections are drawn, as in NASNet."""

    def __init__(self, seed, width=16, cells=2):
        super().__init__()
        drawn = random.Random(seed)
        make = {"conv": lambda: nn.Conv2d(width, width, 3, padding=1), "max": lambda: nn.MaxPool2d(3, 1, 1),
                "apart": lambda: nn.Sequential(nn.Conv2d(width, width, 3, padding=1, groups=width),
                                               nn.Conv2d(width, width, 1), nn.ReLU()),
                "mean": lambda: nn.AvgPool2d(3, 1, 1)}
        self.wiring = [[(drawn.randrange(2 + at), drawn.randrange(2 + at)) for at in range(5)] for _ in range(cells)]
        self.stem = nn.Conv2d(3, width, 3, padding=1)
        self.operators = nn.ModuleList([nn.ModuleList([make[drawn.choice(sorted(make))]() for _ in range(10)])
                                        for _ in range(cells)])
        self.begins = nn.ModuleList([nn.ModuleList([nn.Conv2d(width, width, 1), nn.Conv2d(width, width, 1)])
                                     for _ in range(cells)])
        self.ends = nn.ModuleList([nn.Conv2d(width * len(self.loose(wiring)), width, 1) for wiring in self.wiring])

    @staticmethod
    def loose(wiring):
        """The results of a cell that no operator of the cell reads."""
        return sorted(set(range(2, 7)) - set(itertools.chain.from_iterable(wiring)))

    def forward(self, x):
        before = last = self.stem(x)
        for wiring, operators, begins, end in zip(self.wiring, self.operators, self.begins, self.ends):
            results = [begins[0](before), begins[1](last)]
            for at, (one, other) in enumerate(wiring):
                results.append(operators[2 * at](results[one]) + operators[2 * at + 1](results[other]))
            before, last = last, end(torch.cat([results[at] for at in self.loose(wiring)], 1))
        return last.mean((2, 3))


def image(extent):
    return torch.randn(1, 3, extent, extent)


def tokens(length):
    return torch.randint(0, 100, (1, length))


NETS = {
    "chain": lambda: (Chain((16, 24, 32)), image(32)),
    "residual": lambda: (Residual(16, 3), image(32)),
    "mobile": lambda: (Mobile(), image(32)),
    "u_net": lambda: (UNet(), image(32)),
    "inception": lambda: (Inception(), image(32)),
    "dense": lambda: (Dense(), image(24)),
    "vit": lambda: (Attention("patches", 96, 3, 2), image(64)),
    "encoder": lambda: (Attention("tokens", 64, 4, 2), tokens(48)),
    "language": lambda: (Attention("causal", 64, 2, 2), tokens(64)),
    "lstm": lambda: (Recurrent(nn.LSTM), torch.randn(1, 4, 16)),
    "gru": lambda: (Recurrent(nn.GRU), torch.randn(1, 4, 16)),
    "mixer": lambda: (Mixer(), torch.randn(1, 16, 32)),
    **{f"wired_{seed}": lambda seed=seed: (Wired(seed), image(64)) for seed in (1, 2, 3, 4)},
    **{f"cells_{seed}": lambda seed=seed: (Cells(seed), image(32)) for seed in (1, 2, 3, 4)},
}
"""A module and its input, by name. Parameters follow from the generator of PyTorch."""


def made(name):
    """One of NETS in evaluation mode, always with the same parameters, and its arguments."""
    torch.manual_seed(0)
    module, x = NETS[name]()
    return module.eval(), (x,)
