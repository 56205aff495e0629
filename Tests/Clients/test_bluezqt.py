"""KDE's BluezQt, compiled against Debian's libkf5bluezqt-dev."""

import subprocess

import pytest

from world import *

HEADERS = Path("/usr/include/KF5")


def test_bluezqt_starts_connects_and_switches_off(world, tmp_path):
    if not (HEADERS / "BluezQt/BluezQt").exists() or not has("g++"):
        pytest.skip("Debian's package libkf5bluezqt-dev or g++ is missing")
    qt = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "Qt5Core", "Qt5DBus"], capture_output=True, text=True, check=True)
    program = str(tmp_path / "bluezqt")
    run(
        "g++", "-fPIC", f"-I{HEADERS}/BluezQt", f"-I{HEADERS}", str(HERE / "programs/bluezqt.cpp"), "-o", program,
        "-lKF5BluezQt", *qt.stdout.split(), timeout=120)
    output = run(program, HEART_RATE)
    for line in ["init 0 adapters 2", "discover 0 ", "connect 0 ", "disconnect 0 ", "off 0 "]:
        assert line + "\n" in output, output
