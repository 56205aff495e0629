"""bleak_job.py DEVICES SECONDS: subscribes to so many devices as JobBenchmarks does, and prints the result as JSON."""
import asyncio
import json
import os
import resource
import sys
import time

from bleak import BleakClient, BleakScanner

SERVICE = "0000180d-0000-1000-8000-00805f9b34fb"
RATE = "00002a37-0000-1000-8000-00805f9b34fb"


async def main(devices: int, seconds: int) -> None:
    start = time.monotonic()
    values = 0

    def received(*_) -> None:
        nonlocal values
        values += 1

    async def subscribe(device) -> BleakClient:
        client = BleakClient(device, timeout=60)
        await client.connect()
        await client.start_notify(RATE, received)
        return client

    found = {}
    tasks = []
    async with BleakScanner(service_uuids=[SERVICE]) as scanner:
        async for device, _ in scanner.advertisement_data():
            if device.address not in found:
                found[device.address] = device
                tasks.append(asyncio.create_task(subscribe(device)))
            if len(found) == devices:
                break
    clients = await asyncio.gather(*tasks)
    subscribed = time.monotonic() - start
    values, used = 0, resource.getrusage(resource.RUSAGE_SELF)
    await asyncio.sleep(seconds)
    end = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({
        "subscribed": int(subscribed * 1000), "values": values,
        "processorTime": int((end.ru_utime + end.ru_stime - used.ru_utime - used.ru_stime) * 1_000_000),
        "voluntarySwitches": end.ru_nvcsw - used.ru_nvcsw}), flush=True)
    await asyncio.gather(*(client.disconnect() for client in clients))
    os._exit(0)


asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
