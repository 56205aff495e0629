"""AdvertisementMonitorManager1, with monitors of right and wrong content."""
from dbus_next import Variant

from ..client import ADAPTER, Client

MANAGER = "org.bluez.AdvertisementMonitorManager1."
INTERFACE = "org.bluez.AdvertisementMonitor1"


def patterns(*entries):
    return Variant("a(yyay)", [list(entry) for entry in entries])


TYPE = {"Type": Variant("s", "or_patterns")}
# The peer's manufacturer data never begins with these.
PATTERN = {"Patterns": patterns((0, 0xFF, b"\x12\x34"))}
RIGHT = TYPE | PATTERN
CONTENTS = {
    "nothing": {},
    "a Type and a pattern": RIGHT,
    "no Type": PATTERN,
    "an unknown Type": {"Type": Variant("s", "and_patterns")} | PATTERN,
    "a Type of another type": {"Type": Variant("u", 1)} | PATTERN,
    "no pattern": TYPE | {"Patterns": patterns()},
    "Patterns of another type": TYPE | {"Patterns": Variant("as", ["x"])},
    "an empty pattern": TYPE | {"Patterns": patterns((0, 0xFF, b""))},
    "a pattern of 31 bytes": TYPE | {"Patterns": patterns((0, 0xFF, bytes(31)))},
    "a pattern of 32 bytes": TYPE | {"Patterns": patterns((0, 0xFF, bytes(32)))},
    "a pattern beyond the packet": TYPE | {"Patterns": patterns((30, 0xFF, b"\1\2"))},
    "a pattern at offset 31": TYPE | {"Patterns": patterns((31, 0xFF, b"\1"))},
    "a pattern of an unknown type": TYPE | {"Patterns": patterns((0, 0xEE, b"\1"))},
    "a right and a wrong pattern": TYPE | {"Patterns": patterns((0, 0xFF, b"\1\2"), (40, 0xFF, b"\1"))},
    "thresholds": RIGHT | {
        "RSSIHighThreshold": Variant("n", -60), "RSSILowThreshold": Variant("n", -80),
        "RSSIHighTimeout": Variant("q", 1), "RSSILowTimeout": Variant("q", 1)},
    "thresholds in the wrong order": RIGHT | {
        "RSSIHighThreshold": Variant("n", -80), "RSSILowThreshold": Variant("n", -60),
        "RSSIHighTimeout": Variant("q", 1), "RSSILowTimeout": Variant("q", 1)},
    "a threshold alone": RIGHT | {"RSSIHighThreshold": Variant("n", -60)},
    "a threshold of another type": RIGHT | {"RSSIHighThreshold": Variant("i", -60)},
    "a threshold out of range": RIGHT | {
        "RSSIHighThreshold": Variant("n", 30), "RSSILowThreshold": Variant("n", -80),
        "RSSIHighTimeout": Variant("q", 1), "RSSILowTimeout": Variant("q", 1)},
    "a timeout of 0": RIGHT | {
        "RSSIHighThreshold": Variant("n", -60), "RSSILowThreshold": Variant("n", -80),
        "RSSIHighTimeout": Variant("q", 0), "RSSILowTimeout": Variant("q", 1)},
    "a timeout of 301": RIGHT | {
        "RSSIHighThreshold": Variant("n", -60), "RSSILowThreshold": Variant("n", -80),
        "RSSIHighTimeout": Variant("q", 1), "RSSILowTimeout": Variant("q", 301)},
    "a sampling period": RIGHT | {"RSSISamplingPeriod": Variant("q", 5)},
    "a sampling period of 256": RIGHT | {"RSSISamplingPeriod": Variant("q", 256)},
    "an unknown property": RIGHT | {"Colour": Variant("s", "red")},
}


async def calls(client: Client) -> None:
    register, unregister = MANAGER + "RegisterMonitor", MANAGER + "UnregisterMonitor"
    await client.call("UnregisterMonitor without one", ADAPTER, unregister, "o", "/mon")
    await client.call("RegisterMonitor without a path", ADAPTER, register)
    await client.call("RegisterMonitor without objects", ADAPTER, register, "o", "/mon")
    await client.call("RegisterMonitor again", ADAPTER, register, "o", "/mon")
    await client.call("RegisterMonitor below a registered root", ADAPTER, register, "o", "/mon/x")
    async with await client.another() as other:
        await other.call("UnregisterMonitor of another program's", ADAPTER, unregister, "o", "/mon")
    await client.call("UnregisterMonitor", ADAPTER, unregister, "o", "/mon")
    await client.call("UnregisterMonitor again", ADAPTER, unregister, "o", "/mon")
    await client.send(ADAPTER, unregister, "o", "/mon/x")
    for number, (title, content) in enumerate(CONTENTS.items()):
        root = f"/mon{number}"
        client.objects = {root + "/m": {INTERFACE: content}}
        if (await client.send(ADAPTER, register, "o", root)).error_name:
            client.log.add("a monitor with " + title, ["is not registered"])
            continue
        client.log.add("a monitor with " + title, await client.called_at(root + "/m") or ["is not called"])
        await client.do(ADAPTER, unregister, "o", root)
        if title in ("a Type and a pattern", "nothing"):
            client.log.add(f"a monitor with {title}, unregistered", await client.called_at(root + "/m", 2))
