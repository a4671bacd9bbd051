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


def test_points_lead_to_rows(open_page):
    opened = open_page("planners.html")
    for row in ("memory-1", "memory-2", "memory-3", "memory-4", "plan-2"):
        opened.page.locator(f"svg.wide a[href='#{row}'] > *").click(force=True)
        assert opened.run("() => document.querySelector('tr:target').id") == row


@pytest.mark.parametrize("name", ["planners.html", "curve.html"])
@pytest.mark.parametrize("width", [380, 1000])
def test_texts_of_the_drawings_are_inside_and_apart(open_page, name, width):
    opened = open_page(name, width=width)
    charts = opened.run(
        """() => Array.from(document.querySelectorAll('svg'), (chart) => {
             const side = ({left, right, top, bottom}) => [left, right, top, bottom];
             return [side(chart.getBoundingClientRect()),
                     Array.from(chart.querySelectorAll('text'), (one) => side(one.getBoundingClientRect()))]; })"""
    )
    shown = [(chart, texts) for chart, texts in charts if chart[1] > chart[0]]
    assert len(shown) == len(charts) / 2, "each chart is there for wide and for narrow screens"
    for (left, right, top, bottom), texts in shown:
        assert len(texts) > 8
        for at, one in enumerate(texts):
            assert left <= one[0] and one[1] <= right + 1 and top <= one[2] and one[3] <= bottom
            for other in texts[:at]:
                assert one[1] <= other[0] or other[1] <= one[0] or one[3] <= other[2] or other[3] <= one[2]


def test_the_curve_fills_its_chart(open_page):
    opened = open_page("planners.html")
    # The points are from 1,000 to 4,000 bytes and from 3 to 4 us.
    share = opened.run(
        """() => { const chart = document.querySelectorAll('svg.wide')[1];
             const area = chart.querySelector('.axis').getBoundingClientRect();
             const points = Array.from(chart.querySelectorAll('a > *'), (one) => one.getBoundingClientRect());
             const span = (low, high) => Math.max(...points.map((one) => one[high])) -
               Math.min(...points.map((one) => one[low]));
             return [span('left', 'right') / area.width, span('top', 'bottom') / area.height]; }"""
    )
    assert min(share) > 0.75


@pytest.mark.parametrize("name", ["planners.html", "curve.html"])
def test_a_narrow_screen_shows_whole_charts(open_page, name):
    opened = open_page(name, width=390)
    fits = opened.run(
        """() => Array.from(document.querySelectorAll('svg.narrow'), (chart) => {
             const {left, right} = chart.getBoundingClientRect();
             return right > left && left >= 0 && right <= window.innerWidth; })"""
    )
    assert len(fits) > 0 and all(fits)


def test_a_narrow_screen_scrolls_only_tables(open_page):
    opened = open_page("planners.html", width=380)
    opened.shoot("planners_narrow")
    assert opened.run("() => document.documentElement.scrollWidth <= window.innerWidth")


def test_names_are_only_text(open_page):
    opened = open_page("planners_hostile.html")
    assert "<script>alert(1)</script>" in opened.text("h1")
    assert opened.run("() => document.querySelectorAll('script, img').length") == 0
