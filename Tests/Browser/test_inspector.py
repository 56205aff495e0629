"""The inspector of the live view: the chosen device and the hosts, in a real browser."""
import re
from urllib.request import Request, urlopen

import pytest
from axe_core_python.selenium import Axe
from conftest import MARKUP, make_screen, until
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

LED = "00001525-1212-EFDE-1523-785FEABCD123"
# A name of the source, such as poweredOn; dBm and kJ are units.
NAME = re.compile(r"\b(?!dBm\b|kJ\b)\w*[a-z][A-Z]\w*")


def find(browser, selector):
    return browser.find_element(By.CSS_SELECTOR, selector)


def labeled(browser, label):
    return find(browser, f'#inspector [aria-label="{label}"]')


def button(browser, text):
    return browser.find_element(By.XPATH, f"//*[@id='inspector']//button[normalize-space()='{text}']")


def switch(browser, label):
    return find(browser, f'#inspector [role="switch"][aria-label="{label}"]')


def is_on(browser, label):
    return switch(browser, label).get_attribute("aria-checked") == "true"


def text(browser):
    return find(browser, "#device").text


def choose(browser, name):
    until(browser, lambda: browser.find_elements(By.CSS_SELECTOR, ".device"))
    search = find(browser, "#search")
    search.send_keys(name, Keys.ENTER)
    until(browser, lambda: labeled(browser, "Name").get_property("value") == name)
    retype(search, "")


def retype(entry, value):
    entry.send_keys(Keys.CONTROL, "a", Keys.BACKSPACE)
    entry.send_keys(value)


def open_form(browser):
    browser.execute_script("document.querySelector('[data-key=new-fault]').open = true")


def path(view, name):
    return f"/v1/devices/{view.device(name)['id']}"


def value(view, name, uuid):
    return next(found["value"] for service in view.details(name)["services"] for found in service["characteristics"]
                if found["uuid"] == uuid)


def test_own_services_come_first_and_the_standard_ones_are_folded(view, browser):
    choose(browser, "Heart")
    assert [heading.text for heading in browser.find_elements(By.CSS_SELECTOR, "#device h3")][:4] == [
        "Links", "Heart Rate 180D", "Battery 180F", "Device Information 180A"]
    assert "Standard services: Generic Access, Generic Attribute" in text(browser)
    assert "Device Name" not in text(browser)
    browser.find_element(By.XPATH, "//summary[contains(., 'Standard services')]").click()
    until(browser, lambda: "Device Name" in text(browser))
    view.ask(path(view, "Heart"), "PATCH", {"rssi": -50})
    # It stays open while the device changes.
    until(browser, lambda: "strong, −50 dBm" in text(browser))
    assert "Device Name" in text(browser)


def test_a_number_is_edited_in_its_unit_and_sent_with_enter(view, browser):
    choose(browser, "Heart")
    battery = labeled(browser, "Value of Battery Level 180F/2A19")
    assert battery.find_element(By.XPATH, "following-sibling::span").text == "%"
    retype(battery, "12")
    battery.send_keys(Keys.ENTER)
    until(browser, lambda: value(view, "Heart", "2A19") == "0C")
    until(browser, lambda: "12 %" in find(browser, '[data-value="180F/2A19#0"]').text)


def test_a_text_is_edited_as_text_and_a_choice_in_words(view, browser):
    choose(browser, "Heart")
    maker = labeled(browser, "Value of Manufacturer Name String 180A/2A29")
    retype(maker, "Mäker")
    maker.send_keys(Keys.ENTER)
    until(browser, lambda: value(view, "Heart", "2A29") == "Mäker".encode().hex().upper())
    location = labeled(browser, "Value of Body Sensor Location 180D/2A38")
    Select(location).select_by_visible_text("wrist")
    location.find_element(By.XPATH, "following-sibling::button").click()
    until(browser, lambda: value(view, "Heart", "2A38") == "02")
    until(browser, lambda: "wrist" in find(browser, '[data-value="180D/2A38#0"]').text)


def test_a_led_is_a_switch(view, browser):
    choose(browser, "Lamp")
    switch(browser, "Value of LED State").click()
    until(browser, lambda: value(view, "Lamp", LED) == "01")
    until(browser, lambda: is_on(browser, "Value of LED State"))
    switch(browser, "Value of LED State").send_keys(Keys.SPACE)
    until(browser, lambda: value(view, "Lamp", LED) == "00")


def battery_in_hex(browser):
    """The entry of the battery level, in hex."""
    choose(browser, "Heart")
    Select(labeled(browser, "Edit Battery Level 180F/2A19 as")).select_by_visible_text("Hex")
    return until(browser, lambda: labeled(browser, "Value of Battery Level 180F/2A19 in hex"))


def test_every_value_can_be_edited_in_hex(view, browser):
    entry = battery_in_hex(browser)
    retype(entry, "0x0D")
    entry.send_keys(Keys.ENTER)
    until(browser, lambda: value(view, "Heart", "2A19") == "0D")
    assert Select(labeled(browser, "Edit Battery Level 180F/2A19 as")).first_selected_option.text == "Hex"


@pytest.mark.parametrize(("typed", "reason"), [
    ("120", "0 to 100 % is possible."), ("full", "A number is wanted here."), ("", "A number is wanted here."),
])
def test_a_refused_entry_says_why_and_stays(view, browser, typed, reason):
    choose(browser, "Heart")
    battery = labeled(browser, "Value of Battery Level 180F/2A19")
    retype(battery, typed)
    battery.send_keys(Keys.ENTER)
    until(browser, lambda: find(browser, ".entry [role=alert]").text == reason)
    assert battery.get_attribute("aria-describedby") == find(browser, ".entry [role=alert]").get_attribute("id")
    view.ask(path(view, "Heart"), "PATCH", {"rssi": -50})
    until(browser, lambda: "strong, −50 dBm" in text(browser))
    assert battery.get_property("value") == typed
    assert not find(browser, "#error").is_displayed()
    battery.send_keys(Keys.ESCAPE)
    until(browser, lambda: not browser.find_elements(By.CSS_SELECTOR, ".entry [role=alert]"))
    assert battery.get_property("value") == "87"


def test_half_a_byte_is_refused(view, browser):
    entry = battery_in_hex(browser)
    retype(entry, "012")
    entry.send_keys(Keys.ENTER)
    until(browser, lambda: find(browser, ".entry [role=alert]").text.startswith("A digit is missing"))


def test_an_entry_that_is_left_is_not_sent(view, browser):
    choose(browser, "Heart")
    battery = labeled(browser, "Value of Battery Level 180F/2A19")
    retype(battery, "1")
    labeled(browser, "Name").click()
    sequence = view.ask(path(view, "Heart"), "PATCH", {"rssi": -50})["sequence"]
    until(browser, lambda: "strong, −50 dBm" in text(browser))
    assert battery.get_property("value") == "1"
    assert value(view, "Heart", "2A19") == "57"
    assert view.ask("/v1/world")["sequence"] == sequence


def test_what_is_typed_stays_while_the_device_changes(view, browser):
    choose(browser, "Heart")
    name = labeled(browser, "Name")
    name.send_keys(Keys.END, " of gold")
    view.ask(path(view, "Heart") + "/values", "POST", {"characteristic": "2A38", "value": "02"})
    until(browser, lambda: "wrist" in find(browser, '[data-value="180D/2A38#0"]').text)
    assert browser.switch_to.active_element.get_property("value") == "Heart of gold"
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    until(browser, lambda: view.device("Heart of gold"))


def test_a_list_that_is_open_stays_while_the_device_changes(view, browser):
    choose(browser, "Heart")
    location = labeled(browser, "Value of Body Sensor Location 180D/2A38")
    browser.execute_script("arguments[0].focus(); arguments[0].isTheSame = true", location)
    view.ask(path(view, "Heart"), "PATCH", {"rssi": -50})
    until(browser, lambda: "strong, −50 dBm" in text(browser))
    assert browser.execute_script("return document.activeElement.isTheSame")


# The details of a device say that two links subscribe to each characteristic.
SUBSCRIBED = """
    const real = window.fetch;
    window.fetch = async (path, options) => {
        const response = await real(path, options);
        if (options?.method !== "GET" || !/devices\\/\\d+$/.test(path)) return response;
        const details = await response.json();
        for (const service of details.services) for (const found of service.characteristics) found.subscribers = 2;
        return new Response(JSON.stringify(details));
    };"""


def test_the_button_says_that_subscribers_are_notified(view, browser):
    browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": SUBSCRIBED})
    browser.get("about:blank")
    browser.get(view.url)
    choose(browser, "Heart")
    until(browser, lambda: "2 subscribers" in text(browser))
    battery = labeled(browser, "Value of Battery Level 180F/2A19")
    retype(battery, "12")
    battery.find_element(By.XPATH, "following-sibling::button[normalize-space()='Notify 2 subscribers']").click()
    until(browser, lambda: value(view, "Heart", "2A19") == "0C")
    request = Request(view.origin + "/v1/test.swift", headers={"Authorization": f"Bearer {view.token}"})
    with urlopen(request, timeout=30) as answer:
        assert b'.notify(CharacteristicPath("2A19"' in answer.read()


def test_a_usual_fault_is_a_switch_with_its_state(view, browser):
    choose(browser, "Heart")
    switch(browser, "Reads hang").click()
    until(browser, lambda: is_on(browser, "Reads hang"))
    assert view.details("Heart")["faults"] == [{"step": "read", "what": "pause", "always": True}]
    assert "Every read hangs until resumed" in text(browser)
    switch(browser, "Answers come 2 s late").click()
    until(browser, lambda: is_on(browser, "Answers come 2 s late"))
    assert "Every write comes 2 s late" in text(browser)
    switch(browser, "Reads hang").click()
    until(browser, lambda: not is_on(browser, "Reads hang"))
    assert [fault["what"] for fault in view.details("Heart")["faults"]] == ["delay", "delay"]
    button(browser, "Remove all faults").click()
    until(browser, lambda: view.details("Heart")["faults"] == [])
    until(browser, lambda: not is_on(browser, "Answers come 2 s late"))


def test_another_fault_is_added_in_words_and_removed(view, browser):
    choose(browser, "Heart")
    open_form(browser)
    Select(labeled(browser, "Step")).select_by_visible_text("read")
    Select(labeled(browser, "Characteristic")).select_by_visible_text("Body Sensor Location 180D/2A38")
    retype(labeled(browser, "Steps affected"), "3")
    button(browser, "Add fault").click()
    until(browser, lambda: "The next 3 reads of Body Sensor Location fail with ATT error 0x80" in text(browser))
    fault = view.details("Heart")["faults"][0]
    assert (fault["characteristic"], fault["code"], fault["count"]) == ("2A38", 128, 3)
    assert not is_on(browser, "Reads and writes fail")
    labeled(browser, "Remove the fault: The next 3 reads of Body Sensor Location fail with ATT error 0x80").click()
    until(browser, lambda: view.details("Heart")["faults"] == [])
    # The focus stays in the part whose button is gone.
    until(browser, lambda: browser.switch_to.active_element.get_attribute("data-key") == "faults")


def test_a_fault_of_every_step_and_a_wrong_one(view, browser):
    choose(browser, "Heart")
    open_form(browser)
    Select(labeled(browser, "Effect")).select_by_visible_text("comes late")
    late = until(browser, lambda: labeled(browser, "Late by"))
    retype(late, "soon")
    switch(browser, "Every time").click()
    button(browser, "Add fault").click()
    until(browser, lambda: "a time is a number and a unit" in find(browser, ".form [role=alert]").text)
    assert labeled(browser, "Late by").get_property("value") == "soon"
    retype(labeled(browser, "Late by"), "500 ms")
    button(browser, "Add fault").click()
    until(browser, lambda: "Every write comes 500 ms late" in text(browser))
    assert not browser.find_elements(By.CSS_SELECTOR, ".form [role=alert]")


def test_the_form_offers_the_effects_that_apply_to_the_step(view, browser):
    choose(browser, "Heart")
    open_form(browser)
    Select(labeled(browser, "Step")).select_by_visible_text("read")
    Select(labeled(browser, "Effect")).select_by_visible_text("has a malformed value")
    Select(labeled(browser, "Step")).select_by_visible_text("read the signal strength")
    until(browser, lambda: [option.text for option in Select(labeled(browser, "Effect")).options]
          == ["fails", "comes late", "hangs until resumed", "drops the link"])
    until(browser, lambda: Select(labeled(browser, "Effect")).first_selected_option.text == "fails")
    switch(browser, "The answer to the next write is lost").click()
    until(browser, lambda: "The next write is performed, but the answer is lost with the link" in text(browser))


def test_a_device_is_connected_with_its_security_and_disconnected(view, browser):
    choose(browser, "Heart")
    assert "No host is connected." in text(browser)
    button(browser, "Connect from default").click()
    until(browser, lambda: "The link with default is not encrypted." in text(browser))
    assert "Bonded with no host." in text(browser)
    assert "It has no display and no keyboard, and its user accepts pairings." in text(browser)
    button(browser, "Disconnect").click()
    until(browser, lambda: "No host is connected." in text(browser))
    button(browser, "Connect from default").click()
    until(browser, lambda: "MTU" in text(browser))
    labeled(browser, "Release the connection of default").click()
    until(browser, lambda: "No host is connected." in text(browser))


def test_a_button_keeps_the_focus_and_its_clicks_while_values_change(view, browser):
    choose(browser, "Heart")
    button(browser, "Connect from default").click()
    until(browser, lambda: view.ask("/v1/world")["links"])
    until(browser, lambda: button(browser, "Disconnect").get_attribute("aria-disabled") == "false")
    ActionChains(browser).click_and_hold(button(browser, "Disconnect")).perform()
    view.ask(path(view, "Heart") + "/values", "POST", {"characteristic": "2A38", "value": "02"})
    # Longer than the page waits before it asks for the values.
    browser.execute_async_script("const done = arguments[0]; setTimeout(done, 600)")
    ActionChains(browser).release().perform()
    until(browser, lambda: view.ask("/v1/world")["links"] == [])
    until(browser, lambda: "wrist" in find(browser, '[data-value="180D/2A38#0"]').text)
    assert browser.switch_to.active_element.text == "Disconnect"


def test_advertising_is_a_switch_with_its_interval_and_content(view, browser):
    choose(browser, "Heart")
    assert "Services\nHeart Rate 180D, Battery 180F" in text(browser)
    interval = labeled(browser, "Advertising interval")
    assert interval.get_property("value") == "100"
    retype(interval, "5")
    interval.send_keys(Keys.ENTER)
    until(browser, lambda: "The advertising interval is 20 ms...10.24 s, or 0." in text(browser))
    retype(interval, "250")
    interval.send_keys(Keys.ENTER)
    until(browser, lambda: view.device("Heart")["advertising"][0]["interval"] == 0.25)
    switch(browser, "Advertising").click()
    until(browser, lambda: not is_on(browser, "Advertising"))
    assert view.device("Heart")["isAdvertising"] is False


def test_a_parameter_is_set_in_its_type(view, browser):
    choose(browser, "Heart")
    rate = labeled(browser, "Heart rate")
    rate.send_keys("70000", Keys.ENTER)
    until(browser, lambda: "0 to 65535 bpm is possible." in text(browser))
    retype(rate, "180")
    rate.send_keys(Keys.ENTER)
    known = lambda name: next(parameter.get("value") for parameter in view.details("Heart")["parameters"] if parameter["name"] == name)
    until(browser, lambda: known("heartRate") == 180)
    switch(browser, "Skin contact").click()
    until(browser, lambda: known("sensorContact") is not None)


def test_removing_asks_and_cancel_is_the_default(view, browser):
    choose(browser, "Heart")
    button(browser, "Remove device…").click()
    assert find(browser, "dialog h3").text == "Remove Heart?"
    assert browser.switch_to.active_element.text == "Cancel"
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    until(browser, lambda: not browser.find_elements(By.CSS_SELECTOR, "dialog"))
    assert view.device("Heart")
    button(browser, "Remove device…").click()
    find(browser, "dialog .danger").click()
    until(browser, lambda: len(view.ask("/v1/world")["devices"]) == 2)
    until(browser, lambda: "Choose a device" in text(browser))
    assert not find(browser, "#error").is_displayed()
    assert browser.get_log("browser") == []


def test_a_question_shows_a_name_as_text(view, browser):
    choose(browser, MARKUP)
    button(browser, "Remove device…").click()
    assert find(browser, "dialog h3").text == f"Remove {MARKUP}?"
    assert browser.find_elements(By.CSS_SELECTOR, "img") == []


def test_keys_are_lost_only_after_a_question(view, browser):
    choose(browser, "Heart")
    button(browser, "Lose keys…").click()
    assert not browser.find_elements(By.CSS_SELECTOR, "dialog")
    button(browser, "New address…").click()
    address = view.device("Heart")["address"]
    find(browser, "dialog .danger").click()
    until(browser, lambda: view.device("Heart")["address"] != address)
    until(browser, lambda: "resolvable private address" in text(browser))


def test_the_switches_of_a_host_show_its_state_in_words(view, browser):
    hosts = lambda: find(browser, "#hosts").text
    until(browser, lambda: "default\non" in hosts())
    switch(browser, "Power of default").click()
    until(browser, lambda: not is_on(browser, "Power of default"))
    assert "default\noff" in hosts() and view.ask("/v1/world")["hosts"][0]["state"] == "poweredOff"
    switch(browser, "Power of default").click()
    until(browser, lambda: "default\non" in hosts())
    Select(labeled(browser, "Permission of the apps of default")).select_by_visible_text("forbidden by policy")
    until(browser, lambda: "default\nnot permitted" in hosts())
    assert view.ask("/v1/world")["hosts"][0]["authorization"] == "restricted"
    switch(browser, "Adapter of default plugged in").click()
    assert view.ask("/v1/world")["hosts"][0]["isPlugged"] is True
    assert find(browser, "dialog h3").text == "Unplug the adapter of default?"
    find(browser, "dialog .danger").click()
    until(browser, lambda: not is_on(browser, "Adapter of default plugged in"))


def test_a_refused_command_is_said(view, browser):
    browser.execute_script("import('/connection.js').then(({ command }) => command('PATCH', arguments[0], { rssi: 99 }))", path(view, "Heart"))
    until(browser, lambda: "the signal strength is -127...20 dBm" in find(browser, "#error").text)


def test_nothing_raw_is_shown(view, browser):
    for name in ["Heart", "Lamp"]:
        choose(browser, name)
        browser.execute_script("for (const part of document.querySelectorAll('details')) part.open = true")
        button(browser, "Connect from default").click()
        until(browser, lambda: "The link with default" in text(browser))
        for fault in ["Answers come 2 s late", "Reads and writes fail", "Reads hang", "The next write drops the link",
                      "Connections fail", "Notifications are lost", "Pairing is refused"]:
            switch(browser, fault).click()
            until(browser, lambda: is_on(browser, fault))
        button(browser, "Lose link").click()
        until(browser, lambda: "No host is connected." in text(browser))
        for part in ["#inspector", "#log"]:
            assert NAME.findall(find(browser, part).text) == []


@pytest.mark.parametrize(("width", "is_dark"), [(1280, False), (1280, True), (390, False), (390, True)])
def test_the_inspector_is_accessible_and_fits(view, width, is_dark):
    browser, _ = make_screen(width, is_dark)
    try:
        browser.get(view.url)
        choose(browser, "Heart")
        browser.execute_script("for (const part of document.querySelectorAll('#device details')) part.open = true")
        switch(browser, "Reads hang").click()
        until(browser, lambda: is_on(browser, "Reads hang"))
        violations = Axe().run(browser, "#inspector")["violations"]
        assert [(found["id"], [node["html"] for node in found["nodes"]]) for found in violations
                if found["impact"] in ("serious", "critical")] == []
        assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")
        inspector = find(browser, "#inspector")
        assert browser.execute_script("return arguments[0].scrollWidth <= arguments[0].clientWidth", inspector)
    finally:
        browser.quit()
