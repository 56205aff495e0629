"""RemoveDevice, for a connected device and for a removed one."""
from ..client import ADAPTER, PEER, Client
from .device import NAME, connect
from .values import CHARACTERISTIC, places


async def calls(client: Client) -> None:
    await client.call("RemoveDevice", ADAPTER, "org.bluez.Adapter1.RemoveDevice", "o", PEER)
    await connect(client)
    stored = (await places(client))["C0DE0101"]
    client.signals.clear()
    await client.together("two RemoveDevice of a connected device at once", *[(ADAPTER, "org.bluez.Adapter1.RemoveDevice", "o", PEER)] * 2)
    changed = [
        f"{member} {value.value}" for message in client.signals if message.path == PEER and message.member == "PropertiesChanged"
        for member, value in message.body[1].items()]
    client.log.add("what RemoveDevice of a connected device signals before its reply", changed)
    removed = [message.body[0] for message in client.signals if message.member == "InterfacesRemoved"]
    client.log.add("whether the device is removed before the reply", [str(PEER in removed)])
    await client.call("RemoveDevice of a removed device", ADAPTER, "org.bluez.Adapter1.RemoveDevice", "o", PEER)
    await client.call("Connect of a removed device", PEER, NAME + ".Connect")
    await client.call("ReadValue of a removed device", stored, CHARACTERISTIC + ".ReadValue", "a{sv}", {})
    await client.call("Get of a removed device", PEER, "org.freedesktop.DBus.Properties.Get", "ss", NAME, "Name")
    await client.call("introspection of a removed device", PEER, "org.freedesktop.DBus.Introspectable.Introspect")
