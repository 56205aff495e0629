"""bleak's own examples, unchanged, from a copy of its repository: `BLEAK_EXAMPLES` names their folder."""

import os
import sys
from pathlib import Path

import pytest

from world import *

EXAMPLES = Path(os.environ.get("BLEAK_EXAMPLES") or "/nonexistent")

pytestmark = [
    pytest.mark.usefixtures("world"),
    pytest.mark.skipif(not EXAMPLES.is_dir(), reason="BLEAK_EXAMPLES names no folder"),
]


def example(name):
    path = EXAMPLES / name
    if not path.exists():
        pytest.skip(f"this version of bleak has no example {name}")
    return str(path)


def busctl(command, path, name):
    return run("busctl", "--system", command, "org.bluez", path, "org.bluez.Device1", name)


def messages(output):
    """The messages of the example's own log."""
    return [line.split(": ", 1)[1] for line in output.splitlines() if " __main__ " in line]


def test_discover_lists_all_devices():
    output = run(sys.executable, example("discover.py"))
    for address in [HEART_RATE, ATTRIBUTES, PASSKEY_LOCK, COMPARISON_LOCK, PLAIN_LOCK, BEACON]:
        assert address in output


def test_service_explorer_reads_all_characteristics_and_descriptors():
    lines = messages(run(sys.executable, example("service_explorer.py"), "--name", "Attributes"))
    assert lines[:3] == ["starting scan...", "connecting to device...", "connected"]
    assert lines[-2:] == ["disconnecting...", "disconnected"]
    text = "\n".join(lines)
    for part in [
        "[Service] " + uuid("FFF0"),
        "[Characteristic] " + uuid("FFF1"),
        "(read,write-without-response,write), Value: bytearray(b'\\x01\\x02\\x03')",
        "Value: bytearray(b'Color')",
        "[Characteristic] " + uuid("FFF6"),
    ]:
        assert part in text
    # One has no permission to be read, and the other one fails.
    assert text.count(", Error: ") == 2


def test_enable_notifications_prints_heart_rates():
    lines = messages(run(sys.executable, example("enable_notifications.py"), "--address", HEART_RATE, uuid("2A37")))
    values = [line for line in lines if line.startswith("Heart Rate Measurement: ")]
    # Twenty each second for five seconds.
    assert len(values) > 50
    assert set(values) == {f"Heart Rate Measurement: bytearray(b'\\x06{beats}')" for beats in "HIJ"}


def test_disconnect_callback_is_called_when_another_program_disconnects():
    program = Program(sys.executable, "-u", example("disconnect_callback.py"), "--address", HEART_RATE)
    try:
        program.expect("Sleeping until device disconnects...")
        # Without a name, bleak takes any adapter.
        tree = run("busctl", "--system", "--list", "tree", "org.bluez")
        paths = [path for path in tree.split() if path.endswith("/dev_" + HEART_RATE.replace(":", "_"))]
        connected = [path for path in paths if busctl("get-property", path, "Connected").strip() == "b true"]
        assert len(connected) == 1
        busctl("call", connected[0], "Disconnect")
        program.expect("Disconnected callback called!")
        program.expect("Connected: False")
        assert program.wait() == 0
    finally:
        program.close()


def test_detection_callback_scans_for_services():
    program = Program(sys.executable, "-u", example("detection_callback.py"), "--services", uuid("180D"))
    try:
        program.expect(r"\(re\)starting scanner")
        program.expect(HEART_RATE + ": AdvertisementData.*local_name='Heart Rate'.*tx_power=4")
        assert ATTRIBUTES not in program.text
    finally:
        program.close()


def test_scan_iterator_finds_a_long_name():
    lines = run(sys.executable, example("scan_iterator.py")).splitlines()
    assert [line[1] for line in lines if line[2:4] == ". "] == ["5", "4", "3", "2", "1"]
    assert lines[-1].startswith(" Found it BLEDevice(")


def test_pairing_types_the_passkey():
    pytest.importorskip("bleak.pairing", reason="this version of bleak has no callbacks for pairing")
    program = Program(sys.executable, "-u", example("pairing.py"), "--address", PASSKEY_LOCK, "--explicit")
    try:
        program.expect("Enter the passkey shown on")
        program.send("123456")
        program.expect("^paired$")
        assert program.wait() == 0
    finally:
        program.close()
