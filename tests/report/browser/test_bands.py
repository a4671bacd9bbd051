# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The strip of phases above the map. bands.html is small_packing() with the phases of small_bands()."""

import xml.etree.ElementTree

import pytest

SVG = "{http://www.w3.org/2000/svg}"

# Times, names and rows of small_bands().
BANDS = [(5, "forward", 0), (29, "forward", 0), (31, "backward", 0), (59, "backward", 0), (61, "forward", 1),
         (69, "forward", 1), (71, "update", 0), (79, "update", 0)]
HUES = {"forward": "hue-0", "backward": "hue-1", "update": "hue-2"}


def place(opened, time, row=0, end=90):
    """Where a time of a row is on the screen, near the upper edge, where no names are."""
    bands = opened.run("() => lowtide.charts[0].layout.bands")
    bounds = opened.page.query_selector(".overlay").bounding_box()
    return bounds["x"] + bands["x"] + bands["w"] * time / end, bounds["y"] + bands["y"] + 1 + row * 16


def close(found, wanted, most=2):
    return all(abs(a - b) <= most for a, b in zip(found, wanted))


def tooltip(opened, time, row=0):
    opened.page.mouse.move(*place(opened, time, row))
    opened.settle()
    return opened.text("#tooltip") if opened.page.is_visible("#tooltip") else ""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_phase_has_its_colour_times_and_row(open_page, theme):
    opened = open_page("bands.html", theme)
    opened.shoot(f"bands_{theme}")
    for time, name, row in BANDS:
        assert close(opened.pixel(*place(opened, time, row)), opened.css(HUES[name])), (time, row)
        assert close(opened.pixel(*place(opened, time, 1 - row)), opened.css("strip")), (time, 1 - row)
    assert close(opened.pixel(*place(opened, 85)), opened.css("strip")), "no phase"
    legend = opened.page.query_selector_all("[aria-label=Phases] button")
    assert [one.inner_text() for one in legend] == ["forward", "backward", "update"]
    colours = [one.query_selector(".swatch").evaluate("(box) => getComputedStyle(box).backgroundColor")
               for one in legend]
    assert colours == [f"rgb({', '.join(map(str, opened.css(hue)))})" for hue in HUES.values()]


def test_a_band_says_its_times(open_page):
    opened = open_page("bands.html")
    assert tooltip(opened, 10) == "forward time [0, 30), 30 long forward: 30 long in all, and 10 again"
    assert tooltip(opened, 65, 1) == "forward again time [60, 70), 10 long forward: 30 long in all, and 10 again"
    assert tooltip(opened, 75) == "update time [70, 80), 10 long update: 10 long in all"
    assert tooltip(opened, 65) == tooltip(opened, 85) == ""
    load = opened.run("() => lowtide.charts[0].layout.load")
    bounds = opened.page.query_selector(".overlay").bounding_box()
    opened.page.mouse.move(bounds["x"] + load["x"] + load["w"] * 65 / 90, bounds["y"] + load["y"] + 20)
    opened.settle()
    assert opened.text("#tooltip").startswith("time 65 forward again live bytes")
    opened.page.mouse.click(*place(opened, 45))
    assert opened.run("() => lowtide.state.step") == 45


def test_bands_follow_zoom_and_pan(open_page):
    opened = open_page("bands.html")
    opened.run("() => { lowtide.view.setBox(20, 50, 0, 1e5); lowtide.charts[0].request('scene'); }")
    opened.settle()
    # 30 lies a third of the way from 20 to 50.
    assert close(opened.pixel(*place(opened, 9.8, end=30)), opened.css("hue-0"))
    assert close(opened.pixel(*place(opened, 10.2, end=30)), opened.css("hue-1"))
    before = opened.view()
    opened.page.mouse.move(*place(opened, 15, end=30))
    opened.page.mouse.wheel(0, -300)
    opened.settle()
    after = opened.view()
    assert after["x1"] - after["x0"] < before["x1"] - before["x0"] and after["y1"] == before["y1"]


def test_keys_and_screen_readers_reach_the_phases(open_page):
    opened = open_page("bands.html")
    label = opened.page.get_attribute(".overlay", "aria-label")
    assert label.startswith("Map of 5 buffers over 4 moments in the phases forward, backward, update: ")
    opened.press("p", "]")
    assert opened.text("#announcer") == "time 60, forward again"
    assert "forward again" in opened.text(".step-text")
    button = opened.page.locator("[aria-label=Phases] button >> nth=1")
    assert button.get_attribute("title") == "30 long in all: zoom to these times"
    button.focus()
    opened.press("Enter")
    assert (opened.view()["x0"], opened.view()["x1"]) == (30, 60)
    assert opened.text("#announcer") == "backward, time [30, 60), 30 long in all"
    assert opened.page.evaluate("() => document.activeElement.innerText") == "backward"
    opened.press("?")
    assert "what the times above the map belong to" in opened.text("#help")


def test_saved_pictures_have_the_phases(open_page):
    opened = open_page("bands.html")
    root = xml.etree.ElementTree.fromstring(opened.run("() => lowtide.svg()"))
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"phase", "again", "forward", "backward", "update"} <= set(texts)
    assert texts.count("backward") == 2  # in its band, and in the legend
    width = opened.run("() => lowtide.charts[0].layout.bands.w")
    widths = [float(rect.get("width")) for rect in root.iter(f"{SVG}rect")
              if rect.get("fill") == opened.run("() => lowtide.charts[0].bandInk[1]")]
    assert any(abs(one - width / 3) <= 1 for one in widths)
    with opened.page.expect_download():
        opened.page.click("#save-png")


def test_pages_without_phases_have_no_strip(open_page):
    for name in ("packing.html", "small.html"):
        opened = open_page(name)
        layout = opened.run("() => lowtide.charts[0].layout")
        assert layout["bands"]["h"] == 0 and layout["map"]["y"] == layout["load"]["y"] + layout["load"]["h"] + 10
        assert opened.page.locator("[aria-label=Phases]").count() == 0
        assert "phases" not in opened.page.get_attribute(".overlay", "aria-label")
        bounds = opened.page.query_selector(".overlay").bounding_box()
        opened.page.mouse.move(bounds["x"] + 400, bounds["y"] + layout["map"]["y"] - 3)  # between load and map
        opened.settle()
        assert not opened.page.is_visible("#tooltip")
        opened.press("?")
        assert "Phase" not in opened.text("#help")


def test_200000_bands_are_merged_per_pixel(open_page):
    opened = open_page("bands_20k.html")
    opened.shoot("bands_20k")
    boxes = opened.run(
        """() => { const [chart] = lowtide.charts; const drawn = {};
           const context = {fillStyle: '', fillRect() { drawn[this.fillStyle] = (drawn[this.fillStyle] ?? 0) + 1; }};
           const real = chart.scene.getContext('2d');
           const counted = new Proxy(real, {get: (_, key) => {
             if (key === 'fillRect') return (...box) => { context.fillRect.call(real); real.fillRect(...box); };
             const value = real[key]; return typeof value === 'function' ? value.bind(real) : value; },
             set: (_, key, value) => { real[key] = value; return true; }});
           chart.drawScene(counted);
           return drawn; }"""
    )
    bands = opened.run("() => lowtide.charts[0].layout.bands")
    hues = opened.run("() => lowtide.charts[0].bandInk.slice(0, 2)")
    assert 0 < sum(boxes.get(hue, 0) for hue in hues) <= 2 * bands["w"] + 2
    # Two of three bands are `backward`, so it covers most of each pixel. The page begins with one of them.
    assert opened.run("() => lowtide.state.shown.bands.names") == ["backward", "forward"]
    bounds = opened.page.query_selector(".overlay").bounding_box()
    x = bounds["x"] + bands["x"]
    found = {tuple(opened.pixel(x + at, bounds["y"] + bands["y"] + 1)) for at in range(5, int(bands["w"]) - 30, 50)}
    assert found == {tuple(opened.css("hue-0"))}
    assert opened.run("() => lowtide.svg().length") < 10_000_000


@pytest.mark.parametrize("width", [1400, 390])
def test_names_of_phases_are_only_text(open_page, width):
    opened = open_page("bands_hostile.html", width=width)
    opened.shoot(f"bands_hostile_{width}")
    shown = opened.page.locator("[aria-label=Phases] .legend-item").count()
    assert shown == 9 and "other phase" in opened.text("[aria-label=Phases]")
    for at in range(12):
        tooltip(opened, at + 0.5)
    xml.etree.ElementTree.fromstring(opened.run("() => lowtide.svg()"))
    assert opened.run("() => document.body.dataset.owned") is None
    assert opened.page.locator("script").count() == 2
    assert opened.run("() => document.documentElement.scrollWidth") <= width
