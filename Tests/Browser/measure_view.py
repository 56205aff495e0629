"""Measures how smooth the live view is: frames with a thousand devices and a thousand events a second.

    .build/browser/bin/python Tests/Browser/measure_view.py [--devices N] [--events N] [--seconds N]

It is a measurement, not a test: the figures depend on the machine. `make test-view` makes the environment.
"""
import argparse
import http.client
import json
import os
import tempfile
import time
from pathlib import Path

from conftest import View, make_browser, until

FRAMES = """
    window.frames = []; let then = performance.now();
    const frame = (now) => { frames.push(now - then); then = now; requestAnimationFrame(frame); };
    requestAnimationFrame(frame);"""


class Commands:
    """Changes of devices over one connection, at a number of events a second."""

    def __init__(self, view: View, ids: list[int]):
        self.view, self.ids, self.number = view, ids, 0
        self.connection = http.client.HTTPConnection(view.origin.removeprefix("http://"))

    def change(self) -> int:
        self.number += 1
        device = self.ids[self.number * 7 % len(self.ids)]
        body = {"proximity": ["near", "far", "immediate"][self.number % 3], "rssi": -40 - self.number % 55}
        self.connection.request("PATCH", f"/v1/devices/{device}", json.dumps(body), {
            "Authorization": f"Bearer {self.view.token}", "Content-Type": "application/json"})
        return json.loads(self.connection.getresponse().read())["sequence"]

    def run(self, rate: int, seconds: float) -> float:
        """Returns the events a second that there were."""
        first = last = self.change()
        began = time.monotonic()
        while (passed := time.monotonic() - began) < seconds:
            if last - first < rate * passed:
                last = self.change()
            else:
                time.sleep(0.001)
        return (last - first) / seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--devices", type=int, default=1000)
    parser.add_argument("--events", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        os.environ["XDG_RUNTIME_DIR"] = directory
        world = Path(directory) / "many.json"
        world.write_text(json.dumps({"devices": [
            {"name": f"Tag {number}", "rssi": -35 - number * 13 % 60, "advertising": [{"data": {}, "interval": "1 s"}]}
            for number in range(options.devices)]}))
        view = View(world)
        browser = make_browser()
        try:
            measure(view, browser, options)
        finally:
            browser.quit()
            view.stop()


def measure(view: View, browser, options):
    browser.get(view.url)
    until(browser, lambda: browser.find_element("id", "device-count").text == f"{options.devices}", seconds=60)
    ids = [device["id"] for device in view.ask("/v1/world")["devices"]]
    # The first seconds warm the page up.
    commands = Commands(view, ids)
    commands.run(options.events, 3)
    browser.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    worked = lambda: next(metric["value"] for metric in browser.execute_cdp_cmd("Performance.getMetrics", {})["metrics"] if metric["name"] == "TaskDuration")
    before = worked()
    browser.execute_script(FRAMES)
    rate = commands.run(options.events, options.seconds)
    frames = sorted(browser.execute_script("return frames"))
    at = lambda part: frames[min(len(frames) - 1, int(part * len(frames)))]
    print(f"{options.devices} devices, {rate:.0f} events/s, {os.cpu_count()} processors: {1000 * len(frames) / sum(frames):.1f} frames/s; "
          f"a frame takes {at(.5):.1f} ms, 95 of 100 at most {at(.95):.1f} ms, the longest {frames[-1]:.1f} ms; "
          f"the page computes {1000 * (worked() - before) / len(frames):.1f} ms for each")


if __name__ == "__main__":
    main()
