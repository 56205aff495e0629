"""bleak_job.py JOB DEVICES SECONDS: does what the product Job does with the same arguments, and prints the result as JSON."""
import asyncio
import json
import os
import resource
import sys
import time

from bleak import BleakClient, BleakScanner

SERVICE = "0000180d-0000-1000-8000-00805f9b34fb"
RATE = "00002a37-0000-1000-8000-00805f9b34fb"


def memory() -> int:
    with open("/proc/self/status", encoding="utf-8") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


async def main(job: str, devices: int, seconds: int) -> None:
    start = time.monotonic()
    values = 0

    def received(_source, _data) -> None:
        nonlocal values
        values += 1

    async def measure() -> None:
        nonlocal values
        ready = time.monotonic() - start
        values, used = 0, resource.getrusage(resource.RUSAGE_SELF)
        await asyncio.sleep(seconds)
        end = resource.getrusage(resource.RUSAGE_SELF)
        print(json.dumps({
            "ready": int(ready * 1000), "values": values,
            "processorTime": int((end.ru_utime + end.ru_stime - used.ru_utime - used.ru_stime) * 1_000_000),
            "voluntarySwitches": end.ru_nvcsw - used.ru_nvcsw, "memory": memory()}), flush=True)

    async def connect(device) -> BleakClient:
        client = BleakClient(device, timeout=60)
        await client.connect()
        if job == "delegates":
            await client.start_notify(RATE, received)
        return client

    found = set()
    tasks = []
    if job == "scan":
        async with BleakScanner(received) as scanner:
            async for device, _ in scanner.advertisement_data():
                found.add(device.address)
                if len(found) == devices:
                    break
            await measure()
        return
    async with BleakScanner(service_uuids=[SERVICE]) as scanner:
        async for device, _ in scanner.advertisement_data():
            if device.address not in found:
                found.add(device.address)
                tasks.append(asyncio.create_task(connect(device)))
            if len(found) == devices:
                break
    clients = await asyncio.gather(*tasks)
    await measure()
    await asyncio.gather(*(client.disconnect() for client in clients))
    os._exit(0)


asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
