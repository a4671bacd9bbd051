# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The axis: idle steps folded, or time with a lane per stream."""

import pytest


def test_idle_steps_take_the_space_of_one(open_page):
    opened = open_page("idle.html")
    opened.shoot("idle")
    # Steps 1 to 5 touch 64 of 131,136 bytes: one position for the five, and one for each of the other two.
    places = opened.run("() => [0, 1, 2, 5, 6, 7].map((step) => lowtide.state.shown.axis.at(step))")
    assert places == pytest.approx([0, 1, 1.2, 1.8, 2, 3])
    assert opened.run("() => lowtide.view.steps") == pytest.approx(3)
    back = opened.run("() => [0, 1.2, 1.8, 2.5].map((at) => lowtide.state.shown.axis.stepAt(at))")
    assert back == pytest.approx([0, 2, 5, 6.5])
    opened.page.click("#toolbar >> text=All steps")
    opened.settle()
    assert opened.run("() => lowtide.view.steps") == 7
    assert opened.run("() => lowtide.state.shown.axis.at(2)") == 2


def test_pointing_and_steps_follow_the_folded_axis(open_page):
    opened = open_page("idle.html")
    opened.click_buffer("out")
    assert "Live steps [6,7) (1 step)" in opened.text("#panel")
    layout = opened.run("() => lowtide.charts[0].layout.load")
    bounds = opened.page.query_selector(".overlay").bounding_box()
    # The middle of the second of three positions is step 3.
    opened.page.mouse.click(bounds["x"] + layout["x"] + layout["w"] / 2, bounds["y"] + layout["y"] + 20)
    opened.settle()
    assert "At step 3" in opened.text("#tabs")


def test_nothing_is_folded_where_little_is_idle(open_page):
    opened = open_page("network.html")
    assert opened.run("() => lowtide.state.shown.axis.kind") == "steps"
    assert opened.page.locator("#toolbar >> text=Folded").count() == 0


def test_streams_run_over_time_with_waits(open_page):
    opened = open_page("streams.html")
    opened.shoot("streams")
    # conv1 takes 4 us, then conv2 6 us beside conv3 with 3 us, then add 1 us. No step begins before an earlier one.
    spans = opened.run(
        """() => { const {begin, end} = lowtide.state.shown.timing;
           return [0, 1, 2, 3].map((step) => [begin[step], end[step]]); }"""
    )
    assert spans == [[0, 4e6], [4e6, 10e6], [4e6, 7e6], [10e6, 11e6]]
    assert opened.run("() => lowtide.state.shown.axis.kind") == "time"
    assert opened.run("() => lowtide.view.steps") == pytest.approx(11e6)
    lanes = opened.run("() => lowtide.charts[0].layout.lanes")
    bounds = opened.page.query_selector(".overlay").bounding_box()

    def lane(stream, microseconds):
        return (
            bounds["x"] + lanes["x"] + lanes["w"] * microseconds / 11,
            bounds["y"] + lanes["y"] + lanes["h"] * (stream + 0.7) / 2,
        )

    running = opened.css("load")
    assert opened.pixel(*lane(0, 6)) == running
    assert opened.pixel(*lane(1, 5)) == running
    assert opened.pixel(*lane(1, 8.5)) == opened.css("strip")  # stream 1 has nothing to do
    opened.page.mouse.move(*lane(1, 5))
    opened.settle()
    assert opened.text("#tooltip") == "step 2 Conv conv3, stream 1 4 µs to 7 µs, estimated waits for step 0"
    opened.page.mouse.click(*lane(0, 10.5))
    opened.settle()
    assert "step 3" in opened.text("#tabs")
    # 11 us; stream 0 is always busy, stream 1 for 3 of them.
    panel = opened.text("#panel")
    assert "Estimated time 11 µs" in panel and "Waits 2" in panel
    assert "stream 0 100 % of the time busy" in panel and "stream 1 27 % of the time busy" in panel
    opened.page.click("#toolbar >> text=Stream")
    opened.settle()
    assert "stream 0" in opened.text(".legend") and "stream 1" in opened.text(".legend")


def test_streams_without_times_have_lanes_over_steps(open_page):
    opened = open_page("transfers.html")
    assert opened.run("() => lowtide.state.shown.axis.kind") == "steps"
    assert opened.run("() => lowtide.charts[0].layout.lanes.h") == 3 * 16
