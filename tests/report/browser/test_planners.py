# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The page of two planners: its figures can be read, and its charts lie where they should, also on a narrow screen."""

import pytest


def luminance(colour):
    parts = [part / 255 for part in colour]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear))


def contrast(first, second):
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_all_text_can_be_read(open_page, theme):
    opened = open_page("planners.html", theme)
    opened.shoot(f"planners_{theme}")
    text = opened.text("main")
    assert "Lowtide 3,000 B (2.93 KiB) 3.50 us 1 1 2 keeps the memory; proven to take the least time" in text
    assert "Where Grappler falls short in this graph" in text
    colours = opened.run(
        """() => Array.from(document.querySelectorAll('h1, p, .key, td, th, svg text'), (one) => {
             const style = getComputedStyle(one);
             const colour = one.tagName === 'text' ? style.fill : style.color;
             return colour.match(/[0-9]+/g).slice(0, 3).map(Number); })"""
    )
    panel = opened.run(
        """() => getComputedStyle(document.querySelector('section')).backgroundColor.match(/[0-9]+/g)
             .slice(0, 3).map(Number)"""
    )
    assert len(colours) > 30
    assert all(contrast(colour, panel) >= 4.5 for colour in colours)


def test_lines_are_where_their_values_are(open_page):
    opened = open_page("planners.html", width=1000)
    boxes = opened.run(
        """() => { const chart = document.querySelector('svg').getBoundingClientRect();
             return Array.from(document.querySelectorAll('svg:first-of-type .line'), (one) => {
               const box = one.getBoundingClientRect();
               return [one.getAttribute('class'), (box.right - chart.left) / chart.width]; }); }"""
    )
    ends = dict(boxes[:4])
    # The runs end after 3,000, 4,000 and 3,500 of 4,000 ns. The chart has 80 of 900 to the left, and 20 to the right.
    for name, end in (("given", 3000), ("theirs", 4000), ("own", 3500)):
        assert abs(ends[f"line {name}"] - (80 + 800 * end / 4000) / 900) < 0.005, name


def test_a_narrow_screen_scrolls_only_tables(open_page):
    opened = open_page("planners.html", width=380)
    opened.shoot("planners_narrow")
    assert opened.run("() => document.documentElement.scrollWidth <= window.innerWidth")


def test_names_are_only_text(open_page):
    opened = open_page("planners_hostile.html")
    assert "<script>alert(1)</script>" in opened.text("h1")
    assert opened.run("() => document.querySelectorAll('script, img').length") == 0
