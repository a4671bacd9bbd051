# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Small programs that the tests train."""
import torch
from torch import nn
from torch.nn import functional


class Residual(nn.Module):
    """Two convolutions with normalizations beside a shortcut."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.first_norm = nn.BatchNorm2d(outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.second_norm = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.relu(self.first_norm(self.first(x)))
        y = self.second_norm(self.second(y))
        y += self.shortcut(x)
        return self.relu(y)


def residual_network():
    return nn.Sequential(nn.Conv2d(3, 8, 3, 1, 1), nn.MaxPool2d(2), Residual(8, 8, 1), Residual(8, 16, 2),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5))


class Inverted(nn.Module):
    """An expansion, a convolution of each channel, and a projection, as in MobileNetV2."""

    def __init__(self, width):
        super().__init__()
        wide = 4 * width
        self.layers = nn.Sequential(
            nn.Conv2d(width, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU6(inplace=True),
            nn.Conv2d(wide, wide, 3, 1, 1, groups=wide, bias=False), nn.BatchNorm2d(wide), nn.ReLU6(inplace=True),
            nn.Conv2d(wide, width, 1, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        return x + self.layers(x)


def mobile_network():
    return nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU6(inplace=True), Inverted(8), Inverted(8),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5))


class UNet(nn.Module):
    """Two scales with a concatenation."""

    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 8, 3, 1, 1), nn.GroupNorm(2, 8), nn.SiLU())
        self.deep = nn.Sequential(nn.Conv2d(8, 16, 3, 1, 1), nn.LeakyReLU(0.1, inplace=True))
        self.up = nn.ConvTranspose2d(16, 8, 2, 2)
        self.last = nn.Conv2d(16, 5, 1)

    def forward(self, x):
        above = self.down(x)
        below = self.up(self.deep(functional.max_pool2d(above, 2)))
        return self.last(torch.cat([above, below], 1)).mean((2, 3))


class Attention(nn.Module):
    def __init__(self, width, heads, is_causal, dropout):
        super().__init__()
        self.heads, self.is_causal, self.dropout = heads, is_causal, dropout
        self.inputs = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        query, key, value = (one.view(batch, length, self.heads, -1).transpose(1, 2)
                             for one in self.inputs(x).split(width, 2))
        y = functional.scaled_dot_product_attention(query, key, value, is_causal=self.is_causal,
                                                    dropout_p=self.dropout if self.training else 0.0)
        return self.output(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    """One layer of a transformer."""

    def __init__(self, width, is_causal, dropout):
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.attention = Attention(width, 2, is_causal, dropout)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width),
                                    nn.Dropout(dropout))

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        return x + self.layers(self.norm(x))


class Gpt(nn.Module):
    """A language model whose embedding is the weight of its last layer."""

    def __init__(self, dropout=0.0, width=16, words=23, length=12):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Parameter(torch.randn(length, width) * 0.02)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList(Block(width, True, dropout) for _ in range(2))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, tokens):
        x = self.dropout(self.words(tokens) + self.places[:tokens.shape[1]])
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)).flatten(0, 1)


class Vit(nn.Module):
    """A transformer on patches of an image."""

    def __init__(self, width=16):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 4, 4)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.places = nn.Parameter(torch.randn(1, 17, width) * 0.02)
        self.blocks = nn.Sequential(*(Block(width, False, 0.0) for _ in range(2)))
        self.head = nn.Linear(width, 5)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.places
        return self.head(self.blocks(x)[:, 0])


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.LSTM(6, 8, num_layers=2, batch_first=True)
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        return self.head(self.layers(x)[0][:, -1])


def image_batch(random):
    return torch.randn(4, 3, 16, 16, generator=random), torch.randint(5, (4,), generator=random)


def text_batch(random):
    return torch.randint(23, (3, 12), generator=random), torch.randint(23, (36,), generator=random)


def series_batch(random):
    return torch.randn(4, 7, 6, generator=random), torch.randint(5, (4,), generator=random)


PROGRAMS = {
    "residual": (residual_network, image_batch), "mobile": (mobile_network, image_batch), "unet": (UNet, image_batch),
    "gpt": (Gpt, text_batch), "gpt_dropout": (lambda: Gpt(dropout=0.2), text_batch), "vit": (Vit, image_batch),
    "lstm": (Lstm, series_batch)}
"""By name, what makes the module, and what makes a batch. The loss is the cross entropy."""

OPTIMIZERS = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.05, momentum=0.9, weight_decay=1e-3),
    "adam": lambda parameters: torch.optim.Adam(parameters, lr=3e-3),
    "adamw": lambda parameters: torch.optim.AdamW(parameters, lr=3e-3, weight_decay=0.05)}
