#!/usr/bin/env python3
"""record FILE [--experimental | GROUP…]: makes the calls of all groups, of the groups that need an experimental daemon, or of
the given groups, to `org.bluez` on the system bus, and adds the answers to FILE, as JSON. If a group fails, the next ones
still run, and the exit status is 1."""
import asyncio
import json
import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dialects.calls import EXPERIMENTAL, GROUPS  # noqa: E402
from dialects.client import Client, Log  # noqa: E402


async def main(file: Path, groups: dict) -> int:
    log = Log(json.loads(file.read_text()) if file.exists() else {})
    status = 0
    for name, group in groups.items():
        # Each group has a separate bus connection, which ends its sessions and registrations.
        async with await Client.open(log) as client:
            try:
                await group(client)
            except Exception:
                print(f"record: {name} ended after {list(log.records)[-1:]}", file=sys.stderr)
                traceback.print_exc()
                status = 1
        file.write_text(json.dumps(log.records, indent=1) + "\n")
        print(f"record: {name}: {len(log.records)} records", flush=True)
    return status


def chosen(names: list[str]) -> dict:
    if not names:
        return GROUPS
    if names == ["--experimental"]:
        return EXPERIMENTAL
    known = GROUPS | EXPERIMENTAL
    if unknown := set(names) - known.keys():
        sys.exit(f"record: no group {unknown.pop()!r} among {', '.join(known)}")
    return {name: group for name, group in known.items() if name in names}


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    sys.exit(asyncio.run(main(Path(sys.argv[1]), chosen(sys.argv[2:]))))
