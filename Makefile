# The front door. `make help` lists the targets.
#
#   NO_INSTALL=1           print the missing packages and stop, instead of installing them
#   ADAPTER=hci0           test-bluez: this machine's BlueZ on that adapter, without a guest
#   PEER_TRANSPORT=usb:1   … and the contract peer on that Bumble transport
#   FUZZ_SECONDS=300       fuzz: how long each fuzzer runs
#   FUZZERS="values stream"  fuzz-code: only these of messages, objects, values, stream, worlds
#   FUZZ_TESTS=HostileFileTests  fuzz-tests: only these of RandomCallsTests, HostileFileTests, HostileWorldFileTests, RandomHostTests
#   FUZZ_SEED=7            fuzz-tests: the random calls and the changed files of an earlier run
#   PROGRAMS=20000         programs: how many
#   FAULTS=1000            fault-programs: how many with each fault
#   HISTORIES=10000        histories: how many of each test
#   FIRST_SEED=1           programs (from 0 on), fault-programs, gateway-days, histories: the seed, or the first one
#   CYCLES=100000          cycles, cycles-bluez: how many
#   DAYS=7                 gateway-days: how many
#   SITE_BASE=/path        site: where it will be served, if not at the root
#   ALLOW_SKIPPED=1        test-bluez: skipped tests do not fail the run
#   PREFIX=/usr/local      install, uninstall: where to
#   DESTDIR=               install, uninstall: a folder that takes the place of /
#   BLUECTL=path           release, deb, tarball, install: a binary that was built elsewhere, …
#   ARCH=arm64             … and its architecture
#   REPRODUCE=1            test-deb: build twice, and compare
#   BUILT=1                test-deb, test-systemd: the packages that were built before
#   SCALE="--seconds 180"  gateway-scale: the options of the run, which `SCALE=--help` lists
#   ROUNDS=3               gateway-compare: passes by turns, and their medians

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# SwiftPM before 6.4 passes the traits in the order of a set, another one in each process, and compiles anew where it
# changes (https://github.com/swiftlang/swift-package-manager/issues/10525). For builds alone: tests hash as programs do.
BUILD := SWIFT_DETERMINISTIC_HASHING=1 swift build
REAL := Tests/RealBlueZ
FAULT_TESTS := CONTRACT_FAULTS=1 CONTRACT_FILTER=BackendContractTests.FaultTests GUEST_DEADLINE=3600
VIRTUAL := ^(AsyncBluetooth|BackendContract|BluetoothBackend|BluetoothEmulator|BluetoothProfiles|RandomProgram)Tests\.
# Of these suites, the one whose time is real.
REALTIME := EmulatedBlueZ
export NO_INSTALL ADAPTER PEER_TRANSPORT ALLOW_SKIPPED SITE_BASE PREFIX DESTDIR BLUECTL ARCH REPRODUCE BUILT

# No target is a file.
.PHONY: $(shell sed -n 's/^\([a-z0-9-]*\):.*/\1/p' Makefile)

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | column -t -s $$'\t'

deps: ## install the Debian or Ubuntu packages that are missing (NO_INSTALL=1: print them and stop)
	@command -v swift >/dev/null || { echo "Swift 6.2 or later is needed: https://www.swift.org/install" >&2; exit 1; }
	@Scripts/need-packages libdbus-1-dev libglib2.0-dev pkg-config dbus util-linux python3

build: deps ## build everything, tests included
	@$(BUILD) --build-tests

demo: deps ## the main job against the emulated heart-rate monitor
	@$(BUILD) --product bluectl
	@.build/debug/bluectl demo

test: build ## all tests that need no adapter
	@Scripts/test-all --skip-build

test-bluez: build ## the contract suite against real bluetoothd: in a guest, or on ADAPTER
	@if [[ -n "$${ADAPTER:-}" ]]; then $(REAL)/on-adapter $(REAL)/contract; else GUEST_DEADLINE=$${GUEST_DEADLINE:-1200} $(REAL)/run $(REAL)/contract; fi

test-controller: build ## the contract on real bluetoothd in the guest, whose controller and peers are emulated; CONTROLLER=usb: a dongle
	@CONTRACT_CONTROLLER=$${CONTROLLER:-vhci} GUEST_PEER=none GUEST_DEADLINE=$${GUEST_DEADLINE:-3000} \
		$(REAL)/run $(REAL)/contract

test-clients: deps ## bluetoothctl, bleak, Home Assistant's scanner and others against an emulated BlueZ
	@$(BUILD) --product bluectl
	@Tests/Clients/run

test-hosts: deps ## Bumble, a Bluetooth stack of its own, attached to an emulated world: as central, as firmware, in each pairing, and with L2CAP channels; a minute and a half
	@$(BUILD) --product bluectl
	@$(BUILD) --product HostsApp
	@Tests/Hosts/run

test-dongle: deps ## `bluectl world dongle` with the guest's kernel and bluetoothd, by USB and by /dev/vhci: unplugged, blocked, suspended; five minutes
	@$(BUILD) --product bluectl
	@GUEST_PEER=none GUEST_DEADLINE=$${GUEST_DEADLINE:-900} $(REAL)/run $(REAL)/dongle-test

test-dialects: deps ## 600 D-Bus calls of real bluetoothd 5.66 and 5.82, in the guest, and of the emulated one: each difference has a reason
	@$(BUILD) --product bluectl
	@$(REAL)/dialects/run

test-remote: build examples ## adapters of other machines over OpenSSH, between network namespaces; needs root
	@Tests/RemoteAdapters/run

test-view: deps ## the live view in a real browser
	@$(BUILD) --product bluectl
	@Tests/Browser/run view

test-report: report-pages ## the pages of failed tests in a real browser: wide and narrow, light and dark; pictures in .build/report-pictures
	@Tests/Browser/run report

report-pages: build
	@COREBLUETOOTH_REPORTS=.build/report-pages Scripts/with-bus swift test --skip-build --filter '^CoreBluetoothTestingTests\.FailureTests'

arm64: ## bluectl for 64-bit ARM, for a Raspberry Pi: .build-arm64/bluectl, built and tried out on x86-64; needs root
	@Tests/ARM64/run bluectl demo

test-arm64: ## the packages, all tests, and the contract suite for 64-bit ARM, under emulation: two hours; needs root
	@Tests/ARM64/run

smoke-bluez: ## the guest, bluetoothd, the peer and the centrals alone, without Swift
	@$(REAL)/run bash -c '$(REAL)/smoke && $(REAL)/smoke-centrals'

faults-bluez: build ## daemons that die, controllers that are unplugged, other programs, and a hundred cycles: ten minutes
	@$(FAULT_TESTS) $(REAL)/run $(REAL)/contract

versions: build examples migration ## the contract with the BlueZ and the kernels of Debian 12, 13 and sid: half an hour; rows of a table of the documentation
	@$(REAL)/versions

faults-dongle: build ## an emulated adapter of the guest's kernel is unplugged, blocked and suspended at each step of an app, CYCLES=100 times in both roles; CONTROLLER=usb: a dongle
	@CONTRACT_CONTROLLER=$${CONTROLLER:-vhci} CONTRACT_CYCLES=$${CYCLES:-100} CONTRACT_FAULTS=1 GUEST_PEER=none \
		CONTRACT_FILTER=BackendContractTests.AdapterFaultTests GUEST_DEADLINE=$${GUEST_DEADLINE:-14400} \
		GUEST_KERNEL=$${GUEST_KERNEL:-trixie} $(REAL)/run $(REAL)/contract

test-bluez-full: versions smoke-bluez faults-bluez soak ## all that, with faults on two versions of BlueZ: an hour
	@GUEST_BLUEZ=trixie GUEST_KERNEL=trixie $(FAULT_TESTS) $(REAL)/run $(REAL)/contract

soak: build ## connections, daemons, adapters and programs that come and go by the thousand leave nothing behind
	@SOAK=1 Scripts/with-bus swift test --skip-build --no-parallel --filter SoakTests

cycles: build ## CYCLES=100000 connections over an emulated bluetoothd: descriptors, match rules, threads and memory stay
	@COREBLUETOOTH_CYCLES=$${CYCLES:-100000} Scripts/with-bus swift test --skip-build --no-parallel --filter ConnectCycleTests

cycles-bluez: build ## CYCLES=1000 connections to a peer over real bluetoothd, in the guest
	@CONTRACT_CYCLES=$${CYCLES:-1000} CONTRACT_FAULTS=1 CONTRACT_FILTER=BackendContractTests.FaultTests/manyCycles \
		GUEST_DEADLINE=$${GUEST_DEADLINE:-7200} $(REAL)/run $(REAL)/contract

fuzz: fuzz-code fuzz-tests ## both of the next: FUZZ_SECONDS=300 for each fuzzer

fuzz-code: deps ## D-Bus messages, the object tree, values, the L2CAP stream and world files, guided by coverage, with AddressSanitizer
	@Scripts/fuzz "$${FUZZ_SECONDS:-300}"

fuzz-tests: build ## captures, recordings, world files in YAML, hosts of HCI ports, and an emulated bluetoothd before the contract
	@FUZZ_SECONDS=$${FUZZ_SECONDS:-300} Scripts/with-bus swift test --skip-build --no-parallel \
		--filter "$${FUZZ_TESTS:-RandomCallsTests|HostileFileTests|HostileWorldFileTests|RandomHostTests}"

fault-programs: build ## FAULTS=1000 random programs in which bluetoothd dies, and as many with an adapter that is unplugged
	@COREBLUETOOTH_FAULT_PROGRAMS=$${FAULTS:-1000} COREBLUETOOTH_FAULT_SEED=$${FIRST_SEED:-1} \
		Scripts/with-bus swift test --skip-build --no-parallel --filter FaultyProgramTests

gateway-days: build ## a gateway on the emulator for DAYS=7 of virtual time, in which devices and the machine fail
	@COREBLUETOOTH_GATEWAY_DAYS=$${DAYS:-7} COREBLUETOOTH_GATEWAY_SEED=$${FIRST_SEED:-1} \
		Scripts/with-bus swift test --skip-build --no-parallel --filter GatewayDaysTests

histories: build ## HISTORIES=10000 radio histories of each client, server and recording of this package: three quarters of an hour
	@COREBLUETOOTH_HISTORIES=$${HISTORIES:-10000} COREBLUETOOTH_SEED=$${FIRST_SEED:-1} \
		swift test --skip-build --no-parallel --filter '\.[A-Z][a-z]+HistoriesTests'

programs: deps ## PROGRAMS=20000 random programs on the emulator, from FIRST_SEED=0 on: a release build; `make test` runs 300
	@Scripts/random-programs "$${PROGRAMS:-20000}" "$${FIRST_SEED:-0}"

sanitize: deps ## the tests under ThreadSanitizer, then AddressSanitizer
	@Scripts/sanitize thread
	@Scripts/sanitize address

sanitize-virtual: deps ## the same, of the suites whose time is virtual: they are right on a crowded machine, too
	@Scripts/sanitize thread '$(VIRTUAL)' '$(REALTIME)'
	@Scripts/sanitize address '$(VIRTUAL)' '$(REALTIME)'

sanitize-migration: deps ## the migration modules under ThreadSanitizer
	@PACKAGE=Migration/CoreBluetoothMock Scripts/sanitize thread
	@PACKAGE=Migration/CoreBluetoothEmulator Scripts/sanitize thread

bench: deps ## the benchmarks, in release
	@Scripts/need-packages libjemalloc-dev
	@$(BUILD) -c release --product bluectl
	@$(BUILD) -c release --package-path Benchmarks --product Job
	@.build/release/bluectl world run Benchmarks/Benchmarks/JobBenchmarks/fifty-devices.json -- \
		swift package --package-path Benchmarks -c release benchmark --no-progress

bench-check: deps ## what a value costs in the jobs of the benchmarks, in instructions and switches of threads, compared with Benchmarks/job-costs.json
	@Scripts/need-packages valgrind binutils
	@$(BUILD) -c release --product bluectl
	@$(BUILD) -c release --package-path Benchmarks --product Job
	@Scripts/bench-check

bench-hci: build ## the times of a Bluetooth stack at a port: reads, notifications, fifty stacks; those of a debug build, which are upper bounds
	@COREBLUETOOTH_FIGURES=1 swift test --skip-build --no-parallel --filter HostFigures | grep "figures:"

docs: deps ## the documentation archives, in .build-docs/archives
	@Scripts/docs

site: deps ## the documentation as a static site, in .build-site, with its links checked
	@Scripts/need-packages python3-venv
	@Scripts/site

test-site: ## the site in a real browser: wide and narrow, light and dark; pictures in .build-site-pictures
	@Tests/Browser/run site

format: ## format the Swift files in place
	@Scripts/lint-swift --fix

lint: deps ## formatting and style, the edges between targets, the generated tables and plots, links, and the limits of `make counts`
	@Scripts/lint-swift
	@Scripts/check-edges
	@Scripts/generate-assigned-numbers --check
	@Scripts/collision-plot --check
	@Scripts/benchmark-plots --check
	@Scripts/check-links
	@Scripts/counts --check > /dev/null

release: ## bluectl with its manual pages and completions, as packages contain it, in .build-packages
	@command -v swift >/dev/null || { echo "Swift 6.2 or later is needed: https://www.swift.org/install" >&2; exit 1; }
	@Scripts/need-packages binutils chrpath dpkg-dev python3 xz-utils
	@Packaging/release

deb: release ## a Debian package of bluectl, in .build-packages
	@Packaging/deb

tarball: release ## an archive of bluectl for other systems, with its bill of materials, in .build-packages
	@Packaging/tarball

install: ## install bluectl in PREFIX=/usr/local, after a release build if there is none
	@Packaging/install

uninstall: ## remove what install installed
	@Packaging/install --remove

test-deb: ## the packages, installed, used and removed in a new Debian: needs root
	@Tests/Packages/run

test-systemd: gateway-deps ## the systemd units of the package and of the gateway, in a container that systemd boots: needs root
	@Tests/Packages/systemd

pictures: report-pages browser ## make the pictures of README and the pages from the running thing: terminal, live view, a failed test
	@.build/browser/bin/python Scripts/pictures

check-pictures: report-pages browser ## compare these pictures with the running thing
	@.build/browser/bin/python Scripts/pictures --check

browser:
	@Scripts/need-packages chromium chromium-driver python3-venv
	@Scripts/python-environment .build/browser Tests/Browser/requirements.txt

plots: deps ## run the benchmark of collisions, and put its table and plot, and those of Benchmarks/results.json, into the documentation
	@Scripts/benchmark-plots
	@Scripts/collision-plot

counts: ## how large files and types are, which names are declared twice, and which old words are left
	@Scripts/counts

traits: deps ## the library with and without each backend, and next to a library that imports it without a dependency
	@Scripts/check-traits

examples: deps ## build the examples and run their tests
	@$(BUILD) --package-path Examples --scratch-path .build --build-tests --disable-xctest
	@swift test --skip-build --package-path Examples --scratch-path .build --disable-xctest

# A package of its own, which needs libmosquitto and SQLite, and whose first build takes minutes.
GATEWAY := Examples/MQTTGateway
gateway-deps: deps
	@Scripts/need-packages libmosquitto-dev libsqlite3-dev mosquitto mosquitto-clients

gateway: gateway-deps ## build the MQTT gateway and run its tests against a real mosquitto
	@$(BUILD) --package-path $(GATEWAY) --build-tests --disable-xctest
	@REQUIRE_MOSQUITTO=1 swift test --skip-build --package-path $(GATEWAY) --disable-xctest

gateway-scale: gateway-deps ## 20 gateways with 50 devices each, a broker that is killed, and gateways that are: ten minutes
	@$(BUILD) -c release --package-path $(GATEWAY) --product gateway-scale
	@$(GATEWAY)/.build/release/gateway-scale $(SCALE)

gateway-home-assistant: gateway-deps ## Home Assistant itself, with the MQTT gateway, emulated devices and a real mosquitto
	@$(BUILD) --package-path $(GATEWAY) --product mqtt-gateway
	@$(GATEWAY)/Tests/HomeAssistant/run

gateway-compare: gateway-deps ## CPU and memory of the MQTT gateway, beside bleak and paho-mqtt
	@$(GATEWAY)/Scripts/compare

migration: deps ## build the migration modules and their sample app, and run their tests
	@Scripts/test-migration

api: build ## list the public API in Documentation/API
	@Scripts/public-api

check-api: build ## compare the public API with its lists; SINCE=1.0.0: fail if anything of that version is gone
	@Scripts/public-api $(if $(SINCE),--since $(SINCE),--check)

samples: deps ## compile every Swift block of the documents, and the fuzzers; run every command of them
	@Scripts/check-samples
	@Scripts/need-packages bluez curl dbus-daemon tshark
	@$(BUILD) --product bluectl
	@Scripts/check-commands
	@Scripts/fuzz --check
