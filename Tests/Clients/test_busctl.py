"""busctl and gdbus: introspection, properties and calls from the command line."""

import re

import pytest

from world import *

pytestmark = pytest.mark.usefixtures("world")


def busctl(*arguments, **options):
    return run("busctl", "--system", *arguments, **options)


def introspect(path):
    """The members of an object as `(interface, name, kind, signature, result, flags)`, without values."""
    rows, interface = [], ""
    for line in busctl("--no-legend", "--full", "introspect", "org.bluez", path).splitlines():
        name, kind, signature, rest = line.split(None, 3)
        if kind == "interface":
            interface = name
        elif interface.startswith("org.bluez."):
            # A method shows its result, a property its value and then how it may be used.
            result = rest.split(None, 1)[0] if kind == "method" else "writable" if "writable" in rest.split()[-3:] else ""
            rows.append((interface.removeprefix("org.bluez."), name, kind, signature, result))
    return rows


def test_tree(bluetoothctl):
    bluetoothctl().connect(HEART_RATE)
    paths = [re.sub(r"^[^/]*", "", line) for line in busctl("tree", "org.bluez").splitlines()]
    device = "/org/bluez/hci0/dev_C0_00_00_00_00_01"
    assert paths[:3] == ["/org", "/org/bluez", "/org/bluez/hci0"]
    assert [path for path in paths if path.startswith(device)] == [
        device,
        f"{device}/service0008",
        f"{device}/service0008/char0009",
        f"{device}/service0008/char0009/desc000b",
        f"{device}/service0008/char000c",
        f"{device}/service0008/char000e",
        f"{device}/service0010",
        f"{device}/service0010/char0011",
        f"{device}/service0013",
        f"{device}/service0013/char0014",
        f"{device}/service0013/char0014/desc0016",
    ]
    assert paths[-1] == "/org/bluez/hci1"


def test_introspection_of_an_adapter():
    assert introspect("/org/bluez/hci0") == [
        ("Adapter1", ".GetDiscoveryFilters", "method", "-", "as"),
        ("Adapter1", ".RemoveDevice", "method", "o", "-"),
        ("Adapter1", ".SetDiscoveryFilter", "method", "a{sv}", "-"),
        ("Adapter1", ".StartDiscovery", "method", "-", "-"),
        ("Adapter1", ".StopDiscovery", "method", "-", "-"),
        ("Adapter1", ".Address", "property", "s", ""),
        ("Adapter1", ".AddressType", "property", "s", ""),
        ("Adapter1", ".Alias", "property", "s", "writable"),
        ("Adapter1", ".Class", "property", "u", ""),
        ("Adapter1", ".Discoverable", "property", "b", "writable"),
        ("Adapter1", ".DiscoverableTimeout", "property", "u", "writable"),
        ("Adapter1", ".Discovering", "property", "b", ""),
        ("Adapter1", ".ExperimentalFeatures", "property", "as", ""),
        ("Adapter1", ".Modalias", "property", "s", ""),
        ("Adapter1", ".Name", "property", "s", ""),
        ("Adapter1", ".Pairable", "property", "b", "writable"),
        ("Adapter1", ".PairableTimeout", "property", "u", "writable"),
        ("Adapter1", ".Powered", "property", "b", "writable"),
        ("Adapter1", ".Roles", "property", "as", ""),
        ("Adapter1", ".UUIDs", "property", "as", ""),
        ("AdvertisementMonitorManager1", ".RegisterMonitor", "method", "o", "-"),
        ("AdvertisementMonitorManager1", ".UnregisterMonitor", "method", "o", "-"),
        ("AdvertisementMonitorManager1", ".SupportedFeatures", "property", "as", ""),
        ("AdvertisementMonitorManager1", ".SupportedMonitorTypes", "property", "as", ""),
        ("GattManager1", ".RegisterApplication", "method", "oa{sv}", "-"),
        ("GattManager1", ".UnregisterApplication", "method", "o", "-"),
        ("LEAdvertisingManager1", ".RegisterAdvertisement", "method", "oa{sv}", "-"),
        ("LEAdvertisingManager1", ".UnregisterAdvertisement", "method", "o", "-"),
        ("LEAdvertisingManager1", ".ActiveInstances", "property", "y", ""),
        ("LEAdvertisingManager1", ".SupportedIncludes", "property", "as", ""),
        ("LEAdvertisingManager1", ".SupportedInstances", "property", "y", ""),
        ("LEAdvertisingManager1", ".SupportedSecondaryChannels", "property", "as", ""),
    ]


def test_introspection_of_a_device_and_its_attributes(bluetoothctl):
    bluetoothctl().connect(ATTRIBUTES)
    device = "/org/bluez/hci0/dev_C0_00_00_00_00_02"
    members = introspect(device)
    assert ("Device1", ".Connect", "method", "-", "-") in members
    assert ("Device1", ".ConnectProfile", "method", "s", "-") in members
    assert ("Device1", ".Trusted", "property", "b", "writable") in members
    assert ("Device1", ".ServicesResolved", "property", "b", "") in members
    assert introspect(f"{device}/service0008") == [
        ("GattService1", ".Device", "property", "o", ""),
        ("GattService1", ".Includes", "property", "ao", ""),
        ("GattService1", ".Primary", "property", "b", ""),
        ("GattService1", ".UUID", "property", "s", ""),
    ]
    # NotifyAcquired is there only where the characteristic notifies, WriteAcquired where it takes commands.
    assert introspect(f"{device}/service0008/char0014") == [
        ("GattCharacteristic1", ".AcquireNotify", "method", "a{sv}", "hq"),
        ("GattCharacteristic1", ".AcquireWrite", "method", "a{sv}", "hq"),
        ("GattCharacteristic1", ".ReadValue", "method", "a{sv}", "ay"),
        ("GattCharacteristic1", ".StartNotify", "method", "-", "-"),
        ("GattCharacteristic1", ".StopNotify", "method", "-", "-"),
        ("GattCharacteristic1", ".WriteValue", "method", "aya{sv}", "-"),
        ("GattCharacteristic1", ".Flags", "property", "as", ""),
        ("GattCharacteristic1", ".MTU", "property", "q", ""),
        ("GattCharacteristic1", ".NotifyAcquired", "property", "b", ""),
        ("GattCharacteristic1", ".Notifying", "property", "b", ""),
        ("GattCharacteristic1", ".Service", "property", "o", ""),
        ("GattCharacteristic1", ".UUID", "property", "s", ""),
        ("GattCharacteristic1", ".Value", "property", "ay", ""),
        ("GattCharacteristic1", ".WriteAcquired", "property", "b", ""),
    ]
    assert introspect(f"{device}/service0008/char0009/desc000b") == [
        ("GattDescriptor1", ".ReadValue", "method", "a{sv}", "ay"),
        ("GattDescriptor1", ".WriteValue", "method", "aya{sv}", "-"),
        ("GattDescriptor1", ".Characteristic", "property", "o", ""),
        ("GattDescriptor1", ".UUID", "property", "s", ""),
        ("GattDescriptor1", ".Value", "property", "ay", ""),
    ]


def test_calls_and_properties(bluetoothctl):
    bluetoothctl().connect(ATTRIBUTES)
    service = "/org/bluez/hci0/dev_C0_00_00_00_00_02/service0008"
    characteristic, interface = f"{service}/char0009", "org.bluez.GattCharacteristic1"
    read = ["call", "org.bluez", characteristic, interface, "ReadValue", "a{sv}"]
    assert busctl(*read, "0") == "ay 3 1 2 3\n"
    assert busctl(*read, "1", "offset", "q", "1") == "ay 2 2 3\n"
    write = ["call", "org.bluez", characteristic, interface, "WriteValue", "aya{sv}", "2", "8", "9"]
    assert busctl(*write, "1", "type", "s", "request") == ""
    assert busctl(*write, "1", "offset", "q", "1") == ""
    assert busctl(*read, "0") == "ay 3 8 8 9\n"
    assert "Invalid offset" in busctl(*write, "1", "offset", "q", "4", status=1)
    assert "not supported" in busctl(*write, "2", "offset", "q", "1", "type", "s", "command", status=1)
    assert busctl("get-property", "org.bluez", service, "org.bluez.GattService1", "UUID") == f's "{uuid("FFF0")}"\n'
    adapter = ["org.bluez", "/org/bluez/hci0", "org.bluez.Adapter1"]
    assert busctl("set-property", *adapter, "Alias", "s", "Bench") == ""
    assert busctl("get-property", *adapter, "Alias", "Name") == 's "Bench"\ns "default"\n'


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["get-property", "org.bluez", "/org/bluez/hci0", "org.bluez.Adapter1", "Nothing"], "No such property 'Nothing'"),
        (["set-property", "org.bluez", "/org/bluez/hci0", "org.bluez.Adapter1", "Name", "s", "x"], "not writable"),
        (["call", "org.bluez", "/org/bluez/hci0", "org.bluez.Adapter1", "Fly"],
         'Method "Fly" with signature "" on interface "org.bluez.Adapter1" doesn\'t exist'),
        (["call", "org.bluez", "/org/bluez/hci0", "org.bluez.Adapter1", "StopDiscovery"], "No discovery started"),
        (["call", "org.bluez", "/org/bluez/hci9", "org.bluez.Adapter1", "StartDiscovery"], "doesn't exist"),
        (["call", "org.bluez", "/org/bluez/hci0", "org.bluez.Adapter1", "RemoveDevice", "o", "/none"], "Does Not Exist"),
    ])
def test_errors(arguments, message):
    assert message in busctl(*arguments, status=1)


def test_gdbus():
    text = run(
        "gdbus", "call", "--system", "--dest", "org.bluez", "--object-path", "/org/bluez/hci1", "--method",
        "org.freedesktop.DBus.Properties.GetAll", "org.bluez.Adapter1")
    assert f"'Address': <'{HCI1}'>" in text
    assert "'Powered': <true>" in text
    assert "'Class': <uint32 0>" in text
    xml = run("gdbus", "introspect", "--system", "--xml", "--dest", "org.bluez", "--object-path", "/org/bluez")
    assert [line.strip() for line in xml.splitlines() if "node name" in line or "RegisterAgent" in line] == [
        '<method name="RegisterAgent">', '<node name="hci0"/>', '<node name="hci1"/>']
    error = run(
        "gdbus", "call", "--system", "--dest", "org.bluez", "--object-path", "/org/bluez/hci0", "--method",
        "org.bluez.Adapter1.StopDiscovery", status=1)
    assert error == "Error: GDBus.Error:org.bluez.Error.Failed: No discovery started\n"


def test_five_advertisements_are_free():
    properties = ["ActiveInstances", "SupportedInstances"]
    shown = busctl("get-property", "org.bluez", "/org/bluez/hci0", "org.bluez.LEAdvertisingManager1", *properties)
    assert shown.split() == ["y", "0", "y", "5"]
