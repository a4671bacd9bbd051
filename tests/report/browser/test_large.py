# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""100,000 buffers: the work of a frame is counted; its time is reported, not judged."""

import statistics

import pytest

# Pans a hundred times, with one frame each, and returns what each frame did.
PAN = """async ([zoomX, zoomY]) => {
  const {view, charts} = lowtide;
  view.fit();
  view.zoom(1 / zoomX, 1 / zoomY, view.steps / 2, 0);
  const frames = [];
  let last = performance.now();
  for (let at = 0; at < 100; ++at) {
    view.pan((at % 50 < 25 ? 1 : -1) * (view.x1 - view.x0) * 0.01, 0);
    charts.forEach((chart) => chart.request('scene'));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const now = performance.now();
    frames.push({...charts[0].frame, between: now - last});
    last = now;
  }
  return frames;
}"""


@pytest.mark.parametrize("zoom", [(1, 1), (1.5, 1), (10, 2), (100, 3), (5000, 1)])
def test_a_frame_costs_pixels_not_buffers(open_page, request, zoom):
    opened = open_page("generated_100k.html")
    frames = opened.run(PAN, list(zoom))
    assert len({frame["count"] for frame in frames}) == 100  # each pan was drawn, once
    area = opened.run("() => lowtide.charts[0].layout.map")
    pixels = area["w"] * area["h"]
    for frame in frames:
        # Rectangles have at least 3 x 3 pixels and never exceed the limit. Thinner buffers go into one raster.
        assert frame["rectangles"] <= min(4000, pixels / 9)
        assert frame["names"] <= 300
        # Each thin buffer touches the pixels that it covers, and shares those at its edges. A layer covers 1.6 x 1.6
        # views.
        assert frame["cells"] <= 3 * 1.6**2 * pixels + 4 * frame["buffers"]
        # What is out of sight is skipped in groups of 64 and 4,096.
        assert frame["examined"] <= 100_000 / 64 + 100_000 / 4096 + 2 + frame["buffers"] + 200 * 64
    # Most frames only move the kept layer, which has 30 % of the view ready on each side; a frame pans by 1 %. Such
    # frames examine no buffers.
    kept = [frame for frame in frames if frame["isKept"]]
    assert len(kept) >= 94
    assert all(frame["examined"] == 0 and frame["cells"] == 0 for frame in kept)
    if zoom[0] >= 100:
        assert max(frame["buffers"] for frame in frames) < 5000
    times = sorted(frame["milliseconds"] for frame in frames)
    between = sorted(frame["between"] for frame in frames)
    request.config.figures.append(
        f"100,000 buffers, zoom {zoom[0]:g} x {zoom[1]:g}: drawing takes {statistics.median(times):.1f} ms "
        f"(median), {times[94]:.1f} ms (95th); "
        f"a frame every {statistics.median(between):.1f} ms (median), {between[94]:.1f} ms (95th); "
        f"at most {max(f['rectangles'] for f in frames)} rectangles, "
        f"{max(f['buffers'] for f in frames)} buffers looked at, "
        f"{len(kept)} of 100 frames only moved"
    )


def test_the_first_picture_is_timed(open_page, request):
    opened = open_page("generated_100k.html")
    ready = opened.run("() => performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
    request.config.figures.append(f"100,000 buffers: the first picture takes {ready / 1000:.2f} s")
    assert ready > 0


def test_a_kept_picture_is_the_same_as_a_new_one(open_page):
    opened = open_page("generated_10k.html")
    # The view has whole pixels, so that nothing is drawn between two of them.
    different = opened.run(
        """() => { const {view, charts: [chart]} = lowtide; const {map} = chart.layout;
           const picture = () => Array.from(chart.scene.getContext('2d').getImageData(map.x, map.y,
             Math.floor(map.w), Math.floor(map.h)).data);
           view.setBox(2000, 2000 + map.w, 0, view.top); chart.draw();
           for (const by of [7, 5, -20]) { view.pan(by, 0); chart.draw(); }
           const kept = chart.frame.isKept; const moved = picture();
           chart.layer = null; chart.draw(); const again = picture();
           return {kept, isNew: !chart.frame.isKept, different:
             moved.filter((part, at) => Math.abs(part - again[at]) > 8).length / moved.length}; }"""
    )
    assert different["kept"] and different["isNew"]
    assert different["different"] < 0.002


def test_pointing_does_not_draw_the_plan_again(open_page):
    opened = open_page("generated_100k.html")
    before = opened.run("() => lowtide.frames()[0].count")
    bounds = opened.page.query_selector(".overlay").bounding_box()
    for at in range(40):
        opened.page.mouse.move(bounds["x"] + 100 + 20 * at, bounds["y"] + 300)
    opened.settle()
    assert opened.run("() => lowtide.frames()[0].count") == before


def test_finds_the_buffer_under_the_pointer(open_page):
    opened = open_page("generated_100k.html")
    opened.shoot("generated_100k")
    # Compares with a search through all buffers, at random places of a view in which they are rectangles.
    wrong = opened.run(
        """() => { const {view, charts: [chart], state: {shown}} = lowtide;
           view.setBox(50000, 50060, 0, view.top); chart.draw();
           let seed = 1; const random = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
           const {map} = chart.layout; const wrong = []; let hits = 0;
           for (let trial = 0; trial < 500; ++trial) {
             const x = map.x + random() * map.w; const y = map.y + random() * map.h;
             const step = chart.stepAt(x); const bytes = chart.bytesAt(y);
             const all = Array.from(chart.facts.placed).filter((buffer) => shown.bufferBegin[buffer] <= step &&
               step < shown.bufferEnd[buffer] &&
               shown.bufferOffset[buffer] <= bytes && bytes < shown.bufferOffset[buffer] + shown.bufferSize[buffer]);
             const found = chart.bufferAt(x, y);
             hits += all.length;
             if (all.length > 0 && !all.includes(found)) wrong.push([x, y, all, found]);
           }
           return {wrong, hits}; }"""
    )
    assert wrong["wrong"] == []
    assert wrong["hits"] > 100
    opened.settle()
    opened.shoot("generated_100k_near")


def test_search_in_all_names_highlights_thousands(open_page):
    opened = open_page("generated_100k.html")
    opened.page.fill("#search", "softmax")
    opened.page.wait_for_selector("#results:not([hidden]) li")
    lit = opened.run("() => lowtide.state.found.get(lowtide.state.shown).reduce((sum, one) => sum + one, 0)")
    # One operator of eleven, drawn at random.
    assert 8500 < lit < 9700
    opened.settle()
    opened.shoot("generated_100k_search")


def test_table_of_all_buffers_shows_a_part(open_page):
    opened = open_page("generated_100k.html")
    opened.page.click("#tabs >> text=All buffers")
    assert opened.page.locator("#table tbody tr").count() == 200
    opened.page.click("#table >> text=Show 1,000 more of 100,000")
    assert opened.page.locator("#table tbody tr").count() == 1200


def test_svg_of_everything_stays_small(open_page):
    opened = open_page("generated_100k.html")
    size = opened.run("() => lowtide.svg().length")
    assert size < 10_000_000
