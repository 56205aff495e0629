import BluetoothBackend
import Foundation
import Testing

@testable import BluetoothEmulator

/// Worlds whose devices and hosts change by a script.
@Suite struct ScriptTests {
    /// A world with a step of each kind.
    static let world = WorldDescription(
        hosts: [HostDescription(name: "second")],
        devices: [
            PeripheralDescription(
                name: "Tag", advertising: [AdvertisingDescription(AdvertisingData())],
                services: [
                    ServiceDescription(
                        "180F",
                        characteristics: [
                            CharacteristicDescription("2A19", [.read, .notify], value: Data([100]), maximumLength: 1)
                        ])
                ])
        ], preset: .instant,
        script: [
            ScriptStep(at: .seconds(2), .device("Tag", .setValue(Data([50]), of: "2A19"))),
            ScriptStep(
                at: .seconds(3),
                .device("Tag", .setValue(Data([40]), of: .init("2A19", service: "180F"), isNotified: false))),
            ScriptStep(at: .seconds(4), .device("Tag", .inject(DeviceFault(.read, .fail(), of: "2A19")))),
            ScriptStep(at: .seconds(5), .device("Tag", .setProximity(.outOfRange))),
            ScriptStep(at: .milliseconds(5500), .device("Tag", .setProximity(.near))),
            ScriptStep(at: .seconds(6), .device("Tag", .setRSSI(-81))),
            ScriptStep(at: .seconds(7), .device("Tag", .disconnect)),
            ScriptStep(at: .seconds(8), .device("Tag", .setAdvertising(false))),
            ScriptStep(at: .seconds(9), .host("second", .setPower(false))),
            ScriptStep(at: .seconds(10), .host("second", .setPower(true))),
            ScriptStep(at: .seconds(11), .device("Tag", .reset)),
            ScriptStep(at: .seconds(12), .device("Tag", .rotateAddress)),
            ScriptStep(at: .seconds(13), .device("Tag", .clearFaults)),
            ScriptStep(at: .seconds(14), .device("Tag", .resume)),
            ScriptStep(at: .seconds(15), .host("second", .setPlugged(false))),
            ScriptStep(at: .seconds(16), .host("second", .setPlugged(true))),
            ScriptStep(at: .seconds(17), .host("second", .reset(for: .milliseconds(500)))),
            ScriptStep(at: .seconds(18), .interference(0.3)),
            ScriptStep(at: .seconds(19), .interference(0)),
        ])

    private func mistake(_ steps: String) -> String? {
        let json = """
            {"devices": [{"name": "Tag", "services": [{"uuid": "180F", "characteristics": [
              {"uuid": "2A19", "properties": ["read"], "maximumLength": 1}]}]},
              {"name": "Twin", "count": 2}], "script": [\(steps)]}
            """
        return #expect(throws: DescriptionError.self) { try WorldDescription(json: Data(json.utf8)) }?.description
    }

    @Test func aConnectedAppSeesTheStoryAtItsInstants() async throws {
        var world = Self.world
        // Connecting takes a few seconds.
        for index in world.script.indices { world.script[index].time += .seconds(10) }
        let emulator = try Emulator(world: world, time: .virtual)
        let fixture = Fixture(emulator: emulator)
        try await fixture.powerOn()
        let device = try #require(emulator.devices.first)
        let link = try await fixture.connect(device)
        let level = try await fixture.attributes(link).characteristic("2A19")
        _ = try await fixture.run(.request(link: link, operation: op(1), .setNotifying(level, true)))
        let start = fixture.events.count
        try await emulator.advance(by: .milliseconds(11_999) - emulator.now)
        #expect(fixture.events(from: start) == [])
        try await emulator.advance(by: .milliseconds(2))
        #expect(fixture.events(from: start) == [.valueNotified(link: link, attribute: level, value: Data([50]))])
        try await emulator.advance(by: .milliseconds(2_500))
        #expect(fixture.events(from: start).count == 1, "a value that is stored is not notified")
        #expect(device.value(of: "2A19") == Data([40]))
        #expect(
            try await fixture.run(.request(link: link, operation: op(2), .read(level)))
                == [.response(link: link, operation: op(2), .failure(.att(14, operation: "read")))])
        try await emulator.advance(by: .milliseconds(17_100) - emulator.now)
        #expect(fixture.events.contains { if case .disconnected(link, _, _, _, _) = $0 { true } else { false } })
    }

    @Test func hostsGoOffAndOn() async throws {
        let emulator = try Emulator(world: Self.world, time: .virtual)
        let host = try #require(emulator.host(named: "second"))
        for (time, state) in [
            (9_200, AdapterState.poweredOff), (10_200, .poweredOn), (15_200, .unsupported), (16_200, .poweredOn),
            (17_200, .resetting), (17_700, .poweredOn),
        ] {
            try await emulator.advance(by: .milliseconds(time) - emulator.now)
            #expect(host.state == state, "\(time) ms")
        }
    }

    @Test func eachStepIsASentence() {
        #expect(
            Self.world.script.map(\.words) == [
                "Tag stores 32 in 2A19 and notifies it", "Tag stores 28 in 2A19",
                "Tag gets a fault. The next read of 2A19 fails with ATT error 0x0E", "Tag moves out of range",
                "Tag moves near", "Tag sets its signal strength to -81 dBm", "Tag closes its links",
                "Tag switches advertising off", "host second switches its adapter off",
                "host second switches its adapter on", "Tag resets", "Tag takes a new private address",
                "Tag no longer has faults", "Tag resumes paused steps", "host second has its adapter unplugged",
                "host second has its adapter plugged in",
                "host second restarts its Bluetooth service, which takes 500 ms",
                "the air loses 30 % of all packets", "the air is free of interference",
            ])
        #expect(ScriptStep(at: .zero, .device("a\nb", .reset)).words == "a\\nb resets")
    }

    @Test func theFieldsOfActionsAreFieldsOfAStep() {
        let others: Set = ["at", "device", "host", "characteristic", "service", "index", "notify"]
        #expect(others.union(ScriptStep.Object.actions) == ScriptStep.Object.fields.names)
        #expect(others.isDisjoint(with: ScriptStep.Object.actions))
    }

    @Test func whatIsOutOfRangeOrSilentIsNotHeard() async throws {
        let emulator = try Emulator(world: Self.world, time: .virtual)
        let fixture = Fixture(emulator: emulator)
        try await fixture.powerOn()
        try await emulator.advance(by: .milliseconds(5_050) - emulator.now)
        fixture.submit(.startScan(ScanParameters(allowDuplicates: true)))
        func heard(until time: Duration) async throws -> [Int] {
            let count = fixture.events.count
            try await emulator.advance(by: time - emulator.now)
            return fixture.events(from: count).compactMap {
                if case .discovered(let discovery) = $0 { discovery.rssi } else { nil }
            }
        }
        #expect(try await heard(until: .milliseconds(5_490)) == [])
        #expect(try await heard(until: .milliseconds(6_000)).isEmpty == false)
        let far = try await heard(until: .seconds(8))
        #expect(!far.isEmpty && far.allSatisfy { abs($0 + 81) < 12 }, "\(far)")
        #expect(try await heard(until: .seconds(12)) == [])
    }

    @Test func eachStepIsInTheTraceAtItsInstant() async throws {
        let emulator = try Emulator(world: Self.world, time: .virtual)
        try await emulator.runUntilIdle()
        #expect(emulator.now < .seconds(1), "a world is idle although its script goes on")
        try await emulator.advance(by: .seconds(20))
        let notes = emulator.trace.filter { $0.text.hasPrefix("script[") }
        #expect(notes.map(\.text) == Self.world.script.indices.map { "script[\($0)]" })
        #expect(notes.map(\.time) == Self.world.script.map(\.time))
        #expect(emulator.trace.count { $0.category == .simulation && $0.time >= .seconds(2) } == notes.count)
    }

    @Test func stepsOfOneInstantHappenInTheirOrder() async throws {
        var world = Self.world
        world.script = [3, 1, 2].map {
            ScriptStep(at: .seconds($0 == 3 ? 2 : 1), .device("Tag", .setValue(Data([$0]), of: "2A19")))
        }
        let emulator = try Emulator(world: world, time: .virtual)
        try await emulator.advance(by: .seconds(1))
        #expect(emulator.devices.first?.value(of: "2A19") == Data([2]))
        try await emulator.advance(by: .seconds(1))
        #expect(emulator.devices.first?.value(of: "2A19") == Data([3]))
    }

    @Test func aSnapshotKeepsTheRestOfTheScript() async throws {
        let emulator = try Emulator(world: Self.world, time: .virtual)
        try await emulator.advance(by: .seconds(1))
        let again = Emulator(restoring: try emulator.snapshot())
        try await again.advance(by: .seconds(2))
        #expect(again.devices.first?.value(of: "2A19") == Data([40]))
    }

    @Test(arguments: [
        (#"{"at": "1 s", "device": "Tap", "rssi": -50}"#, "script[0].device: there is no device \"Tap\""),
        (#"{"at": "1 s", "host": "tablet", "powered": true}"#, "script[0].host: there is no host \"tablet\""),
        (
            #"{"at": "-1 s", "device": "Tag", "rssi": -50}"#,
            "script[0].at: \"-1 s\": a time is a number and a unit: us, ms, s, min or h, as in \"100 ms\""
        ),
        (#"{"device": "Tag", "rssi": -50}"#, "script[0].at: the field is missing"),
        (#"{"at": "1 s", "rssi": -50}"#, "script[0].at: a step names a device or a host"),
        (
            #"{"at": "1 s", "device": "Tag"}"#,
            "script[0].at: a step has one of proximity, rssi, advertising, disconnect, reset, rotateAddress, value, "
                + "fault, clearFaults, resume, powered, plugged, resetting, interference"
        ),
        (
            #"{"at": "1 s", "device": "Tag", "rssi": -50, "proximity": "far"}"#,
            "script[0].rssi: a step has one action, not proximity and rssi"
        ),
        (#"{"at": "1 s", "device": "Tag", "powered": true}"#, "script[0].powered: only a host has it: name a host"),
        (#"{"at": "1 s", "host": "default", "rssi": 1}"#, "script[0].rssi: only a device has it: name a device"),
        (
            #"{"at": "1 s", "host": "default", "device": "Tag", "rssi": 1}"#,
            "script[0].host: a step is about a device or a host, not both"
        ),
        (#"{"at": "1 s", "device": "Tag", "rssi": 21}"#, "script[0].rssi: the signal strength is -127...20 dBm"),
        (#"{"at": "1 s", "device": "Tag", "disconnect": false}"#, "script[0].disconnect: it is true, or left out"),
        (#"{"at": "1 s", "device": "Tag", "reset": false}"#, "script[0].reset: it is true, or left out"),
        (
            #"{"at": "1 s", "device": "Tag", "rotateAddress": false}"#,
            "script[0].rotateAddress: it is true, or left out"
        ),
        (#"{"at": "1 s", "device": "Tag", "clearFaults": false}"#, "script[0].clearFaults: it is true, or left out"),
        (#"{"at": "1 s", "device": "Tag", "resume": false}"#, "script[0].resume: it is true, or left out"),
        (
            #"{"at": "1 s", "device": "Tag", "resume": true, "reset": true}"#,
            "script[0].resume: a step has one action, not reset and resume"
        ),
        (#"{"at": "1 s", "host": "default", "reset": true}"#, "script[0].reset: only a device has it: name a device"),
        (#"{"at": "1 s", "device": "Tag", "plugged": true}"#, "script[0].plugged: only a host has it: name a host"),
        (
            #"{"at": "1 s", "device": "Tag", "resetting": "1 s"}"#,
            "script[0].resetting: only a host has it: name a host"
        ),
        (
            #"{"at": "1 s", "host": "default", "resetting": true}"#,
            "script[0].resetting: text is wanted here"
        ),
        (
            #"{"at": "1 s", "device": "Tag", "interference": 0.1}"#,
            "script[0].interference: it concerns the whole world: name no device and no host"
        ),
        (
            #"{"at": "1 s", "host": "default", "interference": 0.1}"#,
            "script[0].interference: it concerns the whole world: name no device and no host"
        ),
        (#"{"at": "1 s", "interference": 1.1}"#, "script[0].interference: a chance is 0...1"),
        (#"{"at": "1 s", "interference": -0.1}"#, "script[0].interference: a chance is 0...1"),
        (#"{"at": "1 s", "device": "Tag", "value": "01"}"#, "script[0].value: a value has a characteristic"),
        (
            #"{"at": "1 s", "device": "Tag", "rssi": 1, "notify": true}"#,
            "script[0].notify: it belongs to a value, which is missing"
        ),
        (
            #"{"at": "1 s", "device": "Tag", "characteristic": "2A1A", "value": "01"}"#,
            "script[0].characteristic: \"Tag\" has no characteristic 2A1A"
        ),
        (
            #"{"at": "1 s", "device": "Tag", "characteristic": "2A19", "index": 1, "value": "01"}"#,
            "script[0].characteristic: \"Tag\" has no characteristic 2A19 with the index 1"
        ),
        (
            #"{"at": "1 s", "device": "Tag", "characteristic": "2A19", "value": "0102"}"#,
            "script[0].value: 2 bytes do not fit: the characteristic has 1"
        ),
        (
            #"{"at": "1 s", "device": "Tag", "fault": {"step": "read", "what": "fail", "code": 0}}"#,
            "script[0].fault.code: an ATT error code is 1...255"
        ),
    ])
    func anImpossibleStepIsAMistake(step: String, message: String) {
        #expect(mistake(step) == message)
    }

    @Test func anAmbiguousDeviceIsAMistake() {
        let message = mistake(#"{"at": "1 s", "device": "Twin", "rssi": -50}"#)
        #expect(message?.hasPrefix("script[0].device: 2 devices are named \"Twin\": name one by its address, ") == true)
    }

    @Test(arguments: [
        (ScriptStep(at: .seconds(-1), .device("Tag", .disconnect)), "script[0].at: a step is at 0 s or later"),
        (
            ScriptStep(at: .zero, .host("default", .reset(for: .seconds(-1)))),
            "script[0].resetting: a restart takes 0 s or longer"
        ),
        (ScriptStep(at: .zero, .interference(.nan)), "script[0].interference: a chance is 0...1"),
    ])
    func whatNoFileCanSayIsAMistakeOfADescription(step: ScriptStep, message: String) {
        var world = Self.world
        world.script = [step]
        let error = #expect(throws: DescriptionError.self) { try world.validate() }
        #expect(error?.description == message)
    }
}
