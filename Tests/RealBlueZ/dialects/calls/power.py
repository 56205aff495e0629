"""An adapter that is off."""
from dbus_next import Variant

from ..client import ADAPTER, PEER, ROOT, Client
from .adapter import NAME, PROPERTIES
from .advertising import INTERFACE as ADVERTISEMENT, PERIPHERAL, company
from .applications import app, service
from .documents import properties
from .values import CHARACTERISTIC, places

DEVICE = "org.bluez.Device1"


async def off(client: Client) -> None:
    at = await places(client)
    await client.call("Set Powered to false", ADAPTER, PROPERTIES + "Set", "ssv", NAME, "Powered", Variant("b", False))
    await client.until(ADAPTER, NAME, "Powered", False)
    await properties(client, "while it is off", [ADAPTER, PEER])
    for method in ("StartDiscovery", "StopDiscovery", "GetDiscoveryFilters"):
        await client.call(f"{method} while the adapter is off", ADAPTER, f"{NAME}.{method}")
    await client.call("SetDiscoveryFilter while the adapter is off", ADAPTER, NAME + ".SetDiscoveryFilter", "a{sv}", {})
    await client.call("SetDiscoveryFilter with an unknown key while the adapter is off", ADAPTER, NAME + ".SetDiscoveryFilter", "a{sv}", {"Colour": Variant("b", True)})
    await client.call("RemoveDevice of an unknown device while the adapter is off", ADAPTER, NAME + ".RemoveDevice", "o", ADAPTER + "/dev_00_00_00_00_00_01")
    for name, value in (("Discoverable", Variant("b", True)), ("Pairable", Variant("b", True)), ("Alias", Variant("s", "Changed")), ("Alias", Variant("s", "")), ("DiscoverableTimeout", Variant("u", 180))):
        await client.call(f"Set {name} to {value.value!r} while the adapter is off", ADAPTER, PROPERTIES + "Set", "ssv", NAME, name, value)
    for method in ("Connect", "Pair", "Disconnect", "CancelPairing"):
        await client.call(f"{method} while the adapter is off", PEER, f"{DEVICE}.{method}")
    await client.call("ConnectProfile while the adapter is off", PEER, DEVICE + ".ConnectProfile", "s", "180d")
    await client.call("Set Trusted while the adapter is off", PEER, PROPERTIES + "Set", "ssv", DEVICE, "Trusted", Variant("b", False))
    await client.call("ReadValue while the adapter is off", at["C0DE0101"], CHARACTERISTIC + ".ReadValue", "a{sv}", {})
    await client.call("StartNotify while the adapter is off", at["C0DE0103"], CHARACTERISTIC + ".StartNotify")
    await client.call("StopNotify while the adapter is off", at["C0DE0103"], CHARACTERISTIC + ".StopNotify")
    client.objects = {"/adv": {ADVERTISEMENT: PERIPHERAL | {"ManufacturerData": company(2)}}}
    await client.call("RegisterAdvertisement while the adapter is off", ADAPTER, "org.bluez.LEAdvertisingManager1.RegisterAdvertisement", "oa{sv}", "/adv", {})
    await client.send(ADAPTER, "org.bluez.LEAdvertisingManager1.UnregisterAdvertisement", "o", "/adv")
    client.objects = app(service())
    await client.call("RegisterApplication while the adapter is off", ADAPTER, "org.bluez.GattManager1.RegisterApplication", "oa{sv}", "/app", {})
    await client.send(ADAPTER, "org.bluez.GattManager1.UnregisterApplication", "o", "/app")
    await client.call("RegisterAgent while the adapter is off", ROOT, "org.bluez.AgentManager1.RegisterAgent", "os", "/agent", "")
    await client.call("UnregisterAgent while the adapter is off", ROOT, "org.bluez.AgentManager1.UnregisterAgent", "o", "/agent")
    await client.together(
        "two Set Powered at once", *[(ADAPTER, PROPERTIES + "Set", "ssv", NAME, "Powered", Variant("b", True))] * 2)
    await client.until(ADAPTER, NAME, "Powered", True)
