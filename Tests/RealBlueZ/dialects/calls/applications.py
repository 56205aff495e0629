"""GattManager1, with applications of right and wrong shapes."""
from dbus_next import Variant

from ..client import ADAPTER, Client

MANAGER = "org.bluez.GattManager1."
SERVICE, CHARACTERISTIC, DESCRIPTOR = (f"org.bluez.Gatt{kind}1" for kind in ("Service", "Characteristic", "Descriptor"))
UUID = "c0de0e{:02x}-7a3d-4c5b-9e1f-2b6a8d4c0f01"


def service(**changes):
    return {SERVICE: changed({"UUID": Variant("s", UUID.format(1)), "Primary": Variant("b", True)}, changes)}


def characteristic(**changes):
    return {CHARACTERISTIC: changed({
        "UUID": Variant("s", UUID.format(2)), "Service": Variant("o", "/app/s"), "Flags": Variant("as", ["read"])}, changes)}


def descriptor(**changes):
    return {DESCRIPTOR: changed({
        "UUID": Variant("s", UUID.format(3)), "Characteristic": Variant("o", "/app/s/c"), "Flags": Variant("as", ["read"])}, changes)}


def changed(properties, changes):
    """The properties, without those that are None."""
    return {name: value for name, value in (properties | changes).items() if value is not None}


def app(s=None, c=None, d=None, **others):
    objects = {"/app/s": s, "/app/s/c": c, "/app/s/c/d": d} | others
    return {path: content for path, content in objects.items() if content is not None}


SHAPES = {
    "no objects": {},
    "an object of another kind": {"/app/x": {"org.example.Thing": {}}},
    "a service alone": app(service()),
    "a service without a UUID": app(service(UUID=None)),
    "a service with a UUID that is none": app(service(UUID=Variant("s", "heart"))),
    "a service with a short UUID": app(service(UUID=Variant("s", "1234"))),
    "a service with a UUID of another type": app(service(UUID=Variant("u", 0x1234))),
    "a service 1800": app(service(UUID=Variant("s", "1800"))),
    "a service 1801": app(service(UUID=Variant("s", "00001801-0000-1000-8000-00805f9b34fb"))),
    "a service 180A": app(service(UUID=Variant("s", "180a"))),
    "a service without Primary": app(service(Primary=None)),
    "a service with Primary of another type": app(service(Primary=Variant("u", 1))),
    "a secondary service": app(service(Primary=Variant("b", False))),
    "a service with Includes of another type": app(service(Includes=Variant("as", ["/app/s"]))),
    "a service that includes itself": app(service(Includes=Variant("ao", ["/app/s"]))),
    "a service that includes an unknown one": app(service(Includes=Variant("ao", ["/app/x"]))),
    "a service with a Handle": app(service(Handle=Variant("q", 0x200))),
    "a service with a Handle of another type": app(service(Handle=Variant("u", 0x200))),
    "a characteristic": app(service(), characteristic()),
    "a characteristic without a service": app(None, characteristic()),
    "a characteristic of an unknown service": app(service(), characteristic(Service=Variant("o", "/app/x"))),
    "a characteristic without Service": app(service(), characteristic(Service=None)),
    "a characteristic with Service of another type": app(service(), characteristic(Service=Variant("s", "/app/s"))),
    "a characteristic without a UUID": app(service(), characteristic(UUID=None)),
    "a characteristic with a UUID that is none": app(service(), characteristic(UUID=Variant("s", "x"))),
    "a characteristic without Flags": app(service(), characteristic(Flags=None)),
    "a characteristic with no Flags": app(service(), characteristic(Flags=Variant("as", []))),
    "a characteristic with an unknown flag": app(service(), characteristic(Flags=Variant("as", ["read", "shout"]))),
    "a characteristic with Flags of another type": app(service(), characteristic(Flags=Variant("s", "read"))),
    "a characteristic with a flag in capitals": app(service(), characteristic(Flags=Variant("as", ["Read"]))),
    "a characteristic with all flags": app(service(), characteristic(Flags=Variant("as", [
        "broadcast", "read", "write-without-response", "write", "notify", "indicate", "authenticated-signed-writes",
        "reliable-write", "writable-auxiliaries", "encrypt-read", "encrypt-write", "encrypt-authenticated-read",
        "encrypt-authenticated-write", "secure-read", "secure-write", "authorize"]))),
    "a characteristic with encrypt-notify": app(service(), characteristic(Flags=Variant("as", ["notify", "encrypt-notify"]))),
    "a characteristic with secure-indicate": app(service(), characteristic(Flags=Variant("as", ["indicate", "secure-indicate"]))),
    "a characteristic with extended-properties": app(service(), characteristic(Flags=Variant("as", ["read", "extended-properties"]))),
    "a descriptor": app(service(), characteristic(), descriptor()),
    "a descriptor of an unknown characteristic": app(service(), characteristic(), descriptor(Characteristic=Variant("o", "/app/x"))),
    "a descriptor of a service": app(service(), characteristic(), descriptor(Characteristic=Variant("o", "/app/s"))),
    "a descriptor without Characteristic": app(service(), characteristic(), descriptor(Characteristic=None)),
    "a descriptor without Flags": app(service(), characteristic(), descriptor(Flags=None)),
    "a descriptor with notify": app(service(), characteristic(), descriptor(Flags=Variant("as", ["notify"]))),
    "a descriptor with an unknown flag": app(service(), characteristic(), descriptor(Flags=Variant("as", ["shout"]))),
    "a descriptor without a UUID": app(service(), characteristic(), descriptor(UUID=None)),
    "a descriptor 2902": app(service(), characteristic(Flags=Variant("as", ["notify"])), descriptor(UUID=Variant("s", "2902"))),
    "a descriptor 2900": app(service(), characteristic(), descriptor(UUID=Variant("s", "2900"))),
    "a profile": {"/app/p": {"org.bluez.GattProfile1": {"UUIDs": Variant("as", [UUID.format(9)])}}},
    "a profile without UUIDs": {"/app/p": {"org.bluez.GattProfile1": {}}},
    "a profile with no UUIDs": {"/app/p": {"org.bluez.GattProfile1": {"UUIDs": Variant("as", [])}}},
    "a profile with a UUID that is none": {"/app/p": {"org.bluez.GattProfile1": {"UUIDs": Variant("as", ["x"])}}},
}


async def calls(client: Client) -> None:
    register, unregister = MANAGER + "RegisterApplication", MANAGER + "UnregisterApplication"
    await client.call("UnregisterApplication without one", ADAPTER, unregister, "o", "/app")
    for title, shape in SHAPES.items():
        client.objects = shape
        if await client.call("RegisterApplication with " + title, ADAPTER, register, "oa{sv}", "/app", {}):
            await client.do(ADAPTER, unregister, "o", "/app")
    client.objects = app(service(), characteristic())
    await client.call("RegisterApplication without options", ADAPTER, register, "o", "/app")
    await client.call("RegisterApplication with an unknown option", ADAPTER, register, "oa{sv}", "/app", {"Colour": Variant("s", "red")})
    await client.call("RegisterApplication again", ADAPTER, register, "oa{sv}", "/app", {})
    await client.call("RegisterApplication of the same objects below another root", ADAPTER, register, "oa{sv}", "/app/s", {})
    await client.call("Get of the adapter's UUIDs with an application", ADAPTER, "org.freedesktop.DBus.Properties.Get", "ss", "org.bluez.Adapter1", "UUIDs")
    async with await client.another() as other:
        await other.call("UnregisterApplication of another program's", ADAPTER, unregister, "o", "/app")
        other.objects = app(service())
        await other.call("RegisterApplication with another program's root", ADAPTER, register, "oa{sv}", "/app", {})
    await client.call("UnregisterApplication", ADAPTER, unregister, "o", "/app")
    await client.call("UnregisterApplication again", ADAPTER, unregister, "o", "/app")
    await client.together("two RegisterApplication at once", *[(ADAPTER, register, "oa{sv}", "/app", {})] * 2)
    await client.together("RegisterApplication and UnregisterApplication at once", (ADAPTER, register, "oa{sv}", "/app", {}), (ADAPTER, unregister, "o", "/app"))
