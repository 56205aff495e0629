"""Home Assistant's scanner (habluetooth) and its list of adapters (bluetooth-adapters)."""

import json

import pytest

from world import *


# Home Assistant scans passively until something asks for more: AUTO begins as PASSIVE.
@pytest.mark.parametrize("mode, effective", [("active", "active"), ("passive", "passive"), ("auto", "passive")])
def test_scanner(world, mode, effective):
    result = json.loads(python("home_assistant.py", mode, timeout=60).splitlines()[-1])
    assert result["adapters"] == {
        "hci0": {"address": HCI0, "passive_scan": True, "advertise": True},
        "hci1": {"address": HCI1, "passive_scan": True, "advertise": True},
    }
    names = {
        HEART_RATE: ("Heart Rate", ["180D"], {}), ATTRIBUTES: ("Attributes", ["FFF0"], {}),
        PASSKEY_LOCK: ("Passkey Lock", ["FFA0"], {}), COMPARISON_LOCK: ("Comparison Lock", ["FFA0"], {}),
        PLAIN_LOCK: ("Plain Lock", ["FFA0"], {}), BEACON: ("Beacon", [], {"1521": "010203"}),
    }
    heard = {
        address: {"name": name, "source": HCI0, "service_uuids": [uuid(u) for u in uuids], "manufacturer_data": data}
        for address, (name, uuids, data) in names.items()
    }
    # The second round is a scan that was stopped and started again.
    assert result["rounds"] == [{"heard": heard, "scanning": True, "mode": effective}] * 2
