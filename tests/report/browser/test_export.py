# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures saved as SVG and PNG."""

import pathlib
import struct
import xml.etree.ElementTree
import zlib

SVG = "{http://www.w3.org/2000/svg}"


def saved(opened, button):
    with opened.page.expect_download() as download:
        opened.page.click(button)
    return download.value.suggested_filename, pathlib.Path(download.value.path()).read_bytes()


def test_svg_holds_every_buffer_in_its_place(open_page):
    opened = open_page("small.html")
    name, content = saved(opened, "#save-svg")
    assert name == "small_memory.svg"
    root = xml.etree.ElementTree.fromstring(content)
    assert root.tag == f"{SVG}svg"
    titles = {title.text: rect for rect in root.iter(f"{SVG}rect") for title in rect.findall(f"{SVG}title")}
    assert set(titles) == {
        "b, 262,144 B, steps [0,4)",
        "cat, 262,144 B, steps [2,6)",
        "scratch of Conv conv2, 65,536 B, steps [2,3)",
        "f, 65,536 B, steps [5,8)",
    }
    width = float(titles["b, 262,144 B, steps [0,4)"].get("width"))
    assert abs(width - opened.run("() => lowtide.charts[0].layout.map.w") * 4 / 9) < 0.1
    # The outputs of 4 KiB are 2 pixels high: too thin for a rectangle, so they are joined into paths.
    thin = [
        path
        for path in root.iter(f"{SVG}path")
        if "h" in path.get("d") and path.get("fill") != "none" and "z" in path.get("d")
    ]
    assert sum(path.get("d").count("M") for path in thin) == 2
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert "small.onnx: arena 576 KiB, peak 576 KiB, bound 576 KiB, gap 0 %" in texts
    assert {"used at the peak", "kept at the peak", "not at the peak"} & set(texts)
    assert "in all 676 KiB" in texts and "bound 576 KiB" in texts
    assert "peak 576 KiB at step 2: Conv conv2 reads 256 KiB, writes 256 KiB, has scratch of 64 KiB" in texts


def test_svg_shows_the_view_not_the_plan(open_page):
    opened = open_page("generated_10k.html")
    opened.run("() => { lowtide.view.setBox(4000, 4040, 0, 1e7); lowtide.charts[0].request('scene'); }")
    opened.settle()
    root = xml.etree.ElementTree.fromstring(saved(opened, "#save-svg")[1])
    in_sight = opened.run("() => lowtide.frames()[0].buffers")
    rectangles = sum(1 for rect in root.iter(f"{SVG}rect") if rect.find(f"{SVG}title") is not None)
    thin = sum(
        path.get("d").count("M")
        for path in root.iter(f"{SVG}path")
        if path.get("fill", "none").startswith("#") and "h" in path.get("d")
    )
    assert in_sight < 400
    assert rectangles + thin == in_sight


def test_svg_of_hostile_names_is_well_formed(open_page):
    opened = open_page("hostile.html")
    name, content = saved(opened, "#save-svg")
    root = xml.etree.ElementTree.fromstring(content)
    assert name == "_title_script_document.body.dataset.owned_title_script__memory.svg"
    allowed = {f"{SVG}{tag}" for tag in ("svg", "title", "rect", "text", "path", "g")}
    assert {element.tag for element in root.iter()} <= allowed


def png_pixels(content):
    """Width, height and rows of (r, g, b) bytes of an 8-bit PNG without interlace."""
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    at, header, packed = 8, None, b""
    while at < len(content):
        length, kind = struct.unpack(">I4s", content[at : at + 8])
        body = content[at + 8 : at + 8 + length]
        assert zlib.crc32(kind + body) == struct.unpack(">I", content[at + 8 + length : at + 12 + length])[0]
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    assert at == len(content)
    return header, zlib.decompress(packed)


def test_png_is_the_picture_at_twice_the_size(open_page):
    opened = open_page("network.html", "dark")
    name, content = saved(opened, "#save-png")
    assert name == "encoder_decoder_memory.png"
    (width, height, depth, colour, _, _, interlace), rows = png_pixels(content)
    layout = opened.run("() => { const {width, height} = lowtide.charts[0].layout; return {width, height}; }")
    # Above the picture 34 pixels for the title, below it 26 for the legend; twice.
    assert width == round(layout["width"] * 2)
    assert height == round((34 + layout["height"] + 26) * 2)
    assert depth == 8 and interlace == 0
    channels = {2: 3, 6: 4}[colour]
    assert len(rows) == height * (1 + width * channels)
    if opened.screenshots is not None:
        opened.screenshots.mkdir(parents=True, exist_ok=True)
        (opened.screenshots / "exported.png").write_bytes(content)


def test_pictures_do_not_show_a_search(open_page):
    opened = open_page("small.html")
    before = [saved(opened, button)[1] for button in ("#save-svg", "#save-png")]
    opened.page.fill("#search", "cat")
    opened.page.wait_for_selector("#results li")
    opened.settle()
    lit = opened.pixel(*opened.centre(opened.buffer("b")))
    assert [saved(opened, button)[1] for button in ("#save-svg", "#save-png")] == before
    opened.settle()
    assert opened.pixel(*opened.centre(opened.buffer("b"))) == lit, "on the screen the search goes on"


def test_comparison_is_saved_with_both_plans(open_page):
    opened = open_page("compare.html")
    root = xml.etree.ElementTree.fromstring(saved(opened, "#save-svg")[1])
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert "before" in texts and "after" in texts
    assert len(list(root.iter(f"{SVG}g"))) == 2
