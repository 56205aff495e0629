"""A served world, and a browser that shows it."""
import json
import subprocess
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait

TOOL = Path(__file__).parents[2] / ".build/debug/bluectl"
MARKUP = "<img src=x onerror=\"document.title='run'\"></script>"


class View:
    """`bluectl view` of a world, asked over HTTP as the page does."""

    def __init__(self, world: Path, *options: str):
        self.world = world
        self.start(*options)

    def start(self, *options: str):
        self.process = subprocess.Popen([TOOL, "view", self.world, *options], stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        self.origin, self.token = self.url.split("/#token=")

    @property
    def port(self) -> str:
        return self.origin.rsplit(":", 1)[1]

    def ask(self, path: str, method: str = "GET", body=None):
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        with urlopen(Request(self.origin + path, data, headers, method=method), timeout=30) as answer:
            return json.loads(answer.read())

    def device(self, name: str):
        return next(device for device in self.ask("/v1/world")["devices"] if device["name"] == name)

    def details(self, name: str):
        return self.ask(f"/v1/devices/{self.device(name)['id']}")

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)


@pytest.fixture
def view(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    world = tmp_path / "lamp.json"
    world.write_text(json.dumps({
        "seed": 7, "preset": "instant",
        "devices": [
            {"name": "Heart", "handler": "heart-rate"},
            {"name": "Lamp", "handler": "blinky", "proximity": "immediate"},
            {"name": MARKUP, "proximity": "far", "services": [
                {"uuid": "FFF0", "characteristics": [
                    {"uuid": "FFF1", "properties": ["read", "notify"], "value": "00"}]}]},
        ]}))
    view = View(world)
    yield view
    view.stop()


def make_browser(width=1280, height=1100, is_dark=False):
    options = webdriver.ChromeOptions()
    for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", f"--window-size={width},{height}"]:
        options.add_argument(argument)
    if is_dark:
        options.add_argument("--blink-settings=preferredColorScheme=0")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))


def make_screen(width, is_dark):
    """A browser with the width of a screen, a phone's below 600 pixels, and with its color scheme."""
    browser = make_browser()
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
    scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    return browser, f"{width}-{scheme['value']}"


@pytest.fixture
def browser(view):
    browser = make_browser()
    browser.get(view.url)
    until(browser, lambda: browser.execute_script("return document.querySelectorAll('.device').length") == 3)
    yield browser
    browser.quit()


def until(browser, condition, seconds=30):
    """Waits for a condition, which may look at elements that are replaced meanwhile."""
    return WebDriverWait(browser, seconds, poll_frequency=0.05, ignored_exceptions=(Exception,)).until(
        lambda _: condition())
