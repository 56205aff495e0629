#!/usr/bin/env python3
"""compare VERSION REAL EMULATED: compares the answers of two daemons, and fails if a difference has no reason.

`differences.toml` lists the differences with a reason. Each entry gives patterns for records and lines (`*` matches any
text), the `side` of the lines if it applies to only one, and the `versions` if it is limited to some. An entry that
explains nothing is an error, too.
"""
import json
import sys
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

REASONS = Path(__file__).resolve().parent / "differences.toml"


class Reason:
    """An entry of the list."""

    def __init__(self, entry: dict):
        assert entry.keys() <= {"records", "lines", "side", "versions", "reason"} and entry.get("reason"), entry
        self.records, self.lines = listed(entry["records"]), listed(entry.get("lines", "*"))
        self.side, self.versions = entry.get("side"), entry.get("versions")
        assert self.side in (None, "real", "emulated"), entry
        self.is_used = False

    def explains(self, record: str, side: str, line: str) -> bool:
        matches = (self.side in (None, side) and matches_any(record, self.records) and matches_any(line, self.lines))
        self.is_used = self.is_used or matches
        return matches


def listed(value) -> list[str]:
    return [value] if isinstance(value, str) else value


def matches_any(text: str, patterns: list[str]) -> bool:
    # Brackets are common in records, and match literally.
    return any(fnmatchcase(text, pattern.replace("[", "[[]")) for pattern in patterns)


def differences(real: dict, emulated: dict):
    """The lines that only one side has, as record, side and line."""
    for record in [*real, *(name for name in emulated if name not in real)]:
        ours, theirs = emulated.get(record, ["(no record)"]), real.get(record, ["(no record)"])
        for side, lines, others in (("real", theirs, ours), ("emulated", ours, theirs)):
            yield from ((record, side, line) for line in lines if line not in others)
        if theirs != ours and sorted(theirs) == sorted(ours):
            yield record, "real", f"the order: {theirs}"
            yield record, "emulated", f"the order: {ours}"


def main(version: str, real_file: str, emulated_file: str) -> int:
    real, emulated = (json.loads(Path(file).read_text()) for file in (real_file, emulated_file))
    entries = tomllib.loads(REASONS.read_text()).get("difference", [])
    reasons = [reason for reason in map(Reason, entries) if reason.versions is None or version in reason.versions]
    explained, left, shown = 0, 0, None
    for record, side, line in differences(real, emulated):
        # Every reason is evaluated, so that each applicable one counts as used.
        if any([reason.explains(record, side, line) for reason in reasons]):
            explained += 1
            continue
        left += 1
        if record != shown:
            print(f"{record}:")
            shown = record
        print(f"  {'-' if side == 'real' else '+'} {line}")
    unused = [reason for reason in reasons if not reason.is_used]
    for reason in unused:
        print(f"differences.toml explains nothing: {', '.join(reason.records)}")
    print(f"dialects: {version}: {len(real)} records of the real daemon, {len(emulated)} of the emulated one; "
          f"{explained} lines differ for a reason, {left} without")
    return 1 if left or unused or not real else 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
