# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Light and dark themes: contrast, and colours that the colour-blind can tell apart."""

import itertools
import math

import pytest

# Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency" (2009),
# severity 1.0, on linear RGB.
SIGHTS = {
    "full": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def linear(colour):
    return [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (one / 255 for one in colour)
    ]


def luminance(colour):
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear(colour)))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def oklab(rgb):
    """Ottosson, "A perceptual color space for image processing" (2020), from linear RGB."""
    cones = [
        math.copysign(abs(sum(weight * part for weight, part in zip(row, rgb))) ** (1 / 3), 1)
        for row in (
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        )
    ]
    rows = (
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    )
    return [sum(weight * cone for weight, cone in zip(row, cones)) for row in rows]


def seen(colour, sight):
    rgb = linear(colour)
    return oklab([min(1, max(0, sum(weight * part for weight, part in zip(row, rgb)))) for row in SIGHTS[sight]])


CLASSES = {
    "kinds": ["kind-temporary", "kind-output", "kind-scratch", "kind-input"],  # the others are never drawn
    "operators": [f"hue-{at}" for at in range(8)] + ["hue-other"],
    "changes": ["change-same", "change-peak", "change-shared", "change-resized", "change-only"],
    "peak": ["peak-used", "peak-kept", "peak-not"],
    "sizes": [f"size-{at}" for at in range(6)],
}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_can_be_read(open_page, theme):
    opened = open_page("small.html", theme)
    for ground in ("panel", "raised", "ground", "map"):
        for text in ("text", "muted", "accent", "good", "bad"):
            assert contrast(opened.css(text), opened.css(ground)) >= 4.5, (text, ground)
    for text in ("text", "muted", "accent", "good", "bad"):
        assert contrast(opened.css(text), opened.css("accent-soft")) >= 4.5, text
    for text in ("arena", "bound", "peak", "muted"):
        assert contrast(opened.css(text), opened.css("panel")) >= 4.5, text
    assert contrast(opened.css("edge"), opened.css("panel")) >= 3


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("group", list(CLASSES))
def test_classes_stand_out_and_can_be_told_apart(open_page, theme, group):
    opened = open_page("small.html", theme)
    colours = {name: opened.css(name) for name in CLASSES[group]}
    for name, colour in colours.items():
        assert contrast(colour, opened.css("map")) >= 3, name
    # 0.06 in OKLab is about three times what is just noticeable side by side.
    for sight in SIGHTS:
        for one, other in itertools.combinations(colours, 2):
            assert math.dist(seen(colours[one], sight), seen(colours[other], sight)) >= 0.06, (sight, one, other)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("colour", ["Peak", "Operator", "Size", "Kind"])
def test_names_on_rectangles_have_one_readable_colour(open_page, theme, colour):
    opened = open_page("network.html", theme)
    opened.page.click(f"#toolbar >> text={colour}")
    opened.settle()
    pairs = opened.run(
        """() => lowtide.charts[0].table.filter((paint, at) => paint && at < 128).map(({text, rgb}) => [text, rgb])"""
    )
    assert len(pairs) >= 9  # three classes of three shades
    assert len({text for text, _ in pairs}) == 1
    ink = opened.css("on-fill")
    for _, rgb in pairs:
        assert contrast(ink, rgb) >= 4.5, rgb


def test_theme_follows_the_system_until_chosen(open_page):
    opened = open_page("small.html", "dark")
    assert opened.run("() => document.documentElement.dataset.theme") == "dark"
    corner = opened.page.query_selector(".overlay").bounding_box()
    dark = opened.pixel(corner["x"] + 4, corner["y"] + 4)
    opened.page.emulate_media(color_scheme="light")
    opened.settle()
    assert opened.run("() => document.documentElement.dataset.theme") == "light"
    assert opened.pixel(corner["x"] + 4, corner["y"] + 4) != dark
    opened.page.click("#theme")
    opened.settle()
    assert opened.run("() => document.documentElement.dataset.theme") == "dark"
    assert opened.pixel(corner["x"] + 4, corner["y"] + 4) == dark
    opened.page.emulate_media(color_scheme="dark")
    opened.page.emulate_media(color_scheme="light")
    opened.settle()
    assert opened.run("() => document.documentElement.dataset.theme") == "dark"
    opened.press("t")
    assert opened.run("() => document.documentElement.dataset.theme") == "light"


def test_parts_have_names_for_screen_readers(open_page):
    opened = open_page("small.html")
    nameless = opened.run(
        """() => Array.from(document.querySelectorAll('button, input, canvas[role], [role=tablist], [role=radiogroup]'))
           .filter((part) => !(part.getAttribute('aria-label') || part.textContent.trim()))
           .map((part) => part.outerHTML)"""
    )
    assert nameless == []
    label = opened.page.get_attribute(".overlay", "aria-label")
    assert label.startswith("Map of 6 buffers over 9 steps")
