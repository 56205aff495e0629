"""The documentation as a site, in a real browser: at the widths of a desktop and of a phone, light and dark."""
import re
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.request import urlopen

import pytest
from axe_core_python.selenium import Axe
from conftest import make_browser, make_screen, until
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

SITE = Path(__file__).parents[2] / ".build-site"
PICTURES = SITE.with_name(".build-site-pictures")
PAGES = {
    "front": "",
    "search": "search/?q=pairing",
    "nothing": "search/?q=CBCentrlManger",
    "missing": "no/such/page",
    "landing": "documentation/swift-corebluetooth/",
    "article": "documentation/corebluetooth/thecommandlinetool/",
    "symbol": "documentation/corebluetooth/cbcentralmanager/",
    "tutorials": "tutorials/tutorials/",
    "tutorial": "tutorials/swift-corebluetooth/thermometergateway/",
    "benchmarks": "documentation/swift-corebluetooth/benchmarks/",
    "architecture": "documentation/swift-corebluetooth/architecture/",
}
READERS = ["You write an app", "You build a gateway", "You write firmware or Python", "You have a dongle", "You want to contribute"]
# The tree of DocC keeps items that it uses again, off the screen and with their identifiers.
NOT_CHECKED = {"duplicate-id-active", "duplicate-id-aria"}


class Handler(SimpleHTTPRequestHandler):
    """Serves the site below the path for which it was built, as GitHub Pages does: 404.html is the page for an address without one."""

    base = ""

    def translate_path(self, path):
        return super().translate_path(path.removeprefix(self.base))

    def send_error(self, code, message=None, explain=None):
        page = (SITE / "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address():
    Handler.base = re.search(r'baseUrl = "(.*?)/"', (SITE / "index.html").read_text())[1]
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=SITE))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}{Handler.base}/"
    server.shutdown()


@pytest.fixture(scope="module", params=[(1280, False), (1280, True), (390, False), (390, True)], ids=str)
def screen(request):
    width, is_dark = request.param
    browser, kind = make_screen(width, is_dark)
    yield browser, kind, is_dark
    browser.quit()


def show(browser, url):
    """Opens a page and waits until it is complete: DocC and the search fill theirs later, and pictures load when they are in view."""
    browser.get(url)
    until(browser, lambda: browser.find_element(By.TAG_NAME, "h1").text)
    if "?q=" in url:
        until(browser, lambda: browser.find_element(By.ID, "status").text)
    browser.execute_script("for (const image of document.images) image.loading = 'eager'")
    until(browser, lambda: browser.execute_script("return [...document.images].every((image) => image.complete)"))


def brightness(browser):
    """From 0, black, to 255: that of the background of the body, or of what is behind it."""
    color = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    return sum(map(int, re.findall(r"\d+", color)[:3])) / 3


def bar(browser, selector):
    """An element of the bar on top."""
    return browser.execute_script("return document.querySelector('custom-header').shadowRoot.querySelector(arguments[0])", selector)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_the_screen_and_follows_its_scheme(address, screen, name):
    browser, kind, is_dark = screen
    show(browser, address + PAGES[name])
    PICTURES.mkdir(exist_ok=True)
    browser.save_screenshot(str(PICTURES / f"{name}-{kind}.png"))
    assert [entry for entry in browser.get_log("browser") if name != "missing" or "404" not in entry["message"]] == []
    assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    hidden = "getComputedStyle(image).display === 'none'"
    assert browser.execute_script(f"return [...document.images].every((image) => image.naturalWidth > 0 || {hidden})")
    assert browser.find_element(By.TAG_NAME, "custom-header").size["height"] > 0
    # DocC's page of all tutorials is always dark.
    assert name == "tutorials" or (brightness(browser) < 128) == is_dark


@pytest.mark.parametrize("name", ["front", "search", "nothing", "missing", "article", "symbol", "tutorial"])
def test_an_accessibility_checker_finds_nothing_serious(address, screen, name):
    browser, _, _ = screen
    browser.set_script_timeout(120)
    show(browser, address + PAGES[name])
    serious = [rule for rule in Axe().run(browser)["violations"] if rule["impact"] in ("serious", "critical")]
    assert not [f"{rule['id']}: {rule['nodes'][0]['html'][:120]}" for rule in serious if rule["id"] not in NOT_CHECKED]


@pytest.mark.parametrize("name", ["front", "article", "tutorials", "tutorial"])
def test_one_bar_stays_on_top(address, screen, name):
    browser, _, _ = screen
    show(browser, address + PAGES[name])
    browser.execute_script("scrollTo(0, 600)")
    stuck = """return [...document.querySelectorAll('custom-header, nav, header')].filter((element) => {
        const { top, width, height } = element.getBoundingClientRect();
        const isStuck = ["sticky", "fixed"].includes(getComputedStyle(element).position);
        return isStuck && top >= 0 && top < 100 && width > innerWidth / 2 && height > 0;
    }).map((element) => element.localName)"""
    assert until(browser, lambda: browser.execute_script(stuck)) == ["custom-header"]


def test_tables_scroll_inside_themselves(address, screen):
    browser, kind, _ = screen
    show(browser, address + PAGES["article"])
    widths = browser.execute_script(
        "return [...document.querySelectorAll('.table-wrapper')].map((table) => [table.scrollWidth, table.clientWidth, table.tabIndex])")
    assert widths and all(tab == 0 for scrolled, shown, tab in widths if scrolled > shown)
    assert kind.startswith("1280") or any(scrolled > shown for scrolled, shown, _ in widths)


@pytest.fixture
def desktop(address):
    browser = make_browser(1440)
    browser.get(address)
    until(browser, lambda: bar(browser, "input"))
    yield browser
    browser.quit()


def title(element) -> str:
    """The first line of a card of the front."""
    return element.text.partition("\n")[0]


def test_the_front_has_a_command_and_its_output_for_each_reader(desktop):
    links = desktop.find_elements(By.CSS_SELECTOR, ".readers a")
    assert [title(link) for link in links] == READERS
    for link in links:
        section = desktop.find_element(By.CSS_SELECTOR, link.get_attribute("href")[link.get_attribute("href").index("#"):])
        assert section.find_element(By.TAG_NAME, "h2").text == title(link)
        assert section.find_element(By.TAG_NAME, "p").text.startswith(link.find_element(By.TAG_NAME, "span").text)
        lines = section.find_element(By.CSS_SELECTOR, ".terminal").text.splitlines()
        assert section.find_element(By.CSS_SELECTOR, ".terminal b").text == lines[0] and len(lines) > 1


def test_the_choice_of_a_scheme_holds_on_the_page_and_on_the_next_ones(desktop, address):
    for scheme, is_dark in [("dark", True), ("light", False)]:
        Select(bar(desktop, "select")).select_by_value(scheme)
        assert (brightness(desktop) < 128) == is_dark
        shown = [image for image in desktop.find_elements(By.CSS_SELECTOR, "figure.png img") if image.is_displayed()]
        assert shown and all(("~dark" in image.get_attribute("src")) == is_dark for image in shown)
        for name in ["article", "search", "tutorial", "front"]:
            show(desktop, address + PAGES[name])
            assert (brightness(desktop) < 128) == is_dark
            assert Select(bar(desktop, "select")).first_selected_option.get_attribute("value") == scheme
    # DocC's own pictures follow, too.
    show(desktop, address + "documentation/bluetoothemulator/theliveview/")
    for scheme in ["dark", "light"]:
        Select(bar(desktop, "select")).select_by_value(scheme)
        until(desktop, lambda: ("~dark" in desktop.execute_script("return document.querySelector('.content img').currentSrc")) == (scheme == "dark"))


def results(browser, section):
    return browser.find_elements(By.CSS_SELECTOR, f"#{section} li a")


def test_the_bar_searches_all_texts(desktop):
    bar(desktop, "input").send_keys("supervision timeout\n")
    until(desktop, lambda: len(results(desktop, "pages")) > 3)
    link = results(desktop, "pages")[0]
    title = link.find_element(By.CLASS_NAME, "title").text
    link.click()
    until(desktop, lambda: desktop.find_element(By.TAG_NAME, "h1").text == title)


def test_the_search_shows_pages_of_prose_before_symbols(address, screen):
    browser, kind, _ = screen
    show(browser, address + PAGES["search"])
    until(browser, lambda: results(browser, "symbols"))
    assert results(browser, "pages")[0].find_element(By.CLASS_NAME, "title").text == "Pairing"
    page, symbol = (browser.find_element(By.ID, name).rect for name in ("pages", "symbols"))
    assert page["y"] < symbol["y"] if kind.startswith("390") else page["x"] < symbol["x"]


@pytest.mark.parametrize("query", ["CBCentral", "peripheral didUpdateValueFor", "EmulatorConfiguration", "HeartRateMeasurement"])
def test_the_search_has_each_symbol_once(desktop, address, query):
    show(desktop, f"{address}search/?q={query}")
    button = desktop.find_element(By.CSS_SELECTOR, "#symbols button")
    until(desktop, lambda: results(desktop, "symbols"))
    while button.is_displayed() and len(results(desktop, "symbols")) < 60:
        shown = len(results(desktop, "symbols"))
        desktop.execute_script("arguments[0].click()", button)
        until(desktop, lambda: len(results(desktop, "symbols")) > shown)
    names = [link.text for link in results(desktop, "symbols")]
    assert len(names) == len(set(names))
    assert " " in query or names[0].split("\n")[0] == query


def test_a_search_without_result_suggests_a_name_and_pages(desktop, address):
    show(desktop, address + PAGES["nothing"])
    until(desktop, lambda: "CBCentralManager" in desktop.find_element(By.ID, "similar").text)
    assert len(desktop.find_elements(By.CSS_SELECTOR, "#nothing .places a")) > 3
    desktop.find_element(By.LINK_TEXT, "CBCentralManager").click()
    until(desktop, lambda: results(desktop, "symbols")[0].text.startswith("CBCentralManager\n"))


def test_letters_that_no_word_begins_with_are_not_found(desktop, address):
    show(desktop, address + "search/?q=zzzqqq")
    assert desktop.find_element(By.ID, "status").text == "Nothing contains “zzzqqq”."


def test_an_address_without_a_page_leads_on(desktop, address):
    show(desktop, address + PAGES["missing"])
    assert desktop.find_element(By.TAG_NAME, "h1").text == "There is no page at this address"
    desktop.find_element(By.CSS_SELECTOR, "main input").send_keys("pairing\n")
    until(desktop, lambda: results(desktop, "pages"))


def test_no_folder_is_listed(address):
    assert not [folder for folder in SITE.rglob("*") if folder.is_dir() and not (folder / "index.html").exists()]
    for path in ["tutorials/", "tutorials/swift-corebluetooth/", "css/", "data/documentation/", "pictures/"]:
        with urlopen(address + path) as answer:
            target = re.search(r"url=([^\"]*)", answer.read().decode())[1]
        assert (SITE / target.removeprefix(Handler.base).strip("/") / "index.html").exists()


def test_the_keyboard_reaches_a_reader_and_a_result(desktop, address):
    def focused():
        return desktop.execute_script("const { activeElement } = document; return (activeElement.shadowRoot ?? document).activeElement")

    def press_until(found):
        for _ in range(40):
            desktop.switch_to.active_element.send_keys(Keys.TAB)
            if found(focused()):
                return
        raise AssertionError("the keyboard does not reach it")

    press_until(lambda element: title(element) == READERS[2])
    desktop.switch_to.active_element.send_keys(Keys.ENTER)
    until(desktop, lambda: desktop.current_url.endswith("#you-write-firmware-or-python"))
    show(desktop, address + "search/")
    desktop.switch_to.active_element.send_keys("pairing")
    until(desktop, lambda: results(desktop, "pages"))
    press_until(lambda element: element == results(desktop, "pages")[0])


def test_nothing_moves_for_a_reader_who_wants_less_motion(desktop, address):
    desktop.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]})
    for name in ["front", "article"]:
        show(desktop, address + PAGES[name])
        assert desktop.execute_script("return getComputedStyle(document.documentElement).scrollBehavior") == "auto"
        assert desktop.execute_script("""return [...document.querySelectorAll('*')].every((element) => {
            const { animationName, transitionDuration } = getComputedStyle(element);
            return animationName === 'none' && transitionDuration.split(', ').every((time) => time === '0s');
        })""")


def test_a_button_of_the_bar_shows_the_tree_on_a_phone(address, screen):
    browser, kind, _ = screen
    show(browser, address + PAGES["article"])
    if kind.startswith("390"):
        until(browser, lambda: bar(browser, "button").is_displayed())
        bar(browser, "button").click()
    links = "return [...document.querySelectorAll('.navigator .leaf-link')].some((link) => document.elementFromPoint("
    center = "link.getBoundingClientRect().x + 5, link.getBoundingClientRect().y + 5)?.closest('.leaf-link') === link)"
    until(browser, lambda: browser.execute_script(links + center))


def test_the_tree_is_that_of_the_package_on_a_page_of_one_module(desktop, address):
    desktop.get(address + PAGES["symbol"])
    until(desktop, lambda: "CBCentralManager" in desktop.find_element(By.CSS_SELECTOR, ".navigator").text)
    assert "swift-corebluetooth" in desktop.find_element(By.CSS_SELECTOR, ".navigator").text
