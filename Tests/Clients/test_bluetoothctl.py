"""bluetoothctl, as Debian ships it."""

import re

from world import *


def test_list_names_both_adapters(bluetoothctl):
    ctl = bluetoothctl()
    ctl.do("list", rf"Controller {HCI0} default \[default\]")
    ctl.expect(rf"Controller {HCI1} second")


def test_show_describes_an_adapter(bluetoothctl):
    ctl = bluetoothctl()
    text = ctl.do("show", rf"Controller {HCI0} \(public\)\n(.*?)SupportedFeatures").group(1)
    fields = re.findall(r"^\s+(\w+): (.*)$", text, re.MULTILINE)
    for field in [
        ("Name", "default"), ("Alias", "default"), ("Powered", "yes"), ("Discoverable", "no"),
        ("DiscoverableTimeout", "0x000000b4"), ("Pairable", "yes"), ("Discovering", "no"), ("Roles", "central"),
        ("Roles", "peripheral"), ("ActiveInstances", "0x00 (0)"), ("SupportedInstances", "0x05 (5)"),
        ("SupportedIncludes", "local-name"), ("SupportedMonitorTypes", "or_patterns"),
    ]:
        assert field in fields


def test_power_off_and_on(bluetoothctl):
    ctl = bluetoothctl()
    ctl.do("power off", rf"Controller {HCI0} Powered: no")
    ctl.do("scan on", "Failed to start discovery: org.bluez.Error.NotReady")
    ctl.do("power on", rf"Controller {HCI0} Powered: yes")
    ctl.do("scan on", "Discovery started")


def test_scan_shows_what_devices_advertise(bluetoothctl):
    ctl = bluetoothctl()
    ctl.do("scan on", "Discovery started")
    for address in [HEART_RATE, BEACON]:
        start = ctl.position
        ctl.expect(rf"\[NEW\] Device {address} ")
        ctl.position = start
    heart_rate = ctl.info(HEART_RATE)
    assert heart_rate[:8] == [
        ("Name", "Heart Rate"), ("Alias", "Heart Rate"), ("Paired", "no"), ("Bonded", "no"), ("Trusted", "no"),
        ("Blocked", "no"), ("Connected", "no"), ("LegacyPairing", "no"),
    ]
    assert ("UUID", f"Heart Rate                ({uuid('180D')})") in heart_rate
    assert ("TxPower", "4") in heart_rate
    assert -60 < int(dict(heart_rate)["RSSI"]) < -40
    ctl.send(f"info {BEACON}")
    ctl.expect(r"ManufacturerData Key: 0x05f1\n\s*ManufacturerData Value:\n\s*01 02 03 ")
    ctl.expect(rf"ServiceData Key: {uuid('181A')}\n\s*ServiceData Value:\n\s*0a 0b ")
    # The end of a scan takes the signal strength, and what cannot be connected to.
    ctl.send("scan off")
    ctl.expect(rf"Device {HEART_RATE} RSSI is nil")
    ctl.expect(rf"\[DEL\] Device {BEACON} Beacon")
    ctl.expect("Discovery stopped")


def test_connect_lists_all_attributes(bluetoothctl):
    ctl = bluetoothctl()
    ctl.connect(ATTRIBUTES)
    ctl.do("menu gatt", "Print environment variables")
    start = ctl.position
    ctl.do(f"list-attributes {ATTRIBUTES}", r"char0017/desc0019.*?Client Characteristic Configuration")
    lines = re.findall(r"(Service|Characteristic|Descriptor) \(Handle 0x0000\)\n\s+\S+_02/(\S+)\n\s+0000(....)", ctl.text[start:])
    assert lines == [
        ("Service", "service0008", "fff0"),
        ("Characteristic", "service0008/char0009", "fff1"),
        ("Descriptor", "service0008/char0009/desc000b", "2901"),
        ("Descriptor", "service0008/char0009/desc000c", "2904"),
        ("Descriptor", "service0008/char0009/desc000d", "ffd1"),
        ("Characteristic", "service0008/char000e", "fff2"),
        ("Characteristic", "service0008/char0010", "fff3"),
        ("Characteristic", "service0008/char0012", "fff4"),
        ("Characteristic", "service0008/char0014", "fff5"),
        ("Descriptor", "service0008/char0014/desc0016", "2902"),
        ("Characteristic", "service0008/char0017", "fff6"),
        ("Descriptor", "service0008/char0017/desc0019", "2902"),
    ]
    ctl.send("select-attribute fff1")
    info = ctl.do("attribute-info", r"Characteristic - Unknown\n(.*?MTU: \S+)").group(1)
    assert re.findall(r"Flags: (\S+)", info) == ["read", "write-without-response", "write"]
    assert "MTU: 0x0064" in info


def test_values_are_read_and_written(bluetoothctl):
    ctl = bluetoothctl()
    ctl.connect(ATTRIBUTES)
    ctl.send("menu gatt")
    assert ctl.read("fff1") == "010203"
    ctl.send('write "1 2 3 4"')
    assert ctl.read("fff1") == "01020304"
    ctl.send('write "9" 0 command')
    assert ctl.read("fff1") == "09"
    assert ctl.read("ffd1") == "00"
    ctl.send("write 7")
    assert ctl.read("ffd1") == "07"
    assert ctl.read("2901") == b"Color".hex()


def test_what_a_device_refuses_is_an_error(bluetoothctl):
    ctl = bluetoothctl()
    ctl.connect(ATTRIBUTES)
    ctl.send("menu gatt")
    ctl.send("select-attribute fff1")
    ctl.do('write "1 2 3 4 5"', "Failed to write: org.bluez.Error.InvalidArguments")
    ctl.send("select-attribute fff2")
    ctl.do("read", "Failed to read: org.bluez.Error.NotPermitted")
    ctl.send("select-attribute fff3")
    ctl.do("write 1", "Failed to write: org.bluez.Error.NotPermitted")
    ctl.send("select-attribute fff4")
    ctl.do("read", "Failed to read: org.bluez.Error.Failed")
    ctl.do("notify on", "Failed to start notify: org.bluez.Error.NotSupported")


def test_notify(bluetoothctl):
    ctl = bluetoothctl()
    ctl.connect(HEART_RATE)
    ctl.send("menu gatt")
    ctl.send("select-attribute 2a37")
    ctl.do("notify on", "Notify started")
    values = [ctl.value(r"char0009 Value:\s*") for _ in range(4)]
    assert values == ["0648", "0649", "064a", "0648"]
    ctl.do("notify off", "char0009 Notifying: no")
    ctl.expect("Notify stopped")


def test_indications(world, bluetoothctl):
    ctl = bluetoothctl()
    ctl.connect(ATTRIBUTES)
    ctl.send("menu gatt")
    ctl.send("select-attribute fff6")
    ctl.do("notify on", "Notify started")
    assert ctl.value(r"char0017 Value:\s*") == "a1"
    # There is no socket beside "notify on". BlueZ 5.66 gives one for notifications only, a later one for indications, too.
    ctl.do("acquire-notify", "Failed to acquire notify: org.bluez.Error.InProgress")
    ctl.do("notify off", "Notify stopped")
    if world.dialect == "5.66":
        ctl.do("acquire-notify", "Failed to acquire notify: org.bluez.Error.NotSupported")


def test_acquire_notify(bluetoothctl):
    ctl = bluetoothctl()
    ctl.connect(HEART_RATE)
    ctl.send("menu gatt")
    ctl.send("select-attribute 2a37")
    ctl.do("acquire-notify", r"NotifyAcquired: yes.*AcquireNotify success: fd \d+ MTU 185")
    values = [ctl.value(r"char0009 Notification:\s*") for _ in range(4)]
    assert values == ["0648", "0649", "064a", "0648"]
    other = bluetoothctl()
    other.send("menu gatt")
    other.send("select-attribute 2a37")
    other.do("notify on", "Failed to start notify: org.bluez.Error.NotPermitted")
    ctl.do("release-notify", "NotifyAcquired: no")
    other.do("notify on", "Notify started")


def test_acquire_write(bluetoothctl):
    ctl = bluetoothctl()
    ctl.connect(ATTRIBUTES)
    ctl.send("menu gatt")
    ctl.send("select-attribute fff5")
    ctl.do("notify on", "Notify started")
    ctl.do("acquire-write", r"WriteAcquired: yes.*AcquireWrite success: fd \d+ MTU 100")
    ctl.do('write "5 6"', "Attempting to write fd")
    assert ctl.value(r"char0014 Value:\s*") == "0506"
    ctl.do("release-write", "WriteAcquired: no")


def test_battery(bluetoothctl):
    ctl = bluetoothctl()
    ctl.connect(HEART_RATE)
    # The daemon reads the level after it has resolved the services.
    assert until(lambda: dict(ctl.info(HEART_RATE)).get("Battery Percentage")) == "0x57 (87)"


def test_pair_with_the_passkey_that_the_device_shows(bluetoothctl):
    ctl = bluetoothctl()
    ctl.find(PASSKEY_LOCK)
    ctl.do(f"pair {PASSKEY_LOCK}", r"\[agent\] Enter passkey \(number in 0-999999\):")
    ctl.do("123456", rf"Device {PASSKEY_LOCK} Paired: yes.*Pairing successful")
    ctl.do(f"trust {PASSKEY_LOCK}", f"Changing {PASSKEY_LOCK} trust succeeded")
    info = ctl.info(PASSKEY_LOCK)
    for field in ["Paired", "Bonded", "Trusted", "Connected"]:
        assert (field, "yes") in info
    ctl.send("menu gatt")
    assert ctl.read("ffa1") == b"open".hex()


def test_a_wrong_passkey_pairs_nothing(bluetoothctl):
    ctl = bluetoothctl()
    ctl.find(PASSKEY_LOCK)
    ctl.do(f"pair {PASSKEY_LOCK}", r"Enter passkey")
    ctl.do("654321", "Failed to pair: org.bluez.Error.AuthenticationFailed")
    assert ("Paired", "no") in ctl.info(PASSKEY_LOCK)


def test_pair_after_comparing_numbers(bluetoothctl):
    ctl = bluetoothctl()
    ctl.find(COMPARISON_LOCK)
    ctl.do(f"pair {COMPARISON_LOCK}", r"\[agent\] Confirm passkey \d{6} \(yes/no\):")
    ctl.do("yes", "Pairing successful")
    ctl.send("menu gatt")
    assert ctl.read("ffa1") == b"shut".hex()


def test_a_refused_comparison_pairs_nothing(bluetoothctl):
    ctl = bluetoothctl()
    ctl.find(COMPARISON_LOCK)
    ctl.do(f"pair {COMPARISON_LOCK}", r"Confirm passkey")
    ctl.do("no", r"Failed to pair: org.bluez.Error.AuthenticationFailed")
    assert ("Paired", "no") in ctl.info(COMPARISON_LOCK)


def test_disconnect_and_remove(bluetoothctl):
    ctl = bluetoothctl()
    ctl.connect(HEART_RATE)
    ctl.do(f"disconnect {HEART_RATE}", f"Device {HEART_RATE} ServicesResolved: no")
    ctl.expect(f"Device {HEART_RATE} Connected: no")
    # The attributes stay, as a cache, until the device goes.
    ctl.do(f"remove {HEART_RATE}", r"\[DEL\] Primary Service.*service0008.*"
           rf"\[DEL\] Device {HEART_RATE} Heart Rate.*Device has been removed")
    ctl.do(f"connect {HEART_RATE}", f"Device {HEART_RATE} not available")


def test_a_second_program_sees_and_ends_the_link(bluetoothctl):
    first, second = bluetoothctl(), bluetoothctl()
    first.connect(HEART_RATE)
    assert ("Connected", "yes") in second.info(HEART_RATE)
    second.do(f"disconnect {HEART_RATE}", "Successful disconnected")
    first.expect(f"Device {HEART_RATE} Connected: no")


def test_what_one_adapter_serves_another_reads_and_writes(bluetoothctl):
    server = bluetoothctl(HCI1)
    server.send("menu advertise")
    server.send("name Probe")
    server.send("uuids 0xFFE0")
    server.send("manufacturer 0x05f1 1 2")
    server.send("back")
    server.do("advertise on", rf"Controller {HCI1} ActiveInstances: 0x01 \(1\).*Advertising object registered")
    server.send("menu gatt")
    server.do("register-service 0xFFE0", r"Primary \(yes/no\):")
    server.send("yes")
    server.do("register-characteristic 0xFFE1 read,write,notify", "Enter value:")
    server.send("0x01 0x02")
    server.do("register-descriptor 0xFFE2 read,write", "Enter value:")
    server.send("0x09")
    server.do("register-application", "Application registered")

    client = bluetoothctl()
    client.connect(HCI1)
    client.send("menu gatt")
    assert client.read("ffe1") == "0102"
    server.expect(rf"chrc0 \(Unknown\)\] ReadValue: {HCI0} offset 0 link LE")
    client.send('write "7 8"')
    server.expect(rf"chrc0 \(Unknown\)\] WriteValue: {HCI0} offset 0 link LE")
    assert client.read("ffe1") == "0708"
    assert client.read("ffe2") == "09"
    client.send("write 10")
    server.expect(rf"desc0 \(Unknown\)\] WriteValue: {HCI0} offset 0 link LE")
    assert client.read("ffe2") == "0a"
