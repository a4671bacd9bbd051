# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The panel before anything is selected: what holds the peak, why no order needs less, what would lower it."""

import pytest


def remedies(opened):
    """Title -> peak that remains."""
    return {
        item.query_selector("strong").inner_text(): item.query_selector(".better").inner_text()
        for item in opened.page.query_selector_all(".remedy")
    }


def test_the_buffers_of_the_peak_come_first(open_page):
    opened = open_page("small.html")
    panel = opened.text("#panel")
    assert panel.startswith(
        "Why 576 KiB 576 KiB (589,824 B) are live at the same time at step 2 of 9 (the first is step 0). "
        "This is the situation at step 2 · Conv conv2: 256 KiB b read 256 KiB cat written "
        "64 KiB scratch of Conv conv2 scratch of the step"
    )
    opened.page.click("#panel .peak-row >> text=cat")
    assert opened.text("#panel h2") == "cat"
    opened.press("Escape")
    opened.page.click("#toolbar >> text=To peak")
    assert opened.run("() => lowtide.state.step") == 2


def test_a_buffer_that_stays_at_the_peak_says_why(open_page):
    opened = open_page("kept.html")
    opened.shoot("kept")
    panel = opened.text("#panel")
    assert "64 KiB a kept for step 3 · Add add; a hint keeps it" in panel
    assert panel.count("a hint keeps it") == 1
    assert "64 KiB a kept for step 3 · Add add" in open_page("skip.html").text("#panel")
    assert "a hint keeps it" not in open_page("skip.html").text("#panel")


def test_the_proof_is_that_of_explain(open_page):
    opened = open_page("small.html")
    assert "Why no order needs less Proven: no plan needs less." in opened.text("#panel")
    opened.page.click("#panel .why >> text=/^step 2$/")
    assert "In the peak, step 2" in opened.text("#tabs")
    assert "c could be written over b." in opened.text("#panel")
    # A plan file has the bound but not the proof.
    alone = open_page("activation.html")
    assert (
        "The plan states that no plan without recomputation or extra copies needs less than 512 KiB (524,288 B). "
        "A plan file does not hold the proof. lowtide explain MODEL prints it."
    ) in alone.text("#panel")


def test_remedies_have_the_peaks_that_remain(open_page):
    opened = open_page("activation.html")
    opened.shoot("activation")
    # Without the upper buffer, the last step has the most: 256 + 64. With half of each buffer, the peak is 256. The
    # step after the peak needs 320.
    assert remedies(opened) == {
        "Fuse element-wise operators": "320 KiB",
        "Use a smaller type": "256 KiB",
        "Split the operators at the peak": "at best 320 KiB",
    }
    panel = opened.text("#panel")
    assert "One operator instead of step 1 · Add add, step 2 · Clip clip, step 3 · Mul mul needs no buffer" in panel
    assert "With 8-bit values: 128 KiB." in panel
    assert "step 1 · Add add itself reads or writes every live byte." in panel


def test_kept_buffers_could_be_recomputed_or_swapped(open_page):
    opened = open_page("network.html")
    load = opened.run("() => lowtide.charts[0].facts.largestLoad")
    listed = opened.run(
        """() => { const {facts: {peakStep, load, liveAtPeak}, sheet} = lowtide.charts[0];
           const touches = (buffer) => [...sheet.valuesOfBuffer.of(buffer)].flatMap((value) =>
             [sheet.valueWritten[value], ...sheet.readersOf(value)]);
           // For each kept buffer, the largest load if it were away between its uses around the peak.
           return liveAtPeak.filter((buffer) => !touches(buffer).includes(peakStep) &&
               touches(buffer).some((step) => step > peakStep)).map((buffer) => {
             const from = Math.max(...touches(buffer).filter((step) => step < peakStep));
             const until = Math.min(...touches(buffer).filter((step) => step > peakStep));
             return Math.max(...load.map((bytes, step) =>
               bytes - (step > from && step < until ? sheet.bufferSize[buffer] : 0))); }); }"""
    )
    worth = sorted(peak for peak in listed if peak <= 0.99 * load)
    shown = opened.run(
        """() => [...document.querySelectorAll('.remedy')].filter((one) =>
             one.querySelector('strong').textContent === 'Recompute or swap')
             .map((one) => Number(one.querySelector('.better').title.replace(/[^0-9]/g, '')))"""
    )
    assert shown == worth[:2]


@pytest.mark.parametrize("name", ["regions.html", "bodies.html", "transfers.html", "hostile.html", "streams.html"])
def test_every_plan_has_an_explanation(open_page, name):
    opened = open_page(name)
    assert opened.text("#panel h2").startswith("Why ")
    assert "What would lower the peak" in opened.text("#panel")


def test_a_dataflow_arena_is_not_compared_with_one_order(open_page):
    opened = open_page("dataflow.html")
    # The arena and the peak have 48 KiB.
    assert "Peak 48 KiB 0 B more to allow any order" in opened.text("#metrics")
    panel = opened.text("#panel")
    assert "Why the arena has 48 KiB Steps run in any order that the graph permits." in panel
    assert "Why no order needs less" not in panel


def test_a_buffer_outside_the_peak_lowers_nothing(open_page):
    opened = open_page("network.html")
    told = opened.run(
        """() => { const {select, state: {shown}, charts: [{facts}]} = lowtide;
           const away = [...facts.placed].filter((buffer) => shown.bytesAt(buffer, facts.peakStep) === 0);
           return away.map((buffer) => { select(shown, buffer); return document.getElementById('panel').textContent; })
             .filter((text) => text.includes('would free')); }"""
    )
    assert told and all("That would not lower the peak" in text for text in told)


def test_names_can_be_copied_for_a_graph_viewer(open_page):
    opened = open_page("network.html")
    opened.click_buffer("/encoder/level0/conv2/relu_output_0")
    names = [each.inner_text() for each in opened.page.query_selector_all("#panel .digest")]
    assert names[0] == "/encoder/level0/conv2/relu_output_0"
    opened.page.click("#panel .copy >> nth=0")
    opened.page.wait_for_function("() => document.querySelector('#panel .copy').textContent === 'copied'")


def test_weights_are_shown_with_their_region(open_page):
    opened = open_page("flash.html")
    assert "weights 36 KiB (36,864 B) of 2 MiB in flash" in opened.text("#panel")
    details = opened.run("() => document.querySelector('.details').textContent")
    assert "arena 0 B of 2 MiB, peak 0 B, holds the weights" in details
    assert "weights 36 KiB (36,864 B) With the arena" in open_page("small.html").text("#panel")


def test_the_limit_of_a_region_with_weights_is_what_they_leave(open_page):
    opened = open_page("shared_region.html")
    assert "Capacity without weights 604 KiB" in opened.text("#metrics")  # 640 - 36
    assert "capacity without weights 604 KiB" in opened.run("() => lowtide.svg()")


def test_inputs_and_weights_are_drawn_beside_the_arena(open_page):
    opened = open_page("small.html")
    outside = opened.run("() => lowtide.charts[0].layout.outside")
    bounds = opened.page.query_selector(".overlay").bounding_box()

    def colour(share):
        return opened.pixel(bounds["x"] + outside["x"] + 5, bounds["y"] + outside["y"] + outside["h"] * (1 - share))

    # From below: 576 KiB of arena, 64 of inputs, 36 of weights.
    assert colour(0.3) == opened.css("arena")
    assert colour((576 + 32) / 676) == opened.css("kind-input")
    assert colour((576 + 64 + 18) / 676) == opened.css("kind-constant")
    assert "inputs 64 KiB (65,536 B) weights 36 KiB (36,864 B)" in opened.text("#panel")


def test_a_missed_budget_is_a_line(open_page):
    opened = open_page("missed.html")
    opened.shoot("missed")
    assert "Arena limit 384 KiB exceeded by 128 KiB" in opened.text("#metrics")
    place = opened.run("() => { const {layout: {map}, yOf} = lowtide.charts[0]; return [map.x, map.w]; }")
    bounds = opened.page.query_selector(".overlay").bounding_box()
    y = opened.run("() => lowtide.charts[0].yOf(384 * 1024)")
    bad = opened.css("bad")
    column = [opened.pixel(bounds["x"] + place[0] + 3, bounds["y"] + y + by) for by in (-1, 0, 1)]
    assert any(max(abs(a - b) for a, b in zip(one, bad)) < 40 for one in column)


def test_the_file_name_is_the_title(open_page):
    opened = open_page("small.html")
    assert opened.page.title() == "small.onnx - memory plan"
    assert opened.text("#crumbs") == "small.onnx"


def test_short_names_differ(open_page):
    opened = open_page("small.html")
    names = [f"/{part}/Relu_output_0" for part in ("cells.1/ops.0", "cells.2/ops.0", "cells.2/ops.1")] + ["/head/Relu"]
    short = opened.run(
        """(names) => [17, 22, 40].map((most) => names.map((name, at) =>
             lowtide.state.shown.shortened.call({}, names, at, most)))""",
        names,
    )
    assert short == [
        ["cells.1/…s.0/Relu", "cells.2/…s.0/Relu", "ops.1/Relu", "/head/Relu"],
        ["/cells.1/ops.0/Relu", "/cells.2/ops.0/Relu", "/cells.2/ops.1/Relu", "/head/Relu"],
        names,
    ]
