"""Adapter1 and its Properties."""
from dbus_next import Variant

from ..client import ADAPTER, PEER, ROOT, Client

NAME = "org.bluez.Adapter1"
PROPERTIES = "org.freedesktop.DBus.Properties."


async def calls(client: Client) -> None:
    await methods(client)
    await properties(client)
    await filters(client)
    await discovery(client)


async def methods(client: Client) -> None:
    await client.call("an unknown method of a known interface", ADAPTER, NAME + ".Explode")
    await client.call("an unknown interface", ADAPTER, "org.bluez.Nothing1.StartDiscovery")
    await client.call("an interface of another object", ADAPTER, "org.bluez.Device1.Connect")
    await client.call("a method without an interface", ADAPTER, "GetDiscoveryFilters")
    await client.call("an unknown method without an interface", ADAPTER, "Explode")
    await client.call("a method of an unknown path", ADAPTER + "/x", NAME + ".StartDiscovery")
    await client.call("a method of the path between", "/org", NAME + ".StartDiscovery")
    await client.call("a method of an unknown adapter", ROOT + "/hci7", NAME + ".StartDiscovery")
    await client.call("too many arguments", ADAPTER, NAME + ".StartDiscovery", "s", "x")
    await client.call("too few arguments", ADAPTER, NAME + ".SetDiscoveryFilter")
    await client.call("an argument of another type", ADAPTER, NAME + ".RemoveDevice", "s", PEER)
    await client.call("a dictionary of another type", ADAPTER, NAME + ".SetDiscoveryFilter", "a{ss}", {})
    await client.call("GetDiscoveryFilters", ADAPTER, NAME + ".GetDiscoveryFilters")
    await client.call("RemoveDevice of an unknown device", ADAPTER, NAME + ".RemoveDevice", "o", ADAPTER + "/dev_00_00_00_00_00_01")
    await client.call("RemoveDevice of the adapter", ADAPTER, NAME + ".RemoveDevice", "o", ADAPTER)
    await client.call("RemoveDevice of the root", ADAPTER, NAME + ".RemoveDevice", "o", "/")
    await client.call("ConnectDevice, which is experimental", ADAPTER, NAME + ".ConnectDevice", "a{sv}", {"Address": Variant("s", "F0:F1:F2:F3:F4:F6")})
    await client.call("Ping", ADAPTER, "org.freedesktop.DBus.Peer.Ping")
    await client.call("Ping of an unknown path", "/x", "org.freedesktop.DBus.Peer.Ping")


async def properties(client: Client) -> None:
    async def get(title, *names):
        await client.call(title, ADAPTER, PROPERTIES + "Get", "ss", *names)

    async def put(title, name, value, interface=NAME):
        await client.call(title, ADAPTER, PROPERTIES + "Set", "ssv", interface, name, value)

    await get("Get of a property", NAME, "Powered")
    await get("Get of an unknown property", NAME, "Speed")
    await get("Get of an unknown interface", "org.bluez.Nothing1", "Powered")
    await get("Get without an interface", "", "Powered")
    await get("Get of an interface of another object", "org.bluez.Device1", "Connected")
    await get("Get of a standard interface", "org.freedesktop.DBus.Introspectable", "X")
    await client.call("Get without a name", ADAPTER, PROPERTIES + "Get", "s", NAME)
    await client.call("Get at the root", "/", PROPERTIES + "Get", "ss", NAME, "Powered")
    await client.call("Get at /org", "/org", PROPERTIES + "Get", "ss", NAME, "Powered")
    await client.call("Get at an unknown path", ADAPTER + "/x", PROPERTIES + "Get", "ss", NAME, "Powered")
    await client.call("GetAll of an unknown interface", ADAPTER, PROPERTIES + "GetAll", "s", "org.bluez.Nothing1")
    await client.call("GetAll without an interface", ADAPTER, PROPERTIES + "GetAll", "s", "")
    await client.call("GetAll of a standard interface", ADAPTER, PROPERTIES + "GetAll", "s", "org.freedesktop.DBus.Properties")
    await client.call("GetAll of a manager without properties", ADAPTER, PROPERTIES + "GetAll", "s", "org.bluez.GattManager1")
    await client.call("GetAll of /org/bluez", ROOT, PROPERTIES + "GetAll", "s", "org.bluez.AgentManager1")
    await client.call("GetAll of the adapter", ADAPTER, PROPERTIES + "GetAll", "s", NAME)
    await put("Set of an unknown property", "Speed", Variant("u", 1))
    await put("Set of an unknown interface", "Powered", Variant("b", True), "org.bluez.Nothing1")
    await put("Set without an interface", "Powered", Variant("b", True), "")
    await put("Set of a read-only property", "Address", Variant("s", "x"))
    await put("Set of a read-only property with another type", "Discovering", Variant("s", "x"))
    await put("Set with another type", "Powered", Variant("s", "true"))
    await put("Set of a number with another type", "DiscoverableTimeout", Variant("i", 1))
    await put("Set with a variant in a variant", "Powered", Variant("v", Variant("b", True)))
    await client.call("Set without a variant", ADAPTER, PROPERTIES + "Set", "sss", NAME, "Alias", "x")
    await put("Set Powered to what it is", "Powered", Variant("b", True))
    await put("Set Alias", "Alias", Variant("s", "Changed"))
    await get("Get of the changed alias", NAME, "Alias")
    await put("Set Alias to nothing", "Alias", Variant("s", ""))
    await get("Get of the alias that was reset", NAME, "Alias")
    await put("Set Pairable to false", "Pairable", Variant("b", False))
    await get("Get of Pairable", NAME, "Pairable")
    await put("Set Pairable to true", "Pairable", Variant("b", True))
    await put("Set PairableTimeout", "PairableTimeout", Variant("u", 5))
    await get("Get of PairableTimeout", NAME, "PairableTimeout")
    await put("Set PairableTimeout to none", "PairableTimeout", Variant("u", 0))
    await put("Set Discoverable to true", "Discoverable", Variant("b", True))
    await get("Get of Discoverable", NAME, "Discoverable")
    await put("Set DiscoverableTimeout", "DiscoverableTimeout", Variant("u", 60))
    await get("Get of DiscoverableTimeout", NAME, "DiscoverableTimeout")
    await put("Set DiscoverableTimeout back", "DiscoverableTimeout", Variant("u", 180))
    await put("Set Discoverable to false", "Discoverable", Variant("b", False))
    await put("Set Connectable", "Connectable", Variant("b", True))


FILTERS = {
    "an unknown key": {"Colour": Variant("s", "red")},
    "a key in another letter case": {"rssi": Variant("n", -90)},
    "RSSI of another type": {"RSSI": Variant("i", -90)},
    "RSSI out of range": {"RSSI": Variant("n", 21)},
    "RSSI of -127": {"RSSI": Variant("n", -127)},
    "RSSI of -128": {"RSSI": Variant("n", -128)},
    "Pathloss": {"Pathloss": Variant("q", 40)},
    "Pathloss of another type": {"Pathloss": Variant("n", 40)},
    "Pathloss out of range": {"Pathloss": Variant("q", 138)},
    "RSSI and Pathloss": {"RSSI": Variant("n", -90), "Pathloss": Variant("q", 40)},
    "an unknown Transport": {"Transport": Variant("s", "mesh")},
    "Transport of another type": {"Transport": Variant("u", 1)},
    "Transport bredr": {"Transport": Variant("s", "bredr")},
    "Transport le": {"Transport": Variant("s", "le")},
    "Transport auto": {"Transport": Variant("s", "auto")},
    "Transport in capitals": {"Transport": Variant("s", "LE")},
    "a UUID that is none": {"UUIDs": Variant("as", ["heart"])},
    "an empty UUID": {"UUIDs": Variant("as", [""])},
    "short UUIDs": {"UUIDs": Variant("as", ["180d", "0x180F"])},
    "no UUIDs": {"UUIDs": Variant("as", [])},
    "UUIDs of another type": {"UUIDs": Variant("s", "180d")},
    "UUIDs as bytes": {"UUIDs": Variant("ay", b"\x18\x0d")},
    "DuplicateData of another type": {"DuplicateData": Variant("u", 1)},
    "Discoverable of another type": {"Discoverable": Variant("s", "yes")},
    "Discoverable": {"Discoverable": Variant("b", True)},
    "Pattern of another type": {"Pattern": Variant("ay", b"F0")},
    "Pattern": {"Pattern": Variant("s", "F0")},
    "an empty Pattern": {"Pattern": Variant("s", "")},
}


async def filters(client: Client) -> None:
    for title, content in FILTERS.items():
        await client.call("SetDiscoveryFilter with " + title, ADAPTER, NAME + ".SetDiscoveryFilter", "a{sv}", content)
    await client.call("SetDiscoveryFilter with nothing", ADAPTER, NAME + ".SetDiscoveryFilter", "a{sv}", {})
    await client.call("SetDiscoveryFilter with nothing, again", ADAPTER, NAME + ".SetDiscoveryFilter", "a{sv}", {})


async def discovery(client: Client) -> None:
    await client.call("StopDiscovery without a discovery", ADAPTER, NAME + ".StopDiscovery")
    await client.together("two StartDiscovery at once", (ADAPTER, NAME + ".StartDiscovery"), (ADAPTER, NAME + ".StartDiscovery"))
    await client.until(ADAPTER, NAME, "Discovering", True)
    await client.call("a second StartDiscovery", ADAPTER, NAME + ".StartDiscovery")
    await client.call("SetDiscoveryFilter during a discovery", ADAPTER, NAME + ".SetDiscoveryFilter", "a{sv}", {"Transport": Variant("s", "le")})
    await client.call("a wrong SetDiscoveryFilter during a discovery", ADAPTER, NAME + ".SetDiscoveryFilter", "a{sv}", {"RSSI": Variant("s", "")})
    async with await client.another() as other:
        await other.call("StopDiscovery of another program's discovery", ADAPTER, NAME + ".StopDiscovery")
        await other.call("StartDiscovery beside another program's", ADAPTER, NAME + ".StartDiscovery")
        await other.call("StopDiscovery beside another program's", ADAPTER, NAME + ".StopDiscovery")
    await client.call("Get of Discovering", ADAPTER, PROPERTIES + "Get", "ss", NAME, "Discovering")
    await client.call("StopDiscovery", ADAPTER, NAME + ".StopDiscovery")
    await client.until(ADAPTER, NAME, "Discovering", False)
    await client.call("a second StopDiscovery", ADAPTER, NAME + ".StopDiscovery")
    await client.do(ADAPTER, NAME + ".SetDiscoveryFilter", "a{sv}", {})
