"""home_assistant.py MODE: scans as Home Assistant does until six devices were heard, then stops and starts again.

Prints one JSON object: the adapters, and what was heard. habluetooth replaces classes of bleak, so it runs in a process
of its own.
"""

import asyncio
import json
import sys
import time

from bluetooth_adapters import get_adapters
from habluetooth import BluetoothManager, BluetoothScanningMode, HaScanner, set_manager


async def main(mode):
    adapters = get_adapters()
    manager = BluetoothManager(adapters)
    set_manager(manager)
    await manager.async_setup()
    details = {
        name: {key: adapters.adapters[name][key] for key in ["address", "passive_scan", "advertise"]}
        for name in ["hci0", "hci1"]
    }
    scanner = HaScanner(BluetoothScanningMode(mode), "hci0", details["hci0"]["address"])
    scanner.async_setup()
    unregister = manager.async_register_scanner(scanner)
    rounds = []
    for _ in range(2):
        heard, start = {}, time.monotonic()
        await scanner.async_start()
        while len(heard) < 6 and time.monotonic() < start + 10:
            await asyncio.sleep(0.05)
            for info in manager.async_discovered_service_info(False):
                if info.time > start:
                    heard[info.address] = {
                        "name": info.name, "source": info.source, "service_uuids": info.service_uuids,
                        "manufacturer_data": {
                            str(company): data.hex() for company, data in info.manufacturer_data.items()},
                    }
        rounds.append({"heard": heard, "scanning": scanner.scanning, "mode": scanner.current_mode.value})
        await scanner.async_stop()
    unregister()
    manager.async_stop()
    print(json.dumps({"adapters": details, "rounds": rounds}))


asyncio.run(main(sys.argv[1]))
