"""Introspection documents, and all properties of all objects."""
import xml.etree.ElementTree as ElementTree

from ..client import ADAPTER, PEER, ROOT, Client, plain, short

PROPERTIES = "org.freedesktop.DBus.Properties."


def members(interface: ElementTree.Element) -> list[str]:
    """An interface's members, one per line, without the names of arguments, on which no call depends."""
    name = interface.get("name")
    lines = [name]
    for member in interface:
        types = {"in": "", "out": ""}
        for argument in member.findall("arg"):
            types[argument.get("direction", "in" if member.tag == "method" else "out")] += argument.get("type")
        match member.tag:
            case "method":
                lines.append(f"{name} method {member.get('name')}({types['in']}) -> ({types['out']})")
            case "signal":
                lines.append(f"{name} signal {member.get('name')}({types['out']})")
            case "property":
                lines.append(f"{name} property {member.get('name')} {member.get('type')} {member.get('access')}")
    return lines


async def introspect(client: Client, name: str, path: str) -> None:
    text = await client.do(path, "org.freedesktop.DBus.Introspectable.Introspect")
    lines = []
    for child in ElementTree.fromstring(text):
        lines += members(child) if child.tag == "interface" else [f"node {child.get('name')}"]
    if name in ("a device", "a service", "a characteristic"):
        # The names of their nodes depend on handles.
        lines = [line for line in lines if not line.startswith("node ")]
    client.log.add(f"introspection of {name}", sorted(lines))


async def before(client: Client) -> None:
    adapter = (await client.tree())[ADAPTER]["org.bluez.Adapter1"]
    client.log.call_it(adapter["Address"].value, "<address>")
    client.log.call_it(f'"{adapter["Name"].value}"', '"<name>"')
    client.log.call_it(f'\\"{adapter["Name"].value}\\"', '\\"<name>\\"')
    for name, path in (("the root", "/"), ("/org", "/org"), ("/org/bluez", ROOT), ("the adapter", ADAPTER)):
        await introspect(client, name, path)
    for name, path in (("unknown below an adapter", ADAPTER + "/x"), ("unknown", "/x"), ("below /org/bluez", ROOT + "/x")):
        await client.call(f"introspection of a path that is {name}", path, "org.freedesktop.DBus.Introspectable.Introspect")
    await client.call("introspection with an argument", ADAPTER, "org.freedesktop.DBus.Introspectable.Introspect", "s", "")
    await client.call("GetManagedObjects at the adapter", ADAPTER, "org.freedesktop.DBus.ObjectManager.GetManagedObjects")
    await client.call("GetManagedObjects at /org", "/org", "org.freedesktop.DBus.ObjectManager.GetManagedObjects")
    await client.call("GetManagedObjects with an argument", "/", "org.freedesktop.DBus.ObjectManager.GetManagedObjects", "s", "")
    await properties(client, "before", [ROOT, ADAPTER])


async def properties(client: Client, when: str, paths) -> None:
    """All properties of objects, each with its type."""
    tree = await client.tree()
    for path in paths:
        lines = []
        for interface, values in tree[path].items():
            lines += [interface, *(
                f"{interface} {name} = {plain(value) if name != 'Handle' else value.signature}" for name, value in values.items())]
        client.log.add(f"properties of {client.log.readable(path)} {when}", sorted(lines))


async def connected(client: Client) -> None:
    """Names the attributes by their UUIDs, and records one object of each kind, and all properties."""
    await client.until(PEER, "org.bluez.Battery1", "Percentage", 100)
    tree = await client.tree()
    seen: dict[str, int] = {}
    places = {}
    for path in sorted(path for path in tree if path.startswith(PEER + "/")):
        for kind in ("Service", "Characteristic", "Descriptor"):
            if found := tree[path].get(f"org.bluez.Gatt{kind}1"):
                name = f"{kind.lower()} {short(found['UUID'].value)}"
                if kind == "Descriptor":
                    name += " of" + client.log.readable(found["Characteristic"].value).strip("<>").removeprefix("characteristic")
                seen[name] = seen.get(name, 0) + 1
                name += f" #{seen[name]}" if seen[name] > 1 else ""
                client.log.call_it(path, f"<{name}>")
                places[name] = path
    await introspect(client, "a device", PEER)
    await introspect(client, "a service", places["service C0DE0001"])
    await introspect(client, "a characteristic", places["characteristic C0DE010C"])
    await introspect(client, "a descriptor", places["descriptor 2901 of C0DE010C"])
    await properties(client, "of a connected device", [PEER, *sorted(places.values())])
    client.log.add("the attributes of a connected device", sorted(places))
