# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The page of a curve: points lead to their rows, texts of the drawing do not overlap, and dark themes are dark."""


def test_points_lead_to_rows(open_page):
    opened = open_page("curve.html")
    opened.shoot("curve_light")
    for row in (1, 2, 3, 4):
        opened.page.click(f"a[href='#row-{row}'] circle")
        assert opened.run("() => document.querySelector('tr:target').id") == f"row-{row}"


def test_texts_of_the_drawing_do_not_overlap(open_page):
    opened = open_page("curve.html", width=1000)
    boxes = opened.run(
        """() => Array.from(document.querySelectorAll('svg text'), (one) => {
             const {left, right, top, bottom} = one.getBoundingClientRect();
             return [left, right, top, bottom]; })"""
    )
    assert len(boxes) > 10
    for at, (left, right, top, bottom) in enumerate(boxes):
        for other in boxes[:at]:
            assert right <= other[0] or other[1] <= left or bottom <= other[2] or other[3] <= top


def test_a_dark_theme_is_dark(open_page):
    opened = open_page("curve.html", "dark")
    opened.shoot("curve_dark")
    colour = opened.run("() => getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).map(Number)")
    assert max(colour[:3]) < 40


def test_a_narrow_screen_scrolls_only_tables(open_page):
    opened = open_page("curve.html", width=380)
    opened.shoot("curve_narrow")
    assert opened.run("() => document.documentElement.scrollWidth <= window.innerWidth")
