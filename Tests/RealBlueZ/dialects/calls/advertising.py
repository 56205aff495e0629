"""LEAdvertisingManager1, with advertisements of right and wrong content."""
from dbus_next import Variant

from ..client import ADAPTER, Client

MANAGER = "org.bluez.LEAdvertisingManager1."
INTERFACE = "org.bluez.LEAdvertisement1"
UUID = "c0de0d01-7a3d-4c5b-9e1f-2b6a8d4c0f01"


def strings(*texts):
    return Variant("as", list(texts))


def company(length, identifier=0xFFFF):
    return Variant("a{qv}", {identifier: Variant("ay", bytes(length))})


PERIPHERAL = {"Type": Variant("s", "peripheral")}
BROADCAST = {"Type": Variant("s", "broadcast")}
CONTENTS = {
    "nothing": {},
    "a Type alone": PERIPHERAL,
    "an unknown Type": {"Type": Variant("s", "beacon")},
    "a Type of another type": {"Type": Variant("u", 1)},
    "a broadcast": BROADCAST | {"ServiceUUIDs": strings("180d")},
    "an unknown property": PERIPHERAL | {"Colour": Variant("s", "red")},
    "ServiceUUIDs": PERIPHERAL | {"ServiceUUIDs": strings(UUID)},
    "no ServiceUUIDs": PERIPHERAL | {"ServiceUUIDs": strings()},
    "ServiceUUIDs that are none": PERIPHERAL | {"ServiceUUIDs": strings("heart")},
    "ServiceUUIDs of another type": PERIPHERAL | {"ServiceUUIDs": Variant("s", UUID)},
    "two long ServiceUUIDs": PERIPHERAL | {"ServiceUUIDs": strings(UUID, UUID.replace("0d01", "0d02"))},
    "SolicitUUIDs": PERIPHERAL | {"SolicitUUIDs": strings("180d")},
    "SolicitUUIDs that are none": PERIPHERAL | {"SolicitUUIDs": strings("x")},
    "ManufacturerData": PERIPHERAL | {"ManufacturerData": company(3)},
    "no ManufacturerData": PERIPHERAL | {"ManufacturerData": Variant("a{qv}", {})},
    "ManufacturerData of 24 bytes": PERIPHERAL | {"ManufacturerData": company(24)},
    "ManufacturerData of 25 bytes": PERIPHERAL | {"ManufacturerData": company(25)},
    "ManufacturerData of 27 bytes": PERIPHERAL | {"ManufacturerData": company(27)},
    "ManufacturerData of 28 bytes": PERIPHERAL | {"ManufacturerData": company(28)},
    "a broadcast of ManufacturerData of 27 bytes": BROADCAST | {"ManufacturerData": company(27)},
    "ManufacturerData with other keys": PERIPHERAL | {"ManufacturerData": Variant("a{sv}", {"1": Variant("ay", b"x")})},
    "ManufacturerData with other values": PERIPHERAL | {"ManufacturerData": Variant("a{qv}", {1: Variant("s", "x")})},
    "ManufacturerData of another type": PERIPHERAL | {"ManufacturerData": Variant("ay", b"x")},
    "ServiceData": PERIPHERAL | {"ServiceData": Variant("a{sv}", {"180f": Variant("ay", b"x")})},
    "ServiceData with a key that is no UUID": PERIPHERAL | {"ServiceData": Variant("a{sv}", {"x": Variant("ay", b"x")})},
    "ServiceData with other values": PERIPHERAL | {"ServiceData": Variant("a{sv}", {"180f": Variant("s", "x")})},
    "ServiceData that is too long": PERIPHERAL | {"ServiceData": Variant("a{sv}", {"180f": Variant("ay", bytes(28))})},
    "LocalName": PERIPHERAL | {"LocalName": Variant("s", "Name")},
    "a LocalName of 40 bytes": PERIPHERAL | {"LocalName": Variant("s", "N" * 40)},
    "a LocalName of another type": PERIPHERAL | {"LocalName": Variant("ay", b"Name")},
    "an empty LocalName": PERIPHERAL | {"LocalName": Variant("s", "")},
    "LocalName and Includes local-name": PERIPHERAL | {"LocalName": Variant("s", "Name"), "Includes": strings("local-name")},
    "Includes": PERIPHERAL | {"Includes": strings("tx-power", "appearance", "local-name")},
    "Includes tx-power": PERIPHERAL | {"Includes": strings("tx-power")},
    "Includes appearance": PERIPHERAL | {"Includes": strings("appearance")},
    "Includes local-name": PERIPHERAL | {"Includes": strings("local-name")},
    "no Includes": PERIPHERAL | {"Includes": strings()},
    "unknown Includes": PERIPHERAL | {"Includes": strings("colour")},
    "Includes rsi": PERIPHERAL | {"Includes": strings("rsi")},
    "Includes of another type": PERIPHERAL | {"Includes": Variant("s", "tx-power")},
    "Appearance": PERIPHERAL | {"Appearance": Variant("q", 833)},
    "Appearance of another type": PERIPHERAL | {"Appearance": Variant("u", 833)},
    "Appearance and Includes appearance": PERIPHERAL | {"Appearance": Variant("q", 833), "Includes": strings("appearance")},
    "Duration": PERIPHERAL | {"Duration": Variant("q", 2)},
    "Duration of another type": PERIPHERAL | {"Duration": Variant("u", 2)},
    "Timeout": PERIPHERAL | {"Timeout": Variant("q", 100)},
    "Timeout of another type": PERIPHERAL | {"Timeout": Variant("u", 100)},
    "Discoverable": PERIPHERAL | {"Discoverable": Variant("b", True)},
    "Discoverable of another type": PERIPHERAL | {"Discoverable": Variant("s", "yes")},
    "a discoverable broadcast": BROADCAST | {"Discoverable": Variant("b", True)},
    "a broadcast that is not discoverable": BROADCAST | {"Discoverable": Variant("b", False)},
    "DiscoverableTimeout": PERIPHERAL | {"Discoverable": Variant("b", True), "DiscoverableTimeout": Variant("q", 100)},
    "DiscoverableTimeout of another type": PERIPHERAL | {"DiscoverableTimeout": Variant("u", 100)},
    "Data": PERIPHERAL | {"Data": Variant("a{yv}", {0x26: Variant("ay", b"x")})},
    "Data of a type that has a property": PERIPHERAL | {"Data": Variant("a{yv}", {0xFF: Variant("ay", b"x")})},
    "Data with other keys": PERIPHERAL | {"Data": Variant("a{qv}", {0x26: Variant("ay", b"x")})},
    "Data with other values": PERIPHERAL | {"Data": Variant("a{yv}", {0x26: Variant("s", "x")})},
    "Data of 40 bytes": PERIPHERAL | {"Data": Variant("a{yv}", {0x26: Variant("ay", bytes(40))})},
    "SecondaryChannel": PERIPHERAL | {"SecondaryChannel": Variant("s", "2M")},
    "an unknown SecondaryChannel": PERIPHERAL | {"SecondaryChannel": Variant("s", "3M")},
    "MinInterval alone": PERIPHERAL | {"MinInterval": Variant("u", 200)},
    "intervals": PERIPHERAL | {"MinInterval": Variant("u", 200), "MaxInterval": Variant("u", 300)},
    "intervals in the wrong order": PERIPHERAL | {"MinInterval": Variant("u", 300), "MaxInterval": Variant("u", 200)},
    "a MinInterval that is too short": PERIPHERAL | {"MinInterval": Variant("u", 10), "MaxInterval": Variant("u", 300)},
    "intervals of another type": PERIPHERAL | {"MinInterval": Variant("q", 200), "MaxInterval": Variant("q", 300)},
    "TxPower": PERIPHERAL | {"TxPower": Variant("n", 4)},
    "TxPower out of range": PERIPHERAL | {"TxPower": Variant("n", 21)},
    "TxPower of another type": PERIPHERAL | {"TxPower": Variant("i", 4)},
    "ScanResponseServiceUUIDs": PERIPHERAL | {"ScanResponseServiceUUIDs": strings("180d")},
    "too much altogether": PERIPHERAL | {"ServiceUUIDs": strings(UUID), "ManufacturerData": company(20)},
}


async def calls(client: Client) -> None:
    register, unregister = MANAGER + "RegisterAdvertisement", MANAGER + "UnregisterAdvertisement"
    await client.call("UnregisterAdvertisement without one", ADAPTER, unregister, "o", "/adv")
    objects = {"an unknown path": {}, "another object": {"/adv": {"org.example.Thing": {}}}}
    for title, content in (objects | {title: {"/adv": {INTERFACE: content}} for title, content in CONTENTS.items()}).items():
        client.objects = content
        if await client.call("RegisterAdvertisement with " + title, ADAPTER, register, "oa{sv}", "/adv", {}):
            await client.do(ADAPTER, unregister, "o", "/adv")
    client.objects = {f"/adv{suffix}": {INTERFACE: PERIPHERAL | {"ManufacturerData": company(2)}} for suffix in ("", *range(9))}
    await client.call("RegisterAdvertisement without options", ADAPTER, register, "o", "/adv")
    await client.call("RegisterAdvertisement with an unknown option", ADAPTER, register, "oa{sv}", "/adv", {"Colour": Variant("s", "red")})
    await client.call("RegisterAdvertisement again", ADAPTER, register, "oa{sv}", "/adv", {})
    await client.call("Get of ActiveInstances", ADAPTER, "org.freedesktop.DBus.Properties.Get", "ss", MANAGER[:-1], "ActiveInstances")
    await client.call("Get of SupportedInstances", ADAPTER, "org.freedesktop.DBus.Properties.Get", "ss", MANAGER[:-1], "SupportedInstances")
    async with await client.another() as other:
        await other.call("UnregisterAdvertisement of another program's", ADAPTER, unregister, "o", "/adv")
    await client.call("UnregisterAdvertisement", ADAPTER, unregister, "o", "/adv")
    await client.call("UnregisterAdvertisement again", ADAPTER, unregister, "o", "/adv")
    await client.together("two RegisterAdvertisement of one path at once", *[(ADAPTER, register, "oa{sv}", "/adv", {})] * 2)
    await client.do(ADAPTER, unregister, "o", "/adv")
    await client.together("RegisterAdvertisement and UnregisterAdvertisement at once", (ADAPTER, register, "oa{sv}", "/adv", {}), (ADAPTER, unregister, "o", "/adv"))
    for number in range(7):
        await client.call(f"RegisterAdvertisement number {number + 1}", ADAPTER, register, "oa{sv}", f"/adv{number}", {})
    for number in range(7):
        await client.send(ADAPTER, unregister, "o", f"/adv{number}")
