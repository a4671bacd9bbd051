# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The address of the page holds what is shown."""


def address(opened):
    opened.page.wait_for_timeout(300)
    return opened.run("() => location.hash")


def test_the_address_follows_and_leads_back(open_page):
    opened = open_page("network.html")
    assert address(opened) == ""
    opened.click_buffer("/encoder/level0/conv2/relu_output_0")
    opened.page.click("#toolbar >> text=Size")
    opened.run("() => lowtide.goToStep(12)")
    opened.press("+", "+")
    hash_text = address(opened)
    view = opened.view()
    assert "colour=size" in hash_text and "step=12" in hash_text and "buffer=0." in hash_text

    again = open_page("network.html")
    again.run("(hash) => { location.hash = hash; }", hash_text)
    again.page.wait_for_timeout(300)
    assert again.view() == view or max(abs(again.view()[key] - view[key]) for key in view) < 1e-3 * view["y1"]
    assert again.text("#panel h2") == "/encoder/level0/conv2/relu_output_0"
    assert again.run("() => [lowtide.state.step, lowtide.state.colourBy]") == [12, "size"]
    again.press("Escape", "Escape", "0", "c", "c", "c")
    again.page.click("#toolbar >> text=Peak >> nth=0")
    assert address(again) in ("", "#")


def test_a_body_and_a_region_have_addresses(open_page):
    opened = open_page("regions.html")
    opened.page.click("#toolbar >> text=dram")
    assert address(opened) == "#region=1"
    bodies = open_page("bodies.html")
    bodies.page.click("#crumbs >> text=nested")
    assert address(bodies) == "#plan=0"


def test_addresses_that_mean_nothing_are_ignored(open_page):
    opened = open_page("small.html")
    for text in (
        "#plan=99&buffer=0.99&step=1e9&colour=<b>&view=1,0,2&axis=no&region=7&mode=both",
        "#view=NaN,1,2,3",
        "#buffer=x",
        "#&&==&",
        "#__proto__=1&constructor=2",
    ):
        opened.run("(hash) => { location.hash = hash; }", text)
        opened.settle()
    assert opened.run("() => lowtide.state.selected") is None
    assert opened.text("#panel").startswith("Why 576 KiB")
