"""Measures how smooth the live view is: frames with a thousand devices and a thousand events a second.

    .build/browser/bin/python Tests/Browser/measure_view.py [--devices N] [--events N] [--seconds N]

The events go into the page itself, as lines of its stream, so that the server's own speed does not count. It is a measurement, not a
test: the figures depend on the machine. `make test-view` makes the environment.
"""
import argparse
import json
import os
import tempfile
from pathlib import Path

from conftest import View, make_browser, until

LINKS = 20
FRAMES = """
    window.frames = []; let then = performance.now();
    const frame = (now) => { frames.push(now - then); then = now; requestAnimationFrame(frame); };
    requestAnimationFrame(frame);"""


# Gives the page lines of events as its stream does, at a steady rate: devices that move, and packets of their links.
EVENTS = """
    const [rate, seconds, done] = arguments;
    import("/world.js").then(({ receive, world }) => {
        const devices = [...world.devices.values()], links = [...world.links.values()];
        let number = 0;
        const line = () => {
            number += 1;
            const base = { sequence: world.sequence + 1 + waiting.length, time: world.time + .001 };
            if (number % 2) {
                const device = devices[number * 7 % devices.length];
                return { ...base, kind: "device", device: { ...device, signal: -40 - number % 55 } };
            }
            const link = links[number / 2 % links.length];
            return { ...base, kind: "log", category: "att", host: link.host, device: link.device, link: link.id, isProblem: number % 500 === 0,
                direction: number % 4 ? "toDevice" : "fromDevice", operation: ["read", "write", "notify"][number % 3], text: `Packet ${number}`, value: "0648" };
        };
        let waiting = [];
        const began = performance.now();
        const timer = setInterval(async () => {
            const passed = Math.min(performance.now() - began, 1000 * seconds);
            waiting = [];
            while (number < rate * passed / 1000) waiting.push(line());
            await receive(waiting.map((event) => JSON.parse(JSON.stringify(event))));
            if (passed < 1000 * seconds) return;
            clearInterval(timer);
            done(1000 * number / (performance.now() - began));
        }, 20);
    });"""


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
    for device in view.ask("/v1/world")["devices"][:LINKS]:
        view.ask(f"/v1/devices/{device['id']}/connect", "POST", {"host": 0})
    until(browser, lambda: len(browser.find_elements("css selector", "#links .open")) > 1, seconds=60)
    browser.set_script_timeout(options.seconds + 60)
    # The first seconds warm the page up.
    browser.execute_async_script(EVENTS, options.events, 3)
    browser.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    worked = lambda: next(metric["value"] for metric in browser.execute_cdp_cmd("Performance.getMetrics", {})["metrics"] if metric["name"] == "TaskDuration")
    before = worked()
    browser.execute_script(FRAMES)
    rate = browser.execute_async_script(EVENTS, options.events, options.seconds)
    frames = sorted(browser.execute_script("return frames"))
    at = lambda part: frames[min(len(frames) - 1, int(part * len(frames)))]
    print(f"{options.devices} devices, {LINKS} links, {rate:.0f} events/s, {os.cpu_count()} processors: {1000 * len(frames) / sum(frames):.1f} frames/s; "
          f"a frame takes {at(.5):.1f} ms, 95 of 100 at most {at(.95):.1f} ms, the longest {frames[-1]:.1f} ms; "
          f"the page computes {1000 * (worked() - before) / len(frames):.1f} ms for each")


if __name__ == "__main__":
    main()
