"""The page of a served world, in a real browser."""
import re
import time

import pytest
from axe_core_python.selenium import Axe
from conftest import MARKUP, make_browser, make_screen, until
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions import interaction
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.actions.pointer_input import PointerInput
from selenium.webdriver.common.by import By
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select


def find(browser, selector):
    return browser.find_element(By.CSS_SELECTOR, selector)


def option(browser, name):
    """A device in the list."""
    return find(browser, f'.device[aria-label^="{name},"]')


def click_option(browser, name):
    until(browser, lambda: option(browser, name).click() is None)


def button(browser, text):
    return browser.find_element(By.XPATH, f"//button[text()='{text}']")


def on_map(browser, name):
    """Where a device is on the screen, once it rests there; alone, not in a cluster."""
    return browser.execute_async_script("""
        const [name, done] = arguments;
        Promise.all(["/scene.js", "/camera.js"].map((path) => import(path))).then(([scene, camera]) => {
            const look = () => {
                const node = [...scene.nodes.values()].find((node) => node.device.name === name);
                if (!node || node.cluster || node.x !== node.goalX || node.y !== node.goalY) return requestAnimationFrame(look);
                const { x, y } = document.querySelector("#map").getBoundingClientRect();
                const place = camera.toScreen(node);
                done([Math.round(x + place.x), Math.round(y + place.y)]);
            };
            look();
        });""", name)


def on_ring(browser, strength):
    """A point of the screen at a signal strength, or out of range."""
    return browser.execute_async_script("""
        const [strength, done] = arguments;
        Promise.all(["/strength.js", "/camera.js"].map((path) => import(path))).then(([{ radiusOf }, camera]) => {
            const { x, y } = document.querySelector("#map").getBoundingClientRect();
            const place = camera.toScreen({ x: radiusOf(strength) * Math.cos(.4), y: radiusOf(strength) * Math.sin(.4) });
            done([Math.round(x + place.x), Math.round(y + place.y)]);
        });""", strength)


def drag(browser, begin, end, kind=interaction.POINTER_MOUSE):
    pointer = ActionBuilder(browser, mouse=PointerInput(kind, kind))
    pointer.pointer_action.move_to_location(*begin).pointer_down()
    pointer.pointer_action.move_to_location((begin[0] + end[0]) // 2, (begin[1] + end[1]) // 2)
    pointer.pointer_action.move_to_location(*end).pointer_up()
    pointer.perform()


def click(browser, point):
    pointer = ActionBuilder(browser)
    pointer.pointer_action.move_to_location(*point).click()
    pointer.perform()


def lines(browser):
    return browser.execute_script("return [...document.querySelectorAll('#log-lines li')].map((line) => line.textContent)")


def change_signal(view, name, rssi):
    view.ask(f"/v1/devices/{view.device(name)['id']}", "PATCH", {"rssi": rssi})


def test_the_page_loads_without_a_message_in_the_console(view, browser):
    assert find(browser, "#file").text == "lamp.json"
    assert find(browser, "#connection").text == "Live"
    assert browser.get_log("browser") == []


def test_the_token_leaves_the_address_bar(view, browser):
    assert browser.current_url == view.origin + "/"


def test_without_the_token_the_page_says_how_to_open_it(view, browser):
    browser.switch_to.new_window("tab")
    browser.get(view.origin + "/")
    until(browser, lambda: "the address that bluectl printed" in find(browser, "#offline").text)
    assert browser.find_elements(By.CSS_SELECTOR, ".device") == []


@pytest.mark.parametrize(("strength", "proximity", "signal"), [(-100, "far", -100), (-85, "near", -85), (None, "outOfRange", None)])
def test_a_device_is_dragged_away(view, browser, strength, proximity, signal):
    drag(browser, on_map(browser, "Lamp"), on_ring(browser, strength))
    until(browser, lambda: view.device("Lamp")["proximity"] == proximity)
    heard = view.device("Lamp").get("signal")
    assert heard is None if signal is None else abs(heard - signal) <= 2
    until(browser, lambda: ("not heard" if signal is None else f"{heard} dBm") in option(browser, "Lamp").get_attribute("aria-label"))


def test_a_dragged_device_keeps_its_angle_after_a_reload(view, browser):
    to = on_ring(browser, -70)
    drag(browser, on_map(browser, "Lamp"), to)
    until(browser, lambda: view.device("Lamp")["proximity"] == "near")
    browser.refresh()
    until(browser, lambda: len(browser.find_elements(By.CSS_SELECTOR, ".device")) == 3)
    place = on_map(browser, "Lamp")
    assert abs(place[0] - to[0]) <= 6 and abs(place[1] - to[1]) <= 6, (place, to)


def test_the_keys_choose_and_move_a_device_on_the_map_and_in_the_list(view, browser):
    surface = find(browser, "#map")
    surface.send_keys(Keys.ARROW_DOWN)
    until(browser, lambda: find(browser, "#map-status").text)
    name = find(browser, "#map-status").text.split(",")[0]
    surface.send_keys(Keys.ENTER)
    until(browser, lambda: find(browser, '[aria-selected="true"]').get_attribute("aria-label").startswith(name + ","))
    surface.send_keys(Keys.SHIFT, Keys.ARROW_DOWN)
    farther = {"immediate": "near", "near": "far", "far": "outOfRange"}
    before = {"Heart": "near", "Lamp": "immediate", MARKUP: "far"}
    until(browser, lambda: view.device(name)["proximity"] == farther[before[name]])
    surface.send_keys(Keys.SHIFT, Keys.ARROW_UP)
    until(browser, lambda: view.device(name)["proximity"] == before[name])
    devices = find(browser, "#devices")
    devices.send_keys(Keys.HOME, Keys.ENTER)
    until(browser, lambda: find(browser, '#devices [aria-selected="true"]').get_attribute("aria-label").startswith("Heart,"))
    devices.send_keys(Keys.SHIFT, Keys.ARROW_DOWN)
    until(browser, lambda: view.device("Heart")["proximity"] == "far")
    until(browser, lambda: "Heart, Far" in find(browser, '#devices [aria-selected="true"]').get_attribute("aria-label"))
    devices.send_keys(Keys.SHIFT, Keys.ARROW_UP)
    until(browser, lambda: view.device("Heart")["proximity"] == "near")


def test_markup_in_a_name_is_text(view, browser):
    row = f"#device-{view.device(MARKUP)['id']}"
    until(browser, lambda: MARKUP in find(browser, row).text)
    until(browser, lambda: find(browser, row).click() is None)
    until(browser, lambda: MARKUP in [node.get_property("value") for node in browser.find_elements(By.CSS_SELECTOR, "#device input")])
    change_signal(view, MARKUP, -60)
    until(browser, lambda: any("<img" in line for line in lines(browser)))
    assert browser.find_elements(By.CSS_SELECTOR, "img") == []
    assert browser.title == "lamp.json – bluectl"


def test_the_log_is_filtered(view, browser):
    for name in ["Heart", "Lamp"]:
        change_signal(view, name, -60)
    until(browser, lambda: len(lines(browser)) >= 2)
    find(browser, "#filter").send_keys("lamp")
    until(browser, lambda: lines(browser) and all("Lamp" in line for line in lines(browser)))
    find(browser, "#filter").send_keys(Keys.CONTROL, "a", Keys.BACKSPACE)
    until(browser, lambda: any("Heart" in line for line in lines(browser)))
    Select(find(browser, "#category")).select_by_value("att")
    until(browser, lambda: lines(browser) == [])
    view.ask(f"/v1/devices/{view.device('Heart')['id']}/connect", "POST", {"host": 0})
    until(browser, lambda: lines(browser) and all("1800/2A00" in line for line in lines(browser)))


def test_a_capture_is_switched_on_and_off(view, browser):
    find(browser, "#capture").click()
    until(browser, lambda: view.ask("/v1/world")["capture"]["isRunning"])
    until(browser, lambda: find(browser, "#capture").get_attribute("aria-pressed") == "true")
    find(browser, "#capture").click()
    until(browser, lambda: not view.ask("/v1/world")["capture"]["isRunning"])


def test_time_is_paused_stepped_and_accelerated(view, browser):
    button(browser, "Pause").click()
    until(browser, lambda: button(browser, "Resume"))
    before = view.ask("/v1/world")["time"]
    button(browser, "Step 1 s").click()
    until(browser, lambda: round(view.ask("/v1/world")["time"] - before, 6) == 1)
    Select(find(browser, "#rate")).select_by_visible_text("10")
    until(browser, lambda: view.ask("/v1/world")["clock"]["rate"] == 10)


def test_an_ended_server_is_said_and_a_new_one_is_not_trusted(view, browser):
    view.stop()
    until(browser, lambda: find(browser, "#connection").text == "The server has ended")
    assert "start bluectl again" in find(browser, "#offline").text
    # What the page knew is still there.
    assert len(browser.find_elements(By.CSS_SELECTOR, ".device")) == 3
    view.start("--port", view.port)
    # The new one has another token, which the page does not have.
    until(browser, lambda: "token" in find(browser, "#offline").text)
    browser.get("about:blank")
    browser.get(view.url)
    until(browser, lambda: find(browser, "#connection").text == "Live")


# The page's stream of events ends on request, and no new one begins while it is blocked.
BREAKABLE = """
    const real = window.fetch;
    window.blocked = false;
    window.fetch = (path, options) => {
        if (!`${path}`.startsWith("/v1/events")) return real(path, options);
        if (window.blocked) return Promise.reject(new TypeError("blocked"));
        const controller = new AbortController();
        window.breakStream = () => controller.abort();
        return real(path, { ...options, signal: controller.signal });
    };"""


def break_stream(view, browser):
    """Opens the page anew, lets it receive an event with -51 dBm, and ends its stream."""
    browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": BREAKABLE})
    browser.get("about:blank")
    browser.get(view.url)
    until(browser, lambda: find(browser, "#connection").text == "Live")
    change_signal(view, "Lamp", -51)
    until(browser, lambda: any("-51" in line for line in lines(browser)))
    browser.execute_script("blocked = true; breakStream()")
    until(browser, lambda: find(browser, "#connection").text.startswith("Not connected"))


def changes(view, ids, count):
    """Changes devices in turn until there are `count` more events; yields the number of the last one after each command.

    A command makes events for its control and for the device that has changed.
    """
    number = 0
    first = sequence = view.ask("/v1/world")["sequence"]
    while sequence < first + count:
        number += 1
        change = {"rssi": -40 - number % 50, "advertising": number % 2 == 0, "proximity": ["near", "far"][number % 2]}
        sequence = view.ask(f"/v1/devices/{ids[number % len(ids)]}", "PATCH", change)["sequence"]
        yield sequence


def test_a_stream_that_breaks_goes_on_where_it_was(view, browser):
    break_stream(view, browser)
    change_signal(view, "Lamp", -52)
    browser.execute_script("blocked = false")
    until(browser, lambda: find(browser, "#connection").text == "Live")
    change_signal(view, "Lamp", -53)
    until(browser, lambda: any("-53" in line for line in lines(browser)))
    for signal in ["-51", "-52", "-53"]:
        assert sum(signal in line for line in lines(browser)) == 1, lines(browser)
    until(browser, lambda: "-53 dBm" in option(browser, "Lamp").get_attribute("aria-label"))


def test_the_events_that_the_server_no_longer_has_are_said_to_be_skipped(view, browser):
    break_stream(view, browser)
    # More than the 10,000 that the server keeps.
    *_, sequence = changes(view, [view.device("Heart")["id"]], 10_500)
    browser.execute_script("blocked = false")
    find(browser, "#filter").send_keys("events were skipped")
    until(browser, lambda: len(lines(browser)) == 1)
    skipped = int(re.search(r"(\d+) events were skipped", lines(browser)[0])[1])
    assert 500 <= skipped <= sequence - 10_000
    # The page shows the present, and goes on.
    until(browser, lambda: int(find(browser, "#log").get_attribute("data-sequence")) >= sequence)
    change_signal(view, "Lamp", -77)
    until(browser, lambda: "-77 dBm" in option(browser, "Lamp").get_attribute("aria-label"))


def test_a_device_is_dragged_by_touch(view, browser):
    browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    drag(browser, on_map(browser, "Lamp"), on_ring(browser, None), interaction.POINTER_TOUCH)
    until(browser, lambda: view.device("Lamp")["proximity"] == "outOfRange")


@pytest.mark.parametrize(("choice", "name", "contents"), [
    ("World file", "world.json", '"preset" : "instant"'),
    ("Swift test", "ByHandTests.swift", "@Test"),
    ("Report", "trace.html", "<!doctype html>"),
    ("Trace as text", "trace.txt", "rssi"),
    ("Trace as JSON lines", "trace.jsonl", '{"'),
    ("Sequence diagram", "trace.mmd", "sequenceDiagram"),
    ("Perfetto trace", "trace.json", "traceEvents"),
    ("Packet capture", "capture.pcapng", ""),
])
def test_what_is_saved_is_downloaded(view, browser, tmp_path, choice, name, contents):
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    find(browser, "#capture").click()
    until(browser, lambda: view.ask("/v1/world")["capture"]["isRunning"])
    change_signal(view, "Lamp", -51)
    find(browser, "#save").click()
    browser.find_element(By.XPATH, f"//*[@id='save-menu']//button[b='{choice}']").click()
    file = tmp_path / name
    until(browser, lambda: file.exists() or find(browser, "#error").text)
    assert file.exists(), (find(browser, "#error").text, list(tmp_path.iterdir()))
    assert contents in file.read_bytes().decode("latin-1")
    if choice == "Packet capture":
        assert file.read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"


def test_a_thousand_events_a_second_of_two_hundred_devices_are_shown_in_time(view, browser):
    for number in range(200):
        view.ask("/v1/devices", "POST", {"name": f"Tag {number}", "advertising": [{"data": {}}]})
    ids = [device["id"] for device in view.ask("/v1/world")["devices"]]
    until(browser, lambda: find(browser, "#device-count").text == "203")
    browser.execute_script("""
        window.longest = 0; let then = performance.now();
        const frame = (now) => { longest = Math.max(longest, now - then); then = now; requestAnimationFrame(frame); };
        requestAnimationFrame(frame);""")
    shown = lambda: int(find(browser, "#log").get_attribute("data-sequence"))
    first = view.ask("/v1/world")["sequence"]
    began = time.monotonic()
    longest_lag = 0
    for number, sequence in enumerate(changes(view, ids, 5000)):
        if number % 100 == 99:
            longest_lag = max(longest_lag, sequence - shown())
    rate = (sequence - first) / (time.monotonic() - began)
    until(browser, lambda: shown() >= sequence, seconds=5)
    longest_frame = browser.execute_script("return longest")
    print(f"{rate:.0f} events/s, lag of {longest_lag} events at most, longest frame {longest_frame:.0f} ms")
    assert longest_lag < 2000
    assert longest_frame < 1000


def test_a_narrow_window_does_not_scroll_sideways(view):
    for is_dark in [False, True]:
        browser = make_browser(500, 1200, is_dark)
        try:
            browser.set_window_size(360, 1200)
            browser.get(view.url)
            until(browser, lambda: len(browser.find_elements(By.CSS_SELECTOR, ".device")) == 3)
            click_option(browser, "Heart")
            until(browser, lambda: "Heart Rate" in find(browser, "#device").text)
            widths = browser.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
            assert widths[0] <= widths[1]
            background = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
            assert (background == "rgb(13, 16, 20)") == is_dark
        finally:
            browser.quit()


# ---- The map, the list and the search


def add_tags(view, browser, count):
    for number in range(count):
        view.ask("/v1/devices", "POST", {"name": f"Tag {number}", "advertising": [{"data": {}}]})
    until(browser, lambda: find(browser, "#device-count").text == f"{count + 3}")


def test_a_link_breaks_when_its_device_is_dragged_out_of_range_and_returns_with_it(view, browser):
    view.ask(f"/v1/devices/{view.device('Lamp')['id']}/connect", "POST", {"host": 0})
    until(browser, lambda: "Lamp" in find(browser, "#links .open").text)
    drag(browser, on_map(browser, "Lamp"), on_ring(browser, None))
    until(browser, lambda: view.device("Lamp")["proximity"] == "outOfRange")
    view.ask("/v1/time", "POST", {"step": 60})
    until(browser, lambda: "Lamp" in find(browser, "#links .closed").text)
    until(browser, lambda: "Lamp" in find(browser, "#problem-text").text)
    drag(browser, on_map(browser, "Lamp"), on_ring(browser, -70))
    until(browser, lambda: view.device("Lamp")["proximity"] == "near")
    view.ask(f"/v1/devices/{view.device('Lamp')['id']}/connect", "POST", {"host": 0})
    view.ask("/v1/time", "POST", {"step": 10})
    until(browser, lambda: "Lamp" in find(browser, "#links .open").text)
    until(browser, lambda: "connected" in option(browser, "Lamp").get_attribute("aria-label"))


def test_a_crowd_becomes_clusters_and_the_list_has_all(view, browser):
    add_tags(view, browser, 300)
    state = lambda: browser.execute_async_script("""
        const done = arguments[0];
        import("/scene.js").then(({ nodes, clusters }) => done([nodes.size, clusters.length, clusters.reduce((sum, { members }) => sum + members.length, 0),
            [...nodes.values()].filter((node) => node.cluster).length, [...nodes.values()].filter((node) => node.label).length]));""")
    until(browser, lambda: state()[0] == 303 and state()[1] > 5)
    devices, _, members, inside, labels = state()
    assert members == inside <= devices
    assert labels <= 70
    assert find(browser, "#devices [role=option]").get_attribute("aria-setsize") == "303"
    assert len(browser.find_elements(By.CSS_SELECTOR, "#devices [role=option]")) < 40
    find(browser, "#devices").send_keys(Keys.END, Keys.ENTER)
    until(browser, lambda: find(browser, "#devices [aria-selected=true]").get_attribute("aria-posinset") == "303")
    # The chosen device stands alone, in sight.
    x, y = on_map(browser, "Tag 299")
    box = find(browser, "#map").rect
    assert box["x"] < x < box["x"] + box["width"] and box["y"] < y < box["y"] + box["height"]


def test_the_search_finds_and_the_first_is_opened(view, browser):
    add_tags(view, browser, 40)
    find(browser, "#search").send_keys("tag 3")
    until(browser, lambda: find(browser, "#device-count").text == "11 of 43")
    find(browser, "#search").send_keys("7", Keys.ENTER)
    until(browser, lambda: find(browser, "#devices [aria-selected=true]").get_attribute("aria-label").startswith("Tag 37,"))
    find(browser, "#search").send_keys("nothing")
    until(browser, lambda: find(browser, "#no-match").is_displayed())
    find(browser, "#clear-search").click()
    until(browser, lambda: find(browser, "#device-count").text == "43")


def test_a_device_that_is_clicked_on_the_map_or_in_the_list_is_chosen(view, browser):
    chosen = lambda: find(browser, "#devices [aria-selected=true]").get_attribute("aria-label")
    click(browser, on_map(browser, "Lamp"))
    until(browser, lambda: chosen().startswith("Lamp,"))
    click_option(browser, "Heart")
    until(browser, lambda: chosen().startswith("Heart,"))


def test_the_wheel_and_the_keys_zoom(view, browser):
    zoom = lambda: browser.execute_async_script("const done = arguments[0]; import('/camera.js').then(({ camera }) => done(camera.zoom))")
    find(browser, "#map").send_keys("+")
    until(browser, lambda: zoom() > 1.3)
    find(browser, "#map").send_keys("0")
    until(browser, lambda: zoom() == 1)
    ActionChains(browser).scroll_from_origin(ScrollOrigin.from_element(find(browser, "#map")), 0, -300).perform()
    until(browser, lambda: zoom() > 1.2)
    find(browser, "#zoom-fit").click()
    until(browser, lambda: zoom() == 1)


def test_with_reduced_motion_nothing_moves(view, browser):
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]})
    progress = browser.execute_async_script("""
        const done = arguments[0];
        import("/effects.js").then(({ progress }) => done([0, 100, 700].map((then) => progress({ begin: 0 }, then))));""")
    assert progress == [.5, .5, .5]


def test_removing_the_chosen_device_is_no_error(view, browser):
    click(browser, on_map(browser, "Heart"))
    until(browser, lambda: find(browser, "#devices [aria-selected=true]"))
    view.ask(f"/v1/devices/{view.device('Heart')['id']}", "DELETE")
    until(browser, lambda: find(browser, "#device-count").text == "2")
    until(browser, lambda: browser.find_elements(By.CSS_SELECTOR, "#devices [aria-selected=true]") == [])
    assert not find(browser, "#error").is_displayed()
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


# ---- The time strip and the past


def connect(view, browser, name):
    view.ask(f"/v1/devices/{view.device(name)['id']}/connect", "POST", {"host": 0})
    until(browser, lambda: any("1800/2A00" in line for line in lines(browser)))


def test_a_packet_of_the_strip_shows_its_line(view, browser):
    connect(view, browser, "Heart")
    # Its answer is the last packet, and its request the one before.
    find(browser, "#strip").send_keys(Keys.ARROW_LEFT)
    until(browser, lambda: "←" in find(browser, "#log [aria-selected=true]").text)
    find(browser, "#strip").send_keys(Keys.ARROW_LEFT)
    until(browser, lambda: "→" in find(browser, "#log [aria-selected=true]").text)


def test_the_past_is_viewed_and_the_present_again(view, browser):
    change_signal(view, "Lamp", -51)
    view.ask("/v1/time", "POST", {"step": 5})
    connect(view, browser, "Lamp")
    change_signal(view, "Lamp", -77)
    label = lambda: option(browser, "Lamp").get_attribute("aria-label")
    until(browser, lambda: "-77 dBm, connected" in label())
    # The first lines of the log are of -51 dBm, before the link.
    browser.execute_script("document.querySelector('#log').scrollTop = 0")
    until(browser, lambda: any("-51" in line for line in lines(browser)))
    next(line for line in browser.find_elements(By.CSS_SELECTOR, "#log-lines li") if "-51" in line.text).click()
    find(browser, "#view-line").click()
    until(browser, lambda: find(browser, "#past-text").text.startswith("Viewing"))
    until(browser, lambda: "connected" not in label() and "-77" not in label())
    find(browser, "#past-next").click()
    find(browser, "#past-now").click()
    until(browser, lambda: not find(browser, "#past").is_displayed())
    until(browser, lambda: "-77 dBm, connected" in label())


def test_the_past_goes_on_until_the_present(view, browser):
    change_signal(view, "Lamp", -51)
    until(browser, lambda: any("-51" in line for line in lines(browser)))
    find(browser, "#log").send_keys(Keys.ARROW_UP, Keys.ENTER)
    until(browser, lambda: find(browser, "#past").is_displayed())
    view.ask("/v1/time", "POST", {"rate": 10})
    view.ask("/v1/time", "POST", {"paused": True})
    find(browser, "#past-play").click()
    until(browser, lambda: not find(browser, "#past").is_displayed())
    until(browser, lambda: find(browser, "#connection").text == "Paused")


# ---- What went wrong, what to do next, what is kept


def test_the_last_problem_leads_to_its_line(view, browser):
    assert find(browser, "#problem-text").text == "No problem so far"
    connect(view, browser, "Heart")
    view.ask(f"/v1/devices/{view.device('Heart')['id']}/disconnect", "POST", {"silent": True})
    view.ask("/v1/time", "POST", {"step": 60})
    until(browser, lambda: "default – Heart" in find(browser, "#problem-text").text)
    Select(find(browser, "#category")).select_by_value("att")
    find(browser, "#show-problem").click()
    until(browser, lambda: "problem" in find(browser, "#log [aria-selected=true]").get_attribute("class"))
    # The filter would have hidden it.
    assert find(browser, "#category").get_property("value") == ""


def test_a_reload_keeps_the_choice_the_filter_and_the_zoom(view, browser):
    click(browser, on_map(browser, "Heart"))
    find(browser, "#filter").send_keys("lamp")
    find(browser, "#map").send_keys("++")
    until(browser, lambda: browser.execute_script("return sessionStorage.camera").count("1.9") > 0)
    browser.refresh()
    until(browser, lambda: find(browser, "#connection").text == "Live")
    assert browser.current_url == view.origin + "/"
    until(browser, lambda: find(browser, "#devices [aria-selected=true]").get_attribute("aria-label").startswith("Heart,"))
    assert find(browser, "#filter").get_property("value") == "lamp"
    zoom = browser.execute_async_script("const done = arguments[0]; import('/camera.js').then(({ camera }) => done(camera.zoom))")
    assert round(zoom, 2) == 1.96


def test_empty_parts_say_what_to_do(view, browser):
    browser.execute_cdp_cmd("Browser.grantPermissions", {"origin": view.origin, "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
    commands = [node.text for node in browser.find_elements(By.CSS_SELECTOR, "#guide-view code")]
    assert commands == [f"bluectl world run {view.world} --view -- python3 my_bleak_app.py", f"bluectl world run {view.world} --view -- bluectl scan"]
    copy = find(browser, "#guide-view .copy")
    copy.click()
    until(browser, lambda: copy.text == "Copied")
    assert browser.execute_async_script("navigator.clipboard.readText().then(arguments[0])") == commands[0]
    find(browser, "#filter").send_keys("nothing")
    assert find(browser, "#no-lines").is_displayed()
    for name in ["Heart", "Lamp", MARKUP]:
        view.ask(f"/v1/devices/{view.device(name)['id']}", "DELETE")
    until(browser, lambda: find(browser, "#no-devices").is_displayed())
    until(browser, lambda: find(browser, "#no-filtered").is_displayed())
    find(browser, "#clear-filter").click()
    until(browser, lambda: any("Heart" in line for line in lines(browser)))


@pytest.mark.parametrize(("width", "is_dark"), [(1280, False), (1280, True), (390, False), (390, True)])
def test_nothing_is_hard_to_reach_or_to_read(view, width, is_dark):
    browser, _ = make_screen(width, is_dark)
    try:
        browser.get(view.url)
        until(browser, lambda: len(browser.find_elements(By.CSS_SELECTOR, ".device")) == 3)
        check_access(browser)
        browser.execute_script("document.querySelector('.device').click()")
        until(browser, lambda: "Heart Rate" in find(browser, "#device").text)
        connect(view, browser, "Heart")
        view.ask(f"/v1/devices/{view.device('Heart')['id']}/disconnect", "POST", {"silent": True})
        view.ask("/v1/time", "POST", {"step": 60})
        until(browser, lambda: "Heart" in find(browser, "#problem-text").text)
        find(browser, "#log").send_keys(Keys.ARROW_UP, Keys.ENTER)
        until(browser, lambda: find(browser, "#past").is_displayed())
        check_access(browser)
        assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth"), "scrolls sideways"
        assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
    finally:
        browser.quit()


def check_access(browser):
    violations = Axe().run(browser)["violations"]
    serious = [(item["id"], [node["html"][:150] for node in item["nodes"]]) for item in violations if item["impact"] in ("serious", "critical")]
    assert serious == []
