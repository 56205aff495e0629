"""Device1, before, during and after a connection."""
from dbus_next import Variant

from ..client import ADAPTER, PEER, ROOT, Client
from .adapter import PROPERTIES
from .documents import properties

NAME = "org.bluez.Device1"
CONTRACT_UUID = "c0de0001-7a3d-4c5b-9e1f-2b6a8d4c0f01"


async def find(client: Client) -> None:
    """Discovers the peer, with its name and its services."""
    await client.do(ADAPTER, "org.bluez.Adapter1.SetDiscoveryFilter", "a{sv}", {
        "Transport": Variant("s", "le"), "RSSI": Variant("n", -127)})
    await client.do(ADAPTER, "org.bluez.Adapter1.StartDiscovery")
    await client.until(PEER, NAME, "Name", "Contract")


async def connect(client: Client) -> None:
    """Finds the peer, connects, and waits for its services."""
    await find(client)
    await client.do(PEER, NAME + ".Connect")
    await client.until(PEER, NAME, "ServicesResolved", True)
    await client.do(ADAPTER, "org.bluez.Adapter1.StopDiscovery")
    await client.until(ADAPTER, "org.bluez.Adapter1", "Discovering", False)


async def before_connecting(client: Client) -> None:
    await find(client)
    await client.until(PEER, NAME, "RSSI", -50)
    await properties(client, "as it is discovered", [PEER])
    await client.do(ADAPTER, "org.bluez.Adapter1.StopDiscovery")
    await client.until(ADAPTER, "org.bluez.Adapter1", "Discovering", False)
    await properties(client, "after the discovery", [PEER])
    for method in ("Disconnect", "CancelPairing"):
        await client.call(f"{method} of a device that is not connected", PEER, f"{NAME}.{method}")
    for method in ("ConnectProfile", "DisconnectProfile"):
        await client.call(f"{method} with a UUID that is none, before a connection", PEER, f"{NAME}.{method}", "s", "heart")
        await client.call(f"{method} with an unknown UUID, before a connection", PEER, f"{NAME}.{method}", "s", "180d")
        await client.call(f"{method} with an empty UUID, before a connection", PEER, f"{NAME}.{method}", "s", "")
    await client.call("Connect with an argument", PEER, NAME + ".Connect", "s", "x")
    await client.call("Connect of an unknown device", ADAPTER + "/dev_00_00_00_00_00_01", NAME + ".Connect")
    await client.call("Get of the RSSI after the discovery", PEER, PROPERTIES + "Get", "ss", NAME, "RSSI")
    await client.call("Get of an Icon that is unknown", PEER, PROPERTIES + "Get", "ss", NAME, "Icon")
    await client.call("Get of Sets, which is experimental", PEER, PROPERTIES + "Get", "ss", NAME, "Sets")
    await client.call("GetAll of the attributes at a device", PEER, PROPERTIES + "GetAll", "s", "org.bluez.GattService1")
    await change(client)


async def change(client: Client) -> None:
    async def put(title, name, value):
        await client.call(title, PEER, PROPERTIES + "Set", "ssv", NAME, name, value)

    await put("Set Connected of a device", "Connected", Variant("b", True))
    await put("Set an unknown property of a device", "Speed", Variant("b", True))
    await put("Set Trusted with another type", "Trusted", Variant("u", 1))
    await put("Set Trusted", "Trusted", Variant("b", True))
    await client.call("Get of Trusted", PEER, PROPERTIES + "Get", "ss", NAME, "Trusted")
    await put("Set Trusted back", "Trusted", Variant("b", False))
    await put("Set Alias of a device", "Alias", Variant("s", "Mine"))
    await client.call("Get of the Alias of a device", PEER, PROPERTIES + "Get", "ss", NAME, "Alias")
    await put("Set Alias of a device to nothing", "Alias", Variant("s", ""))
    await client.call("Get of the Alias of a device that was reset", PEER, PROPERTIES + "Get", "ss", NAME, "Alias")
    await put("Set WakeAllowed", "WakeAllowed", Variant("b", True))
    await put("Set PreferredBearer, which is experimental", "PreferredBearer", Variant("s", "le"))
    # No other call is made for a blocked device: Pair has no answer, and after Connect the peer may not be heard again.
    await put("Set Blocked", "Blocked", Variant("b", True))
    await client.call("Get of Blocked", PEER, PROPERTIES + "Get", "ss", NAME, "Blocked")
    await put("Set Blocked back", "Blocked", Variant("b", False))


async def connecting(client: Client) -> None:
    await find(client)
    await client.together("two Connects at once", (PEER, NAME + ".Connect"), (PEER, NAME + ".Connect"))
    await client.until(PEER, NAME, "ServicesResolved", True)
    await client.call("Connect of a connected device", PEER, NAME + ".Connect")
    await client.do(ADAPTER, "org.bluez.Adapter1.StopDiscovery")
    await client.until(ADAPTER, "org.bluez.Adapter1", "Discovering", False)


async def connected(client: Client) -> None:
    # ConnectProfile is not called, because it may crash bluetoothd when the link ends.
    for title, uuid in (("that is none", "heart"), ("that is unknown", "180d"), ("of a service", CONTRACT_UUID), ("that is empty", "")):
        await client.call("DisconnectProfile with a UUID " + title, PEER, NAME + ".DisconnectProfile", "s", uuid)
    await client.call("CancelPairing of a connected device", PEER, NAME + ".CancelPairing")
    await client.call("Disconnect", PEER, NAME + ".Disconnect")
    await client.until(PEER, NAME, "Connected", False)
    await properties(client, "after a connection", [PEER])


async def pairing(client: Client) -> None:
    await find(client)
    await client.call("Pair without an agent", PEER, NAME + ".Pair")
    await client.call("Get of Paired without an agent", PEER, PROPERTIES + "Get", "ss", NAME, "Paired")
    # The removal ends the link, which BlueZ 5.66 could not use again.
    await client.do(ADAPTER, "org.bluez.Adapter1.RemoveDevice", "o", PEER)
    await client.until(PEER, NAME, "Name", "Contract")
    await client.do(ROOT, "org.bluez.AgentManager1.RegisterAgent", "os", "/agent", "NoInputNoOutput")
    await client.call("Get of Pairable with an agent", ADAPTER, PROPERTIES + "Get", "ss", "org.bluez.Adapter1", "Pairable")
    await client.together("two Pairs at once", (PEER, NAME + ".Pair"), (PEER, NAME + ".Pair"))
    client.log.add("what an agent is asked for Pair", [member for path, member in client.called if path == "/agent"])
    await client.until(PEER, NAME, "ServicesResolved", True)
    await client.call("Pair with a paired device", PEER, NAME + ".Pair")
    await client.call("CancelPairing with a paired device", PEER, NAME + ".CancelPairing")
    await client.call("Get of Bonded", PEER, PROPERTIES + "Get", "ss", NAME, "Bonded")
    await client.do(ADAPTER, "org.bluez.Adapter1.StopDiscovery")
    await client.do(PEER, NAME + ".Disconnect")
    await client.until(PEER, NAME, "Connected", False)
    await properties(client, "after a pairing", [PEER])
