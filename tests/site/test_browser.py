"""The pages in a browser that has no network: what a reader sees, with a mouse, a keyboard or a screen reader."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.async_api import async_playwright

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf8")
WIDE, PHONE, AT_ONCE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}, 3
SETTLED = """() => Promise.all([window.MathJax?.startup?.promise ?? 0, document.fonts.ready]).then(() => true)"""
UNFOLD = """() => {
  document.querySelectorAll('details').forEach((fold) => { fold.open = true; });
  document.querySelectorAll('.toggle-hidden').forEach((x) => x.classList.remove('toggle-hidden'));
}"""
OVERFLOW = """() => {
  const width = window.innerWidth, over = document.documentElement.scrollWidth - width;
  if (over <= 0) return '';
  const wide = [...document.querySelectorAll('body *')].filter((x) => x.getBoundingClientRect().right > width + 1);
  const last = wide[wide.length - 1];
  return `${over} px too wide, such as ${last?.tagName} ${last?.className}`;
}"""
FORMULAS = """() => {
  const all = [...document.querySelectorAll('.math')];
  const unset = all.filter((m) => !m.querySelector('mjx-container')).length;
  const wrong = document.querySelectorAll('mjx-merror').length;
  return unset || wrong ? `of ${all.length} formulas ${unset} are not set, ${wrong} hold an error` : '';
}"""
FOLLOWS = """(mode) => new Promise((done) => {
  const look = (left) => {
    const theme = document.documentElement.dataset.theme ?? null;
    if (theme === null || theme === mode || !left) done(theme); else setTimeout(look, 50, left - 1);
  };
  look(40);
})"""
# The colours are all that differs between the modes: in the second one only they are looked at again.
AUDIT = """(again) => axe.run(document, {
  resultTypes: ['violations'],
  ...(again ? {runOnly: {type: 'rule', values: ['color-contrast', 'link-in-text-block']}} : {}),
}).then((r) => r.violations.map((v) => `${v.id}: ${v.nodes.length} times, such as ${v.nodes[0].target}: ` +
  `${v.nodes[0].html.slice(0, 150)} (${v.nodes[0].failureSummary.slice(0, 250)})`))"""


def page_names(site: Path) -> list[str]:
    found = (p.relative_to(site) for p in site.rglob("*.html"))
    found = [p for p in found if p.parts[0] not in ("_static", "_sources", "lite")]
    # a start page that leads on at once would leave in the middle of its inspection
    return sorted(str(p) for p in found if 'http-equiv="refresh"' not in (site / p).read_text(encoding="utf8"))


@dataclass
class Report:
    """What was found on one page."""

    problems: list[str] = field(default_factory=list)
    wide: str = ""
    phone: str = ""
    formulas: str = ""
    light: list[str] = field(default_factory=list)
    dark: list[str] = field(default_factory=list)
    modes: list[str] = field(default_factory=list)


def listen(page, problems: list[str], address: str):
    """Write down what the page complains about, and what it asks of anybody but this machine."""
    page.on("console", lambda m: problems.append(f"console: {m.text[:200]}") if m.type == "error" else None)
    page.on("pageerror", lambda e: problems.append(f"script: {str(e)[:200]}"))
    page.on("requestfailed", lambda r: problems.append(f"not loaded: {r.url[:200]}"))
    page.on("response", lambda r: problems.append(f"{r.status}: {r.url[:200]}") if r.status >= 400 else None)
    page.on("request", lambda r: None if is_near(r.url, address) else problems.append(f"outside: {r.url[:200]}"))


def is_near(url: str, address: str) -> bool:
    """Whether an address is on this machine's server, or inside the page itself."""
    return url.startswith((address, "data:", "blob:"))


async def inspect(context, address: str, name: str) -> Report:
    report, page = Report(), await context.new_page()
    listen(page, report.problems, address)
    await page.goto(address + name, wait_until="load")
    await page.evaluate(SETTLED)
    await page.evaluate(UNFOLD)
    report.formulas = await page.evaluate(FORMULAS)
    report.wide = await page.evaluate(OVERFLOW)
    await page.evaluate(AXE)
    for mode, findings, again in (("light", report.light, False), ("dark", report.dark, True)):
        await page.emulate_media(color_scheme=mode)
        report.modes.append(await page.evaluate(FOLLOWS, mode))
        findings += await page.evaluate(AUDIT, again)
    await page.set_viewport_size(PHONE)
    report.phone = await page.evaluate(OVERFLOW)
    await page.close()
    return report


async def inspect_all(executable: str, flags: list[str], address: str, names: list[str]) -> dict[str, Report]:
    """Every page in turn, a few at once: the browser draws on one core while Python waits on another."""
    turn = asyncio.Semaphore(AT_ONCE)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=executable, args=flags)
        context = await browser.new_context(viewport=WIDE, color_scheme="light", reduced_motion="reduce")
        # Anything but this machine's server is refused, as on a train.
        await context.route(lambda url: not is_near(url, address), lambda route: route.abort())

        async def one(name):
            async with turn:
                return await inspect(context, address, name)

        reports = await asyncio.gather(*(one(name) for name in names))
        await browser.close()
    return dict(zip(names, reports, strict=True))


@pytest.fixture(scope="session")
def reports(site, browser_path, browser_flags, address) -> dict[str, Report]:
    """One tour through the whole site, in a thread of its own since the other tests hold a browser in this one."""
    found: dict[str, Report] = {}
    failed: list[BaseException] = []

    def tour():
        try:
            found.update(asyncio.run(inspect_all(browser_path, browser_flags, address, page_names(site))))
        except BaseException as problem:
            failed.append(problem)

    thread = threading.Thread(target=tour)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return found


def named(reports: dict[str, Report], what: str) -> dict[str, object]:
    return {name: found for name, report in reports.items() if (found := getattr(report, what))}


def test_no_page_complains_or_asks_anybody_else_for_anything(reports):
    assert not named(reports, "problems")


def test_all_mathematics_is_set_without_network(reports):
    assert not named(reports, "formulas")


def test_no_page_is_wider_than_its_window(reports):
    assert not named(reports, "wide")


def test_no_page_is_wider_than_a_phone(reports):
    assert not named(reports, "phone")


def test_axe_finds_nothing_on_any_page_in_light_mode(reports):
    assert not named(reports, "light")


def test_axe_finds_no_weak_contrast_on_any_page_in_dark_mode(reports):
    assert not named(reports, "dark")


def test_every_page_follows_the_colour_mode_of_the_reader(reports):
    assert {tuple(r.modes) for r in reports.values()} <= {("light", "dark"), (None, None)}


# --- with a reader's hands -------------------------------------------------------------------------------------------


class Visit:
    """One reader with a fresh profile, and a record of what the pages complained about."""

    def __init__(self, browser, address: str, **settings):
        self.context = browser.new_context(reduced_motion="reduce", **{"viewport": WIDE, **settings})
        self.page, self.address, self.problems = self.context.new_page(), address, []
        listen(self.page, self.problems, address)

    def open(self, name: str):
        self.page.goto(self.address + name, wait_until="load")
        self.page.evaluate(SETTLED)
        return self.page


@pytest.fixture
def visit(browser, address):
    visits = []

    def start(at: str = address, **settings) -> Visit:
        visits.append(Visit(browser, at, **settings))
        return visits[-1]

    yield start
    for one in visits:
        one.context.close()


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_side_menu_of_a_phone_opens_is_accessible_and_closes(visit, mode):
    reader = visit(viewport=PHONE, color_scheme=mode)
    page = reader.open("book/intro.html")
    page.click(".primary-toggle")
    page.wait_for_selector("#pst-primary-sidebar-modal[open]")
    page.evaluate(AXE)
    assert page.evaluate(AUDIT, False) == []
    page.keyboard.press("Escape")
    page.wait_for_selector("#pst-primary-sidebar-modal:not([open])", state="attached")
    assert not reader.problems


def test_menus_opened_by_keyboard_are_accessible(visit):
    page = visit().open("book/intro.html")
    for button in page.locator(".article-header-buttons .dropdown-toggle").all():
        button.focus()
        page.keyboard.press("Enter")
        assert button.get_attribute("aria-expanded") == "true"
        page.evaluate(AXE)
        assert page.evaluate(AUDIT, False) == []
        page.keyboard.press("Escape")


def test_the_colour_switch_changes_the_mode_and_is_remembered(visit):
    reader = visit()
    page = reader.open("book/intro.html")
    seen = set()
    for _ in range(3):
        page.focus(".theme-switch-button")
        page.keyboard.press("Enter")
        seen.add(page.evaluate("document.documentElement.dataset.mode"))
    assert seen == {"light", "dark", "auto"}
    mode = page.evaluate("document.documentElement.dataset.mode")
    reader.open("search.html")
    assert page.evaluate("document.documentElement.dataset.mode") == mode


def test_search_finds_a_word_without_network(visit):
    reader = visit()
    page = reader.open("search.html?q=bell")
    page.wait_for_selector("#search-results li a")
    assert not reader.problems


def test_pages_opened_as_files_work_too(visit, site):
    reader = visit(site.as_uri() + "/")
    page = reader.open("book/intro.html")
    assert page.evaluate("document.querySelectorAll('mjx-container').length") > 0
    assert page.evaluate("document.querySelectorAll('.explorer-ready').length") > 0
    assert not reader.problems


def test_a_page_without_scripts_shows_its_text_and_the_explorers_pictures(visit, address):
    page = visit(java_script_enabled=False).page
    page.goto(address + "book/intro.html")
    assert page.locator("article h1").first.is_visible()
    assert page.locator(".pavlov-explorer img").first.is_visible()


def test_a_page_printed_from_dark_mode_is_dark_on_white_and_without_controls(visit):
    page = visit(color_scheme="dark").open("book/intro.html")
    page.emulate_media(media="print")
    page.wait_for_function("document.documentElement.dataset.theme === 'light'")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    red, green, blue = map(int, page.evaluate("getComputedStyle(document.querySelector('h2')).color.match(/\\d+/g)"))
    assert max(red, green, blue) < 100
    for part in (".bd-sidebar-primary", ".bd-header-article", ".explorer-controls"):
        assert not page.locator(part).first.is_visible()
    page.emulate_media(media="screen")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")


def test_what_is_folded_on_the_screen_is_printed(visit):
    page = visit().open("book/intro.html")
    page.evaluate(
        "document.querySelector('article').insertAdjacentHTML('beforeend', "
        "'<details><summary>Answer</summary><p id=folded>Because.</p></details>')"
    )
    assert not page.locator("#folded").is_visible()
    page.emulate_media(media="print")
    assert page.locator("#folded").is_visible()
