import BluetoothBackend
import BluetoothSupport
import BluetoothTracing
import Testing

@testable import BluetoothEmulator

/// The trace of a world names hosts, devices and attributes.
@Suite struct TraceTests {
    @Test func aControlNamesItsDeviceAndTheValueInWords() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(.heartRateMonitor(batteryLevel: 90))
        device.notify(CharacteristicPath("2A19", service: "180F"), value: Data([87]))
        device.setProximity(.far)
        fixture.emulator.host.setPower(false)
        try await fixture.emulator.runUntilIdle()
        let controls = fixture.emulator.trace.filter { $0.category == .simulation }
        let source = "device 1 \"Heart Rate Monitor\""
        #expect(
            controls.map(\.description) == [
                "0.000000000 < \(source): added",
                "0.000000000 < \(source): notify characteristic=180F/2A19 value=0x57:\"87 %\"",
                "0.000000000 < \(source): setProximity proximity=far",
                "0.000000000 < host \"default\": setPower isOn=false",
            ])
        #expect(controls.map(\.device) == Array(repeating: "Heart Rate Monitor", count: 3) + [nil])
        #expect(controls[1].attribute == "180F/2A19" && controls[1].meaning == "87 %")
    }

    @Test func aRolesLinesNameItsHost() async throws {
        let emulator = try Emulator(world: WorldDescription(hosts: [HostDescription(name: "phone")]), time: .virtual)
        for adapter in [nil, "phone"] {
            emulator.makeCentral(RoleOptions(adapter: adapter)).activate(RecordingSink())
        }
        try await emulator.runUntilIdle()
        let states = emulator.trace.filter { $0.name == "stateChanged" }
        #expect(states.map(\.host) == ["default", "phone"])
        #expect(states.last?.description.contains(" > phone central 2: stateChanged state=poweredOn") == true)
    }

    @Test func theNotesOfAnEmulatorJoinTheTraceOfItsManagers() async throws {
        let fixture = Fixture()
        let traced = TracingBackend(around: fixture.emulator, to: .memory, showsValues: true)
        let tap = EnvironmentTraceNotes.add(to: traced.trace, from: fixture.emulator)
        let device = try fixture.emulator.add(ContractPeer.description)
        device.inject(DeviceFault(.connect, .fail()))
        device.notify("C0DE", value: Data([1]))
        let central = traced.makeCentral(RoleOptions())
        central.activate(fixture.sink)
        try await fixture.wait { $0 == .stateChanged(.poweredOn) }
        central.submit(
            .connect(peer: try #require(device.identifier()), operation: op(1), options: ConnectOptions()))
        try await fixture.wait { if case .connectFailed = $0 { true } else { false } }
        tap.cancel()
        let lines = traced.trace.entries.map { String($0.description.drop { $0 != " " }.dropFirst()) }
        let source = "< device 1 \"Contract Peer\": "
        #expect(
            lines.filter { $0.hasPrefix("<") && $0.contains("device") } == [
                source + "added", source + "inject step=connect effect=\"fail 14\"",
                source + "notify characteristic=C0DE value=0x01",
            ])
        #expect(lines.contains("! control ignored: device 1 has no characteristic C0DE"))
        #expect(lines.contains("! \"Contract Peer\": fault applied to connect: fail 14"))
        #expect(lines.contains { $0.hasPrefix("> central 1: connectFailed") })
    }

    @Test func faultsAndLostPacketsNameTheirDevice() {
        var notes = TraceNotes()
        func line(_ kind: TapEvent.Kind) -> String? {
            notes.entry(for: TapEvent(time: .seconds(2), kind: kind))?.description
        }
        #expect(line(.note("before")) == nil, "what was before the tap began is not traced")
        #expect(line(.began) == nil)
        #expect(line(.packetsLost(link: 9, count: 1)) == "2.000000000 ! 1 packet lost")
        #expect(line(.dropped(3)) == "2.000000000 ! 3 notes dropped: too many at once")
        let control = TapEvent.Kind.control(source: "handler", "respond", words: "answers", device: nil)
        #expect(line(control) == "2.000000000 < handler: respond")
    }
}
