"""The pages of failed tests, in a real browser: wide and narrow, light and dark."""
from pathlib import Path

import pytest
from axe_core_python.selenium import Axe
from conftest import make_screen
from selenium.webdriver.common.by import By

PAGES = Path(__file__).parents[2] / ".build/report-pages"
PICTURES = PAGES.with_name("report-pictures")
AN_HOUR = "aPageSaysWhyAValueDidNotComeAfterAnHour.html"
INSTANT = "anExpectationThatIsNotMetSaysWhatCameAndHowToReproduceIt.html"
HISTORY = "aMealThatIsGivenTwiceIsReportedWithItsHistory.html"


@pytest.fixture(scope="module", params=[(1280, False), (1280, True), (390, False), (390, True)], ids=str)
def screen(request):
    browser, name = make_screen(*request.param)
    yield browser, name
    browser.quit()


def show(browser, page):
    browser.get((PAGES / page).as_uri())
    return {name.text: value.text for name, value in zip(
        browser.find_elements(By.CSS_SELECTOR, "#facts dt"), browser.find_elements(By.CSS_SELECTOR, "#facts dd"))}


@pytest.mark.parametrize("page", [AN_HOUR, INSTANT])
def test_the_page_begins_with_the_failure(screen, page):
    browser, name = screen
    facts = show(browser, page)
    PICTURES.mkdir(exist_ok=True)
    browser.save_screenshot(str(PICTURES / f"{page.removesuffix('.html')}-{name}.png"))
    assert list(facts) == ["Expected", "Waited", "Came instead", "Where"]
    assert facts["Where"].startswith("FailureTests.swift:")
    assert browser.find_element(By.ID, "failure").rect["y"] < 120
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth"), "scrolls sideways"


def test_the_cause_and_the_names_of_devices_are_read(screen):
    browser, _ = screen
    facts = show(browser, AN_HOUR)
    assert facts["Expected"] == "didUpdateValue of 2A37" and facts["Came instead"] == "nothing"
    assert browser.find_element(By.ID, "cause").text.startswith("The link to Heart Rate Monitor ended at 5.152 s (timeout)")
    facts = show(browser, INSTANT)
    assert browser.find_element(By.ID, "cause").text == ""
    assert "didConnect from Heart Rate Monitor" in facts["Came instead"]
    assert "didUpdateValue of 2A37 from Heart Rate Monitor, 4 times" in facts["Came instead"]


def test_the_incidents_of_a_history_are_a_list_and_marks_at_their_times(screen):
    browser, name = screen
    facts = show(browser, HISTORY)
    browser.save_screenshot(str(PICTURES / f"{HISTORY.removesuffix('.html')}-{name}.png"))
    assert list(facts) == ["Failed", "At", "Where"] and "feeder.meals" in facts["Failed"]
    incidents = browser.find_elements(By.CSS_SELECTOR, "#incidents li")
    assert len(incidents) == 1 and incidents[0].text.startswith("at ") and "Feeder: " in incidents[0].text
    heading = browser.find_element(By.ID, incidents[0].find_element(By.XPATH, "..").get_attribute("aria-labelledby"))
    assert heading.is_displayed() and heading.text == "Radio history: what went wrong"
    failure = browser.find_element(By.ID, "failure").rect
    assert incidents[0].rect["y"] + incidents[0].rect["height"] <= failure["y"] + failure["height"]
    marks = [title.get_attribute("textContent") for title in browser.find_elements(By.CSS_SELECTOR, ".lane path.hit title")]
    assert [mark for mark in marks if "Feeder: inject" in mark], marks
    assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth"), "scrolls sideways"


def test_a_page_without_a_history_lists_no_incidents(screen):
    browser, _ = screen
    show(browser, AN_HOUR)
    assert not browser.find_element(By.ID, "history").is_displayed()


def test_events_without_latency_are_placed_by_their_order(screen):
    browser, _ = screen
    show(browser, INSTANT)
    order = browser.find_element(By.ID, "order")
    assert order.get_attribute("aria-pressed") == "true"

    def places():
        return browser.execute_script(
            "return [...document.querySelectorAll('.lane rect.hit')].map(bar => bar.getBoundingClientRect().x)")
    by_order = places()
    assert len(set(by_order)) > len(by_order) / 2
    order.click()
    assert order.get_attribute("aria-pressed") == "false" and len(set(places())) < len(set(by_order))


def test_an_hour_without_events_is_folded(screen):
    browser, _ = screen
    show(browser, AN_HOUR)
    order = browser.find_element(By.ID, "order")
    if order.get_attribute("aria-pressed") == "true":
        order.click()
    folds = browser.find_elements(By.CSS_SELECTOR, ".axis .fold")
    assert folds and all(fold.rect["width"] < 60 for fold in folds)
    assert "60.0 min" in browser.find_element(By.CSS_SELECTOR, ".axis").text


def test_a_shape_leads_to_its_line(screen):
    browser, _ = screen
    show(browser, INSTANT)
    shape = browser.find_element(By.CSS_SELECTOR, ".lane rect.hit")
    browser.execute_script("arguments[0].dispatchEvent(new MouseEvent('click'))", shape)
    assert "startScan" in browser.find_elements(By.CSS_SELECTOR, "#lines .near")[0].text
    assert browser.find_element(By.ID, "detail").text.startswith("0.000 s default central 1: scan")


@pytest.mark.parametrize("page", [AN_HOUR, INSTANT, HISTORY])
def test_an_accessibility_checker_finds_nothing_serious(screen, page):
    browser, _ = screen
    show(browser, page)
    violations = Axe().run(browser)["violations"]
    assert not [f"{rule['id']}: {rule['nodes'][0]['html'][:120]}" for rule in violations if rule["impact"] in ("serious", "critical")]
