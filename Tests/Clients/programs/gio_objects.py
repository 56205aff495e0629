"""Prints what GDBusObjectManagerClient sees of org.bluez: objects that come and go, and changes of signal strength."""

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402


def added(_, obj):
    names = (proxy.get_interface_name() for proxy in obj.get_interfaces())
    print("added", obj.get_object_path(), *sorted(name for name in names if name.startswith("org.bluez.")), flush=True)


def removed(_, obj):
    print("removed", obj.get_object_path(), flush=True)


def changed(_, obj, proxy, properties, invalidated):
    print("changed", obj.get_object_path(), *sorted(properties.unpack()), "invalidated", *sorted(invalidated), flush=True)


manager = Gio.DBusObjectManagerClient.new_for_bus_sync(
    Gio.BusType.SYSTEM, Gio.DBusObjectManagerClientFlags.NONE, "org.bluez", "/", None, None, None)
for obj in sorted(manager.get_objects(), key=lambda obj: obj.get_object_path()):
    added(manager, obj)
manager.connect("object-added", added)
manager.connect("object-removed", removed)
manager.connect("interface-proxy-properties-changed", changed)
print("ready", flush=True)
GLib.MainLoop().run()
