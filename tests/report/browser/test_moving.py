# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Zoom, pan, keys, search."""

import math

import pytest


def test_keys_zoom_pan_and_fit(open_page):
    opened = open_page("network.html")
    fitted = opened.view()
    assert (fitted["x0"], fitted["x1"], fitted["y0"]) == (0, 64, 0)
    opened.press("+", "+")
    zoomed = opened.view()
    # Each press shows 1 / 1.35 of the steps.
    assert zoomed["x1"] - zoomed["x0"] == pytest.approx(64 / 1.35**2)
    opened.press("ArrowLeft")
    panned = opened.view()
    assert zoomed["x0"] - panned["x0"] == pytest.approx(0.12 * (zoomed["x1"] - zoomed["x0"]))
    opened.press(">", "ArrowUp")
    assert opened.view()["y0"] > panned["y0"]
    opened.press("ArrowDown", "<", "ArrowRight", "-")
    assert opened.view()["x1"] - opened.view()["x0"] == pytest.approx(64 / 1.35)
    assert (zoomed["y0"], zoomed["y1"]) == (fitted["y0"], fitted["y1"]), "addresses keep their range"
    height = opened.view()["y1"] - opened.view()["y0"]
    opened.press(">")
    assert opened.view()["x1"] - opened.view()["x0"] == pytest.approx(64 / 1.35**2)
    assert opened.view()["y1"] - opened.view()["y0"] == pytest.approx(height / 1.35)
    opened.press("<")
    assert opened.view()["y1"] - opened.view()["y0"] == pytest.approx(height)
    opened.press("0")
    assert opened.view() == fitted


@pytest.mark.parametrize("name", ["small.html", "network.html", "generated_10k.html", "packing.html"])
def test_zooming_keeps_the_peak_or_the_selection_in_view(open_page, name):
    opened = open_page(name)
    in_view = """() => { const {view, charts: [chart], state} = lowtide; const {facts, sheet} = chart; chart.draw();
        const [begin, end] = sheet.spanAt(facts.peakStep).map((step) => sheet.axis.at(step));
        return {count: chart.layer.count, hasPeak: begin < view.x1 && end > view.x0,
                note: document.querySelector('.nothing').hidden}; }"""
    opened.press(*["+"] * 30)
    seen = opened.run(in_view)
    assert seen["count"] > 0 and seen["hasPeak"] and seen["note"]
    opened.press("0", "Escape", ".", "0", *["+"] * 20)
    buffer = opened.run("() => lowtide.state.selected.buffer")
    box = opened.box(buffer)
    assert box["x1"] > box["x0"] and box["y1"] > box["y0"], "some of the selected buffer is in the picture"


def test_peak_zooms_to_its_steps_and_addresses(open_page):
    opened = open_page("generated_10k.html")
    opened.press("p")
    view = opened.view()
    facts = opened.run(
        """() => { const {facts: {peakStep, liveAtPeak}, sheet} = lowtide.charts[0];
           return {peakStep, low: Math.min(...liveAtPeak.map((buffer) => sheet.bufferOffset[buffer])),
             high: Math.max(...liveAtPeak.map((buffer) => sheet.bufferOffset[buffer] + sheet.bufferSize[buffer]))}; }"""
    )
    # 20 steps on each side, and all addresses that are live at the peak.
    assert (view["x0"], view["x1"]) == (facts["peakStep"] - 20, facts["peakStep"] + 21)
    assert view["y0"] <= facts["low"] and view["y1"] >= facts["high"]
    assert view["y1"] - view["y0"] <= 1.13 * (facts["high"] - facts["low"])


def test_an_empty_part_of_the_map_says_so(open_page):
    opened = open_page("small.html")
    opened.run("() => { lowtide.view.setBox(7.2, 8.8, 300000, 400000); lowtide.charts[0].request('scene'); }")
    opened.settle()
    assert "Nothing is live here." in opened.text(".stage")
    opened.press("0")
    assert not opened.page.is_visible(".stage .nothing")


def test_view_never_leaves_the_plan(open_page):
    opened = open_page("network.html")
    for key in ["ArrowLeft", "ArrowDown", "-", "ArrowRight", "ArrowUp"]:
        opened.press(*[key] * 4)
    view = opened.view()
    assert view["x0"] >= 0 and view["x1"] <= 64 and view["y0"] >= 0
    opened.press(*["+"] * 60)
    assert opened.view()["x1"] - opened.view()["x0"] == pytest.approx(2)


def test_wheel_zooms_at_the_pointer(open_page):
    opened = open_page("network.html")
    x, y = map(int, opened.centre(opened.buffer("/encoder/level1/conv2/relu_output_0")))
    opened.page.mouse.move(x, y)
    step = opened.run("(x) => lowtide.charts[0].stepAt(x - lowtide.charts[0].overlay.getBoundingClientRect().left)", x)
    opened.page.mouse.wheel(0, -300)
    opened.settle()
    view = opened.view()
    assert view["x1"] - view["x0"] < 64 * 0.6
    after = opened.run("(x) => lowtide.charts[0].stepAt(x - lowtide.charts[0].overlay.getBoundingClientRect().left)", x)
    assert after == pytest.approx(step)
    height = view["y1"] - view["y0"]
    # Over the load curve, the wheel zooms only along the steps.
    bounds = opened.page.query_selector(".overlay").bounding_box()
    opened.page.mouse.move(x, bounds["y"] + 60)
    opened.page.mouse.wheel(0, -300)
    opened.settle()
    assert opened.view()["y1"] - opened.view()["y0"] == height
    assert opened.view()["x1"] - opened.view()["x0"] < view["x1"] - view["x0"]


@pytest.mark.parametrize("name", ["network.html", "packing.html"])
def test_the_wheel_with_alt_zooms_only_one_direction(open_page, name):
    opened = open_page(name)
    area = opened.run("() => lowtide.charts[0].layout.map")
    bounds = opened.page.query_selector(".overlay").bounding_box()
    fitted = opened.view()
    opened.page.mouse.move(bounds["x"] + area["x"] + area["w"] / 2, bounds["y"] + area["y"] + area["h"] / 2)
    opened.page.keyboard.down("Alt")
    opened.page.mouse.wheel(0, -300)
    opened.settle()
    view = opened.view()
    # A turn of 300 shows exp(-0.66) of the steps, with the middle under the pointer where it was.
    width = fitted["x1"] * math.exp(-0.66)
    assert (view["x0"], view["x1"]) == pytest.approx(((fitted["x1"] - width) / 2, (fitted["x1"] + width) / 2))
    assert (view["y0"], view["y1"]) == (fitted["y0"], fitted["y1"])
    opened.page.keyboard.down("Shift")
    opened.page.mouse.wheel(0, -300)
    opened.settle()
    assert (opened.view()["x0"], opened.view()["x1"]) == (view["x0"], view["x1"])
    assert opened.view()["y1"] - opened.view()["y0"] == pytest.approx(fitted["y1"] * math.exp(-0.66))
    opened.page.keyboard.up("Shift")
    opened.page.keyboard.up("Alt")


def test_buttons_zoom_only_the_steps(open_page):
    opened = open_page("network.html")
    fitted = opened.view()
    opened.page.click("#toolbar button[title^='Zoom in on steps alone']")
    opened.settle()
    assert opened.view()["x1"] - opened.view()["x0"] == pytest.approx(64 / 1.6)
    assert (opened.view()["y0"], opened.view()["y1"]) == (fitted["y0"], fitted["y1"])
    opened.page.click("#toolbar button[title^='Zoom out on steps alone']")
    opened.settle()
    assert opened.view() == fitted


def test_drag_pans_and_does_not_select(open_page):
    opened = open_page("network.html")
    opened.press("+", "+", "+")
    before = opened.view()
    bounds = opened.page.query_selector(".overlay").bounding_box()
    x, y = bounds["x"] + 500, bounds["y"] + 300
    opened.page.mouse.move(x, y)
    opened.page.mouse.down()
    opened.page.mouse.move(x - 60, y, steps=4)
    opened.page.mouse.move(x - 120, y + 10, steps=4)
    opened.page.mouse.up()
    opened.settle()
    scale = opened.run("() => lowtide.charts[0].scaleX")
    assert opened.view()["x0"] - before["x0"] == pytest.approx(120 / scale, rel=0.01)
    assert opened.run("() => lowtide.state.selected") is None
    opened.page.mouse.dblclick(x, y)
    opened.settle()
    assert opened.view()["x1"] - opened.view()["x0"] == 64


def test_shift_drag_zooms_into_a_box(open_page):
    opened = open_page("network.html")
    area = opened.run("() => lowtide.charts[0].layout.map")
    bounds = opened.page.query_selector(".overlay").bounding_box()
    left, top = bounds["x"] + area["x"], bounds["y"] + area["y"]
    opened.page.keyboard.down("Shift")
    opened.page.mouse.move(left + area["w"] / 4, top + area["h"] / 4)
    opened.page.mouse.down()
    opened.page.mouse.move(left + area["w"] / 2, top + area["h"] * 3 / 4, steps=5)
    opened.page.mouse.up()
    opened.page.keyboard.up("Shift")
    opened.settle()
    view = opened.view()
    assert (view["x0"], view["x1"]) == pytest.approx((16, 32))


def test_strip_moves_along_the_program(open_page):
    opened = open_page("generated_10k.html")
    opened.run("() => { lowtide.view.setBox(0, 100, 0, 1e6); lowtide.charts[0].request('scene'); }")
    opened.settle()
    strip = opened.run("() => lowtide.charts[0].layout.strip")
    bounds = opened.page.query_selector(".overlay").bounding_box()
    opened.page.mouse.click(bounds["x"] + strip["x"] + strip["w"] / 2, bounds["y"] + strip["y"] + 8)
    opened.settle()
    view = opened.view()
    assert (view["x0"] + view["x1"]) / 2 == pytest.approx(5000, abs=15)


def pinch(opened, y):
    """Moves two fingers apart, from 100 pixels to 300."""
    opened.run(
        """(y) => { const canvas = lowtide.charts[0].overlay; const bounds = canvas.getBoundingClientRect();
           canvas.setPointerCapture = () => {};
           const send = (type, id, x, y) => canvas.dispatchEvent(new PointerEvent(type, {
             pointerId: id, pointerType: 'touch',
             clientX: bounds.left + x, clientY: bounds.top + y, button: 0, bubbles: true}));
           send('pointerdown', 1, 400, y); send('pointerdown', 2, 500, y);
           for (let by = 10; by <= 100; by += 10) { send('pointermove', 1, 400 - by, y);
             send('pointermove', 2, 500 + by, y); }
           send('pointerup', 1, 300, y); send('pointerup', 2, 600, y); }""",
        y,
    )
    opened.settle()


def test_pinch_zooms(open_page):
    opened = open_page("network.html", has_touch=True)
    fitted = opened.view()
    pinch(opened, 300)
    # 100 pixels between the fingers became 300.
    assert opened.view()["y1"] - opened.view()["y0"] == pytest.approx(fitted["y1"] / 3, rel=0.02)
    assert opened.view()["x1"] - opened.view()["x0"] == pytest.approx(64 / 3, rel=0.02)
    assert opened.run("() => lowtide.state.selected") is None


def test_pinch_on_the_load_zooms_only_the_steps(open_page):
    opened = open_page("network.html", has_touch=True)
    fitted = opened.view()
    pinch(opened, 70)
    assert opened.view()["x1"] - opened.view()["x0"] == pytest.approx(64 / 3, rel=0.02)
    assert (opened.view()["y0"], opened.view()["y1"]) == (fitted["y0"], fitted["y1"])


def test_search_highlights_a_match_and_goes_to_it(open_page):
    opened = open_page("generated_10k.html")
    opened.press("/")
    assert opened.run("() => document.activeElement.id") == "search"
    opened.page.keyboard.type("/t1234")
    # Results for the first letters may appear before those for the whole word.
    opened.page.wait_for_function("() => document.querySelectorAll('#results:not([hidden]) li').length === 1")
    results = [item.inner_text().split() for item in opened.page.query_selector_all("#results li")]
    # It is the only match. No name has a digit after t1234, because the plan has 10,000 tensors.
    assert results == [["/block102/t1234", "tensor"]]
    lit = opened.run("() => Array.from(lowtide.state.found.get(lowtide.state.shown)).reduce((sum, one) => sum + one)")
    assert lit == 1
    opened.press("Enter")
    assert opened.text("#panel h2") == "/block102/t1234"
    view = opened.view()
    assert view["x0"] <= 1234 <= view["x1"] and view["x1"] - view["x0"] < 9000
    opened.shoot("search")
    opened.press("Escape")
    assert opened.run("() => lowtide.state.found") is None
    assert opened.page.input_value("#search") == ""


def test_search_hides_the_tooltip(open_page):
    opened = open_page("small.html")
    opened.page.mouse.move(*opened.centre(opened.buffer("cat")))
    opened.settle()
    assert opened.page.is_visible("#tooltip")
    opened.press("/")
    opened.page.keyboard.type("b")
    opened.page.wait_for_selector("#results li")
    assert opened.page.is_hidden("#tooltip")


def test_search_by_node_goes_to_its_step(open_page):
    opened = open_page("small.html")
    opened.page.fill("#search", "CONV3")
    opened.page.wait_for_selector("#results:not([hidden]) li")
    opened.page.focus("#search")
    opened.press("Enter")
    assert "At step 3" in opened.text("#tabs")
    assert opened.text("#panel h2") == "cat"


def test_search_by_operator_highlights_its_outputs(open_page):
    opened = open_page("network.html")
    opened.page.fill("#search", "concat")
    opened.page.wait_for_selector("#results:not([hidden]) li")
    assert [part.strip() for part in opened.page.inner_text("#results li").split("\n")] == ["Concat", "operator"]
    found = opened.run(
        """() => { const {shown, found} = lowtide.state; const flags = found.get(shown);
           return Array.from(flags.keys()).filter((at) => flags[at]).map((at) => shown.ops[shown.bufferOp[at]]); }"""
    )
    assert len(found) == 5 and set(found) == {"Concat"}


def test_search_reports_that_nothing_matches(open_page):
    opened = open_page("small.html")
    opened.page.fill("#search", "no such thing")
    opened.page.wait_for_selector("#results:not([hidden]) li")
    assert opened.text("#results") == "No tensor, node or operator matches."


def test_everything_can_be_reached_by_keyboard(open_page):
    opened = open_page("small.html")
    seen = []
    for _ in range(60):
        opened.page.keyboard.press("Tab")
        seen.append(
            opened.run(
                """() => document.activeElement.id || document.activeElement.getAttribute('role') ||
                     document.activeElement.tagName"""
            )
        )
    for part in ("search", "save-svg", "save-png", "theme", "open-help", "radio", "application", "tab", "TR", "panel"):
        assert part in seen, part
    opened.page.focus("#table tbody tr >> nth=0")
    opened.press("ArrowDown", "Enter")
    assert opened.text("#panel h2") == "cat"
    opened.press("Escape")
    assert opened.run("() => lowtide.state.selected") is None


def test_keys_go_from_buffer_to_buffer_and_step_to_step(open_page):
    opened = open_page("small.html")
    opened.page.focus(".overlay")
    opened.press(".")
    assert opened.text("#panel h2") == "b"
    opened.press(".")
    assert opened.text("#panel h2") == "cat"
    opened.press(",")
    assert opened.text("#panel h2") == "b"
    opened.press("Escape", "]", "]")
    assert "At step 4" in opened.text("#tabs")
    opened.press("[")
    assert "At step 3" in opened.text("#tabs")
    opened.press("Enter")
    assert opened.text("#panel h2") == "b"  # the largest at step 3; cat is as large and begins later
    opened.press("p")
    assert "In the peak, step 2" in opened.text("#tabs")


def test_help_opens_and_closes(open_page):
    opened = open_page("small.html", "dark")
    opened.press("?")
    assert opened.page.is_visible("#help")
    opened.shoot("help")
    assert "Zoom in" in opened.text("#help")
    assert "Alt + wheel Zoom only on steps; addresses keep their range" in opened.text("#help")
    before = opened.view()
    opened.press("+")
    assert opened.view() == before
    opened.press("Escape")
    assert not opened.page.is_visible("#help")
