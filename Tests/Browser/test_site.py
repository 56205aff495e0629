"""The documentation as a site, in a real browser: at the widths of a desktop and of a phone, light and dark."""
import re
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from conftest import make_browser, make_screen, until
from selenium.webdriver.common.by import By

SITE = Path(__file__).parents[2] / ".build-site"
PICTURES = SITE.with_name(".build-site-pictures")
PAGES = {
    "landing": "documentation/swift-corebluetooth/",
    "article": "documentation/corebluetooth/pairing/",
    "symbol": "documentation/corebluetooth/cbcentralmanager/",
    "tutorials": "tutorials/tutorials/",
    "tutorial": "tutorials/swift-corebluetooth/thermometergateway/",
    "benchmarks": "documentation/swift-corebluetooth/benchmarks/",
    "architecture": "documentation/swift-corebluetooth/architecture/",
}


class Handler(SimpleHTTPRequestHandler):
    """Serves the site below the path for which it was built."""

    base = ""

    def translate_path(self, path):
        return super().translate_path(path.removeprefix(self.base))

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address():
    Handler.base = re.search(r'url=(.*?)/documentation', (SITE / "index.html").read_text())[1]
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=SITE))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}{Handler.base}/"
    server.shutdown()


@pytest.fixture(scope="module", params=[(1440, False), (1440, True), (390, False), (390, True)], ids=str)
def screen(request):
    width, is_dark = request.param
    browser, kind = make_screen(width, is_dark)
    yield browser, kind, is_dark
    browser.quit()


def brightness(browser):
    """From 0, black, to 255: that of the background of the body, or of what is behind it."""
    color = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    return sum(map(int, re.findall(r"\d+", color)[:3])) / 3


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_the_screen_and_follows_its_scheme(address, screen, name):
    browser, kind, is_dark = screen
    browser.get(address + PAGES[name])
    until(browser, lambda: browser.find_element(By.TAG_NAME, "h1").text)
    # DocC loads pictures when they come into view.
    browser.execute_script("for (const image of document.images) image.loading = 'eager'")
    until(browser, lambda: browser.execute_script("return [...document.images].every((image) => image.complete)"))
    PICTURES.mkdir(exist_ok=True)
    browser.save_screenshot(str(PICTURES / f"{name}-{kind}.png"))
    assert browser.get_log("browser") == []
    assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    assert browser.execute_script("return [...document.images].every((image) => image.naturalWidth > 0)")
    assert browser.find_element(By.TAG_NAME, "custom-header").size["height"] > 0
    # DocC's page of all tutorials is always dark.
    assert name == "tutorials" or (brightness(browser) < 128) == is_dark


@pytest.fixture
def desktop(address):
    browser = make_browser(1440)
    browser.get(address)
    until(browser, lambda: browser.find_element(By.TAG_NAME, "h1").text == "swift-corebluetooth")
    yield browser
    browser.quit()


def test_the_header_searches_all_texts(desktop):
    field = desktop.execute_script("return document.querySelector('custom-header').shadowRoot.querySelector('input')")
    field.send_keys("supervision timeout\n")
    until(desktop, lambda: len(desktop.find_elements(By.CSS_SELECTOR, ".pagefind-ui__result-link")) > 3)
    link = desktop.find_element(By.CSS_SELECTOR, ".pagefind-ui__result-link")
    title = link.text
    link.click()
    until(desktop, lambda: title.startswith(desktop.find_element(By.TAG_NAME, "h1").text))


def test_the_sidebar_is_that_of_the_package_on_a_page_of_one_module(desktop, address):
    desktop.get(address + PAGES["symbol"])
    until(desktop, lambda: "CBCentralManager" in desktop.find_element(By.CSS_SELECTOR, ".navigator").text)
    assert "swift-corebluetooth" in desktop.find_element(By.CSS_SELECTOR, ".navigator").text
