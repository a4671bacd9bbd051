# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Opens the test pages in headless Chromium. Whatever a test does, its page may log no error and ask for no network."""

import pathlib

import pytest
from playwright.sync_api import sync_playwright


def pytest_addoption(parser):
    parser.addoption("--pages", required=True, help="folder that report_make_pages wrote")
    parser.addoption("--chromium", required=True, help="the browser's program")
    parser.addoption("--screenshots", default=None, help="folder for pictures to look at; by default none are kept")


def pytest_configure(config):
    config.figures = []


def pytest_terminal_summary(terminalreporter, config):
    for line in config.figures:
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def browser(request):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=request.config.getoption("--chromium"),
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield browser
        browser.close()


class Opened:
    """A page of a plan, with helpers for the tests."""

    def __init__(self, page, problems, screenshots):
        self.page = page
        self.problems = problems
        self.screenshots = screenshots

    def run(self, script, argument=None):
        return self.page.evaluate(script, argument)

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
        self.settle()

    def settle(self):
        """Waits until all requested changes are drawn."""
        self.run("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))")

    def text(self, selector):
        return " ".join(self.page.inner_text(selector).split())

    def buffer(self, name, sheet="in sight"):
        """The id of the buffer with a name, in the plan "shown", "against", or by default the last one in sight."""
        found = self.run(
            """([name, sheet]) => { const plan = lowtide.state[sheet] ?? lowtide.state.inSight.at(-1);
               return Array.from(plan.bufferKind.keys()).find((buffer) => plan.bufferText(buffer) === name) ?? -1; }""",
            [name, sheet],
        )
        assert found >= 0, f"no buffer has the name {name}"
        return found

    def box(self, buffer, chart=0):
        """Where a buffer is on the screen."""
        return self.run("([buffer, chart]) => lowtide.boxOf(buffer, chart)", [buffer, chart])

    def centre(self, buffer, chart=0):
        box = self.box(buffer, chart)
        return (box["x0"] + box["x1"]) / 2, (box["y0"] + box["y1"]) / 2

    def click_buffer(self, name, sheet="in sight", chart=0):
        self.page.mouse.click(*self.centre(self.buffer(name, sheet), chart))
        self.settle()

    def pixel(self, x, y, chart=0):
        """The colour of the picture at a position on the screen: [red, green, blue]."""
        return self.run(
            """([x, y, chart]) => { const {scene, ratio} = lowtide.charts[chart];
               const bounds = scene.getBoundingClientRect();
               const [left, top] = [(x - bounds.left) * ratio, (y - bounds.top) * ratio].map(Math.round);
               const at = scene.getContext('2d').getImageData(left, top, 1, 1);
               return Array.from(at.data.slice(0, 3)); }""",
            [x, y, chart],
        )

    def css(self, name):
        """A colour of the style sheet: [red, green, blue]."""
        text = self.run(
            "(name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()", name
        )
        return [int(text[at : at + 2], 16) for at in (1, 3, 5)]

    def view(self):
        return self.run("() => { const {x0, x1, y0, y1} = lowtide.view; return {x0, x1, y0, y1}; }")

    def shoot(self, name):
        if self.screenshots is None:
            return
        self.screenshots.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=self.screenshots / f"{name}.png")


@pytest.fixture
def open_page(request, browser):
    """open_page("small.html", theme="dark", width=900, height=700) -> Opened."""
    folder = request.config.getoption("--screenshots")
    screenshots = pathlib.Path(folder) if folder else None
    pages = pathlib.Path(request.config.getoption("--pages")).resolve()
    opened = []

    def open_one(name, theme="light", width=1400, height=900, **options):
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme, accept_downloads=True, **options
        )
        page = context.new_page()
        problems = []
        address = (pages / name).as_uri()
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: problems.append(f"dialog: {dialog.message}"))
        page.on(
            "request",
            lambda asked: problems.append(asked.url) if not asked.url.startswith((address, "blob:", "data:")) else None,
        )
        page.goto(address)
        page.wait_for_selector("body[data-ready=yes]", state="attached", timeout=30000)
        one = Opened(page, problems, screenshots)
        one.settle()
        opened.append(one)
        return one

    yield open_one
    for one in opened:
        assert one.problems == []
        one.page.context.close()
