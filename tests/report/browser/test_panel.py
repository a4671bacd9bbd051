# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What the panel says about a buffer: its values, how they share bytes, and why it lives so long."""


def test_click_selects_and_tells_everything(open_page):
    opened = open_page("small.html")
    opened.click_buffer("cat")
    opened.shoot("small_selected")
    panel = opened.text("#panel")
    assert "temporary, from Concat, buffer 3" in panel
    assert "Size 256 KiB (262,144 B)" in panel
    assert "Live steps [2,6) (4 steps)" in panel
    assert "Address 262,144 to 524,288 0x40000 to 0x80000" in panel
    assert "Placed above b" in panel
    assert "In the peak 44 %" in panel
    assert "3 values share its bytes" in panel
    assert opened.page.get_attribute("#table tr[aria-selected=true]", "data-buffer") == "3"
    assert "cat, temporary, 262,144 B, steps [2,6)" in opened.page.text_content("#announcer")


def test_concat_slices_say_that_they_begin_early(open_page):
    opened = open_page("small.html")
    opened.click_buffer("cat")
    panel = opened.text("#panel")
    # c is written in step 2, cat is complete in step 4.
    assert (
        "It begins early, because it holds cat, which is complete at step 4 · Concat concat. The slice c is already "
        "written by step 2 · Conv conv2, 2 steps earlier."
        in panel
    )
    assert "It ends with its last reader, step 5 · MaxPool pool, which reads cat (the last of 2 readers)." in panel
    assert "How slice of cat: written directly to its byte 131,072" in panel
    assert "How gathers c, d, which were written in place; nothing is copied" in panel


def test_results_in_place_and_views_are_told_apart(open_page):
    opened = open_page("small.html")
    opened.click_buffer("b")
    assert "How in place over a, which is not needed after this step" in opened.text("#panel")
    assert "It begins when step 0 · Conv conv1 writes a." in opened.text("#panel")
    opened.click_buffer("f")
    panel = opened.text("#panel")
    assert "How view of e: the same bytes with another shape; nothing is copied" in panel
    assert "Read by step 7 · Gemm dense" in panel
    assert "Placed above the start of the arena" in panel


def test_outputs_stay_to_the_end(open_page):
    opened = open_page("small.html")
    opened.click_buffer("logits")
    assert (
        "It is live to the end, because it holds the output logits, which the caller reads after the last step."
        in opened.text("#panel")
    )


def test_scratch_names_its_kernel(open_page):
    opened = open_page("small.html")
    opened.click_buffer("scratch of Conv conv2")
    assert "Scratch: step 2 · Conv conv2 needs these bytes only while it runs." in opened.text(
        "#panel"
    )


def test_waiting_is_counted(open_page):
    opened = open_page("network.html")
    opened.click_buffer("/encoder/level0/conv2/relu_output_0")
    # Written in steps 2 and 3, read in 4 by the pool and in 56 by the concat: idle in 5 to 55, 51 of 55 steps.
    panel = opened.text("#panel")
    assert (
        "No step touches it in steps [5,56) (93 % of its life). It waits for step 56 · Concat /decoder/level0/concat."
        in panel
    )
    assert "would free 2 MiB for 51 steps" in panel


def test_steps_in_the_panel_are_links(open_page):
    opened = open_page("small.html")
    opened.click_buffer("f")
    opened.page.click("#panel >> text=step 7 · Gemm dense >> nth=0")
    assert "At step 7" in opened.text("#tabs")


def test_click_beside_a_buffer_clears_the_selection(open_page):
    opened = open_page("small.html")
    opened.click_buffer("cat")
    box = opened.box(opened.buffer("cat"))
    opened.page.mouse.click(box["x1"] + 60, box["y0"] + 20)
    opened.settle()
    assert opened.run("() => lowtide.state.selected") is None
    assert opened.text("#panel").startswith("Why 576 KiB")


def test_bodies_open_and_close(open_page):
    opened = open_page("bodies.html")
    # The else-branch makes up 24 of the 36 KiB, so the page opens with it.
    assert opened.text("#crumbs") == "nested › else_branch of If if"
    assert "This body makes up 67 % of the peak of the model, so the page opens here." in opened.text("#panel")
    opened.page.click("#panel >> text=Show the whole model")
    opened.settle()
    opened.click_buffer("scratch of If if")
    assert (
        "It holds the arena of then_branch and else_branch, which are planned separately. They share bytes, because "
        "only one of them runs."
        in opened.text("#panel")
    )
    opened.shoot("bodies")
    opened.page.click("#panel >> text=Open the plan of then_branch")
    opened.settle()
    assert opened.text("#crumbs") == "nested › then_branch of If if"
    assert "Arena 16 KiB" in opened.text("#metrics")
    opened.click_buffer("scratch of Loop loop")
    opened.page.click("#panel >> text=Open the plan of body")
    opened.settle()
    opened.shoot("bodies_inner")
    assert opened.text("#crumbs") == "nested › then_branch of If if › body of Loop loop"
    # The body's input is placed, because no other memory holds it.
    opened.run("() => { const {state, select} = lowtide; select(state.inSight[0], 0); }")
    assert (
        "It exists from the start, because it is an input of this body and no other memory holds it."
        in opened.text("#panel")
    )
    opened.page.keyboard.press("Backspace")
    assert opened.text("#crumbs") == "nested › then_branch of If if"
    opened.page.click("#crumbs >> text=nested")
    assert opened.text("#crumbs") == "nested"


def test_hostile_names_are_only_text(open_page):
    opened = open_page("hostile.html", "dark")
    count = opened.run("() => lowtide.state.shown.bufferCount")
    for buffer in range(count):
        opened.run("(buffer) => lowtide.select(lowtide.state.shown, buffer, true)", buffer)
        opened.settle()
        assert opened.page.inner_text("#panel h2") != ""
    for key in ("All buffers", "In the peak", "Not in an arena"):
        opened.page.click(f"#tabs >> text={key}")
    opened.page.fill("#search", "<img")
    opened.page.wait_for_selector("#results:not([hidden]) li")
    opened.press("Enter")
    opened.shoot("hostile")
    assert opened.run("() => document.body.dataset.owned") is None
    assert opened.page.locator("img, iframe, object").count() == 0
    assert opened.page.locator("script").count() == 2
    assert opened.page.title() == "</title><script>document.body.dataset.owned='title'</script> - memory plan"
    assert opened.page.inner_text("#crumbs") == "</title><script>document.body.dataset.owned='title'</script>"
