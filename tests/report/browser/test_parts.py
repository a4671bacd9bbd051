# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Buffers of several parts: the map, the load, what is live at a step, and the panel. Also several streams.

The plan is drawn beside parts_plan() in tests/report/page_plans.h: cat has 128 KiB at 0, of them 64 in steps [0,7), 32
in [3,7), 32 in [4,7); t has 64 KiB at 64 in [1,3), the scratch of conv4 32 at 96 in step 3, u 64 at 128 in [2,5)."""

import xml.etree.ElementTree

import pytest

from test_export import SVG, saved
from test_picture import KIB, close, is_shade


def at(opened, step, kib):
    """The place of a step and an address on the screen: seven steps, an arena of 192 KiB plus 6 %."""
    place = opened.run("() => lowtide.charts[0].layout.map")
    bounds = opened.page.query_selector(".overlay").bounding_box()
    return (
        bounds["x"] + place["x"] + place["w"] * step / 7,
        bounds["y"] + place["y"] + place["h"] * (1 - kib / (192 * 1.06)),
    )


def rows(opened, *columns):
    return [
        [row.query_selector_all("td")[column].inner_text() for column in columns]
        for row in opened.page.query_selector_all("#table tbody tr")
    ]


@pytest.mark.parametrize("name", ["parts.html", "parts_compare.html", "small.html", "network.html"])
def test_no_two_blocks_of_the_map_overlap(open_page, name):
    opened = open_page(name)
    meetings = opened.run(
        """() => lowtide.state.sheets.flatMap((sheet) => {
             const placed = Array.from(sheet.blockBuffer.keys()).filter((at) => sheet.isPlaced(sheet.blockBuffer[at]));
             const meet = (a, b) => sheet.blockBegin[a] < sheet.blockEnd[b] &&
               sheet.blockBegin[b] < sheet.blockEnd[a] &&
               sheet.blockOffset[a] < sheet.blockOffset[b] + sheet.blockSize[b] &&
               sheet.blockOffset[b] < sheet.blockOffset[a] + sheet.blockSize[a];
             return placed.flatMap((a) => placed.filter((b) => a < b && meet(a, b)).map((b) => [a, b])); })"""
    )
    assert meetings == []


def test_load_is_the_sum_of_what_lives(open_page):
    opened = open_page("parts.html")
    load = opened.run("() => Array.from(lowtide.charts[0].facts.load)")
    # cat's parts: 64, 64, 64, 96, 128, 128, 128; t 64 in 1 and 2, u 64 in 2 to 4, scratch 32 in 3, out 32 in 6.
    assert load == [64 * KIB, 128 * KIB, 192 * KIB, 192 * KIB, 192 * KIB, 128 * KIB, 160 * KIB]
    assert opened.run("() => lowtide.charts[0].facts.largestLoad === lowtide.state.shown.facts.load")
    assert "Peak 192 KiB nothing lost to fragmentation" in opened.text("#metrics")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("ratio", [1, 1.5, 2])
def test_parts_are_one_shape_with_others_in_free_bytes(open_page, theme, ratio):
    opened = open_page("parts.html", theme, device_scale_factor=ratio)
    opened.shoot(f"parts_{theme}_{ratio}")
    opened.page.click("#toolbar >> text=Kind")
    opened.settle()
    cat = opened.pixel(*at(opened, 5.3, 40))
    assert is_shade(cat, opened.css("kind-temporary"))
    # There is no line where a part stands on another: at step 6.6, all pixels from 2 to 126 KiB have one colour.
    low, high = at(opened, 6.6, 2)[1], at(opened, 6.6, 126)[1]
    x = at(opened, 6.6, 0)[0]
    column = [opened.pixel(x, low + (high - low) * part / 800) for part in range(801)]
    assert all(close(pixel, cat, 1) for pixel in column)
    # There is a line where other buffers begin: t is above the first part in steps 1 and 2, in another shade.
    assert not close(opened.pixel(*at(opened, 1.5, 100)), cat, 1)
    assert not close(opened.pixel(*at(opened, 3.5, 112)), cat, 1)
    edge = at(opened, 1.5, 64)
    seen = [opened.pixel(edge[0], edge[1] + part / 4) for part in range(-8, 9)]
    assert any(not is_shade(pixel, opened.css("kind-temporary")) for pixel in seen)
    # In step 0, nothing is live above the first part.
    assert close(opened.pixel(*at(opened, 0.4, 85)), opened.css("map"))


def test_pointing_at_free_bytes_finds_the_buffer_there(open_page):
    opened = open_page("parts.html")

    def found(step, kib):
        opened.page.mouse.move(*at(opened, step, kib))
        opened.settle()
        return opened.run(
            """() => { const {hover, sheet} = lowtide.charts[0];
               return hover.buffer < 0 ? 'nothing' : sheet.bufferText(hover.buffer); }"""
        )

    # All of them are within cat's 128 KiB and its steps.
    assert found(1.5, 80) == "t"
    assert found(3.5, 112) == "scratch of Conv conv4"
    assert found(0.5, 100) == "nothing"
    assert found(3.5, 80) == "cat"
    assert found(4.5, 112) == "cat"
    tip = opened.text("#tooltip")
    assert tip == (
        "cat and 3 more values temporary from Concat, 128 KiB (131,072 B) steps [0,7) in 3 parts, address 0 "
        "here 32 KiB in steps [4,7)"
    )
    opened.page.mouse.click(*at(opened, 2.5, 100))
    opened.settle()
    assert opened.text("#panel h2") == "t"


def test_only_living_bytes_count_at_a_step(open_page):
    opened = open_page("parts.html")
    # Steps 2 and 3 have the peak. Step 3 touches more bytes: all 192 KiB.
    assert "In the peak, step 3" in opened.text("#tabs")
    assert rows(opened, 0, 2, 3) == [
        ["cat", "96 KiB of 128 KiB", "50 %"],
        ["u", "64 KiB", "33 %"],
        ["scratch of Conv conv4", "32 KiB", "17 %"],
    ]
    opened.run("() => lowtide.goToStep(2)")
    opened.settle()
    # 64 of 192 KiB are 33 %. Equals are sorted by id: cat, t, u.
    assert rows(opened, 0, 2, 3) == [
        ["cat", "64 KiB of 128 KiB", "33 %"],
        ["t", "64 KiB", "33 %"],
        ["u", "64 KiB", "33 %"],
    ]
    opened.run("() => lowtide.goToStep(5)")
    opened.settle()
    assert rows(opened, 0, 2, 3) == [["cat", "128 KiB", "100 %"]]


def test_panel_says_how_the_bytes_live(open_page):
    opened = open_page("parts.html")
    opened.page.mouse.click(*at(opened, 5.5, 100))
    opened.settle()
    opened.shoot("parts_selected")
    panel = opened.text("#panel")
    assert "temporary, from Concat, buffer 1" in panel
    assert "Size 128 KiB (131,072 B)" in panel
    assert "Live steps [0,7) (7 steps)" in panel
    assert "3 parts 64 KiB in steps [0,7) 32 KiB in steps [3,7) 32 KiB in steps [4,7)" in panel
    assert "Also used by t, scratch of Conv conv4" in panel
    assert "Placed above the start of the arena" in panel
    assert "In the peak 50 %, with 96 KiB" in panel
    assert (
        "Only 64 KiB of its bytes are live the whole time. Other buffers can use the other bytes before they are "
        "written, and after they are read." in panel
    )
    # t uses some of its bytes, rests on its first part, and has no parts.
    opened.click_buffer("t")
    panel = opened.text("#panel")
    assert "Placed above cat" in panel
    assert "part" not in panel and "Also used by" not in panel


def test_many_parts_are_listed_in_part(open_page):
    opened = open_page("parts.html")
    # The same buffer, cut into 16 parts of 8 KiB. Eight of them are listed.
    opened.run(
        """() => { const {state, select} = lowtide; const sheet = state.shown;
           const part = {buffer: [], size: [], begin: [], end: []};
           for (let at = 0; at < 16; ++at) {
             part.buffer.push(1); part.size.push(8192); part.begin.push(at < 8 ? 0 : at < 12 ? 3 : 4);
               part.end.push(7); }
           sheet.makeBlocks(part); select(sheet, 1); }"""
    )
    opened.settle()
    assert "16 parts " + "8 KiB in steps [0,7) " * 8 + "and 8 more" in opened.text("#panel")
    titles = opened.run("() => [...document.querySelectorAll('#panel dd div[title]')].map((line) => line.title)")
    assert titles == [f"Address {8192 * part:,} to {8192 * part + 8192:,}" for part in range(8)]


def test_many_parts_of_one_buffer_keep_the_rectangle_limit(open_page):
    opened = open_page("parts.html")
    # The same buffer, cut into 4,096 parts of 32 bytes. Its shorter side has more than 255 pixels.
    opened.run(
        """() => { const {state, charts, view} = lowtide; const sheet = state.shown;
           const all = (make) => Array.from({length: 4096}, (_, at) => make(at));
           sheet.makeBlocks({buffer: all(() => 1), size: all(() => 32), begin: all((at) => at % 5),
                             end: all(() => 7)});
           sheet.prepared.clear(); charts[0].setSheet(sheet, '');
           view.zoom(1, 0.75, 0, 0); charts[0].request('scene'); }"""
    )
    opened.settle()
    frame = opened.run("() => lowtide.frames()[0]")
    assert opened.run("() => lowtide.charts[0].sides[0]") > 255
    assert frame["buffers"] > 4096
    assert frame["rectangles"] <= 4000
    assert frame["cells"] > 0


def test_a_wait_would_free_what_is_live_throughout(open_page):
    opened = open_page("parts.html")
    bytes_through = opened.run(
        """() => [[0, 7], [1, 3], [2, 4], [3, 4], [3, 7], [4, 7]]
             .map((span) => lowtide.state.shown.bytesThrough(1, ...span))"""
    )
    assert bytes_through == [64 * KIB, 64 * KIB, 64 * KIB, 96 * KIB, 96 * KIB, 128 * KIB]


def test_svg_draws_the_parts_as_one_shape(open_page):
    opened = open_page("parts.html")
    root = xml.etree.ElementTree.fromstring(saved(opened, "#save-svg")[1])
    titled = {
        title.text: (element.tag.removeprefix(SVG), element)
        for element in root.iter()
        for title in element.findall(f"{SVG}title")
        if element.tag != f"{SVG}svg"
    }
    assert {title: tag for title, (tag, _) in titled.items()} == {
        "cat, 131,072 B, steps [0,7) in 3 parts": "path",
        "t, 65,536 B, steps [1,3)": "rect",
        "u, 65,536 B, steps [2,5)": "rect",
        "scratch of Conv conv4, 32,768 B, steps [3,4)": "rect",
        "out, 32,768 B, steps [6,7)": "rect",
    }
    # Three steps have twelve corners, counted twice where one part stands on the next.
    path = titled["cat, 131,072 B, steps [0,7) in 3 parts"][1].get("d")
    assert path.count("M") == 1 and path.count("L") == 11 and path.endswith("z")
    names = [text.text for text in root.iter(f"{SVG}text")]
    assert names.count("cat") == 1


def test_each_staircase_has_one_name(open_page):
    opened = open_page("parts.html")
    # Five buffers are placed, and all have space for a name.
    assert opened.run("() => lowtide.frames()[0].names") == 5
    assert opened.run("() => lowtide.frames()[0].rectangles") == 7


def test_comparison_knows_parts(open_page):
    opened = open_page("parts_compare.html")
    opened.shoot("parts_compare")
    # Before, cat has a buffer of its own at 128 KiB in [5,7); in step 5 it lives beside a, b and c: 128 + 64 + 32 + 32.
    assert opened.run("() => lowtide.charts.map(({facts}) => facts.largestLoad)") == [256 * KIB, 192 * KIB]
    opened.run("() => lowtide.select(lowtide.state.shown, 1)")
    opened.settle()
    assert "Before: in the buffer of cat, steps [5,7), address 131,072." in opened.text("#panel")


def test_other_steps_of_a_part_are_a_change(open_page):
    opened = open_page("parts_retimed.html")
    # Before, the third part begins a step later; everything else is the same.
    opened.run("() => lowtide.select(lowtide.state.shown, 1)")
    opened.settle()
    assert "Before: its bytes are live in other steps." in opened.text("#panel")


def test_thousands_of_staircases_are_drawn_and_found(open_page):
    opened = open_page("parts_2k.html")
    opened.shoot("parts_2k")
    # A staircase and the buffers in its bytes have 32 KiB. In its first step, the previous staircase is live as well.
    load = opened.run("() => Array.from(lowtide.charts[0].facts.load)")
    assert load == [32 * KIB if step % 8 != 0 or step == 0 else 64 * KIB for step in range(16000)]
    for zoom in (1, 200, 2000):
        opened.run(
            """(zoom) => { lowtide.view.setBox(8000, 8000 + 16000 / zoom, 0, 65536 * 1.06);
                 lowtide.charts[0].request('scene'); }""",
            zoom,
        )
        opened.settle()
        opened.shoot(f"parts_2k_zoom{zoom}")
        frame = opened.run("() => lowtide.frames()[0]")
        assert frame["rectangles"] <= 4000 and frame["names"] <= 300
        # Compares what is under a pixel with a search through all 30,000 blocks.
        wrong = opened.run(
            """() => { const [chart] = lowtide.charts; const {sheet, view, layout: {map}} = chart; const wrong = [];
               for (let at = 0; at < 200; ++at) {
                 const x = map.x + ((at * 7919) % 997) / 997 * map.w;
                 const y = map.y + ((at * 104729) % 991) / 991 * map.h;
                 const [step, bytes] = [chart.stepAt(x), chart.bytesAt(y)];
                 const exact = Array.from(sheet.blockBuffer.keys()).filter((block) =>
                   sheet.blockBegin[block] <= step && step < sheet.blockEnd[block] &&
                   sheet.blockOffset[block] <= bytes && bytes < sheet.blockOffset[block] + sheet.blockSize[block]);
                 if (exact.length > 1 || (exact.length === 1 &&
                   chart.blockAt(x, y) !== exact[0])) wrong.push([step, bytes]);
               }
               return wrong; }"""
        )
        assert wrong == []


def test_several_streams_are_shown(open_page):
    opened = open_page("streams.html")
    opened.shoot("streams")
    assert "Program 4 steps on 2 streams, 4 buffers placed" in opened.text("#metrics")
    opened.run("() => lowtide.goToStep(2)")
    opened.settle()
    assert "Conv conv3, stream 1" in opened.text("#tabs")
    opened.click_buffer("right")
    assert "step 2 · Conv conv3, stream 1" in opened.text("#panel")


def test_copies_links_and_nodes_that_run_again_are_shown(open_page):
    opened = open_page("transfers.html")
    opened.shoot("transfers")
    # sram has four buffers and the output; dram one. conv1 runs twice.
    assert "Program 6 steps on 3 streams, 6 buffers placed" in opened.text("#metrics")
    # No worker can address dram, so its 8 KiB are not part of the arena.
    assert "Arena 32 KiB 32,768 B" in opened.text("#metrics")
    assert "Memory in all 44 KiB with dram, inputs" in opened.text("#metrics")
    drawn = opened.run("() => lowtide.svg()")
    assert [name in drawn for name in (">stream 0<", ">to dram<", ">to sram<")] == [True, True, True]
    for step, told in (
        (1, "copy a to dram, link from sram to dram"),
        (3, "copy a to sram, link from dram to sram"),
        (4, "Conv conv1, stream 0"),
    ):
        opened.run(f"() => lowtide.goToStep({step})")
        opened.settle()
        assert told in opened.text("#tabs")
    names = opened.run("() => [...Array(7).keys()].map((value) => lowtide.state.shown.tensorNameOf(value))")
    assert names == ["x", "a", "a #2", "b", "a #3", "a #4", "out"]
