#if Emulator
import BluetoothEmulator
import CoreBluetoothClasses
import Foundation
import Testing

/// The steps of a world file's script, as an app sees them.
///
/// The app is connected after 5 s; the first step is at 10 s.
@Suite struct ScriptedWorldTests {
    /// Reads a world file with a device and a script, and starts an app in the world.
    private func app(
        _ script: String, faults: String = "[]", _ configuration: EmulatorConfiguration = .instant
    ) async throws -> (app: EmulatedApp, device: EmulatedDevice) {
        let json = """
            {"devices": [{"name": "Lock", "advertising": [{}], "faults": \(faults), "services": [{"uuid": "180F",
              "characteristics": [{"uuid": "2A19", "properties": ["read"], "value": "01"}]}]}], "script": \(script)}
            """
        let emulator = try Emulator(
            world: WorldDescription(json: Data(json.utf8)), configuration: configuration, time: .virtual)
        return (try await EmulatedApp(emulator), try #require(emulator.devices.first))
    }

    /// Connects the app to the device, until 5 s.
    private func connect(
        _ world: (app: EmulatedApp, device: EmulatedDevice)
    ) async throws -> (CBPeripheral, CBCharacteristic) {
        let peripheral = try await world.app.retrieve(world.device)
        let level = try #require(try await world.app.connect(peripheral).first)
        try await world.app.emulator.advance(by: .seconds(5) - world.app.emulator.now)
        return (peripheral, level)
    }

    @Test func aResetOfTheDeviceIsALinkThatIsLostAfterTheSupervisionTimeout() async throws {
        let world = try await app(#"[{"at": "10 s", "device": "Lock", "reset": true}]"#)
        let (peripheral, _) = try await connect(world)
        #expect(try await world.app.lines(within: 8) == [])
        #expect(try await world.app.lines(within: 2) == ["disconnected disconnected CBError 6"])
        #expect(try await world.app.lines { world.app.manager.connect(peripheral) } == ["connected connected"])
    }

    @Test func aDeviceWithANewAddressIsDiscoveredAsAnother() async throws {
        let (app, device) = try await app(#"[{"at": "10 s", "device": "Lock", "rotateAddress": true}]"#)
        let first = device.identifier()
        let before = try await app.lines(within: 8) { app.manager.scanForPeripherals(withServices: nil) }
        #expect(before.count == 1)
        let after = try await app.lines(within: 5)
        #expect(after.count == 1 && after.allSatisfy { $0.hasPrefix("discovered") }, "\(after)")
        #expect(first != device.identifier())
    }

    @Test func clearedFaultsAreNoLongerErrorsOfTheApp() async throws {
        let world = try await app(
            #"[{"at": "10 s", "device": "Lock", "clearFaults": true}]"#,
            faults: #"[{"step": "read", "what": "fail", "always": true}]"#)
        let (peripheral, level) = try await connect(world)
        #expect(try await world.app.lines(within: 6) { peripheral.readValue(for: level) } == ["value [] CBATTError 14"])
        #expect(try await world.app.lines { peripheral.readValue(for: level) } == ["value [1]"])
    }

    @Test func aPausedReadIsAnsweredWhenTheScriptResumesIt() async throws {
        let world = try await app(
            #"[{"at": "10 s", "device": "Lock", "resume": true}]"#, faults: #"[{"step": "read", "what": "pause"}]"#)
        let (peripheral, level) = try await connect(world)
        #expect(try await world.app.lines(within: 4) { peripheral.readValue(for: level) } == [])
        #expect(try await world.app.lines(within: 2) == ["value [1]"])
    }

    @Test(arguments: [
        (
            #"{"at": "10 s", "host": "default", "powered": false}, {"at": "12 s", "host": "default", "powered": true}"#,
            "poweredOff"
        ),
        (
            #"{"at": "10 s", "host": "default", "plugged": false}, {"at": "12 s", "host": "default", "plugged": true}"#,
            "unsupported"
        ),
        (#"{"at": "10 s", "host": "default", "resetting": "2 s"}"#, "resetting"),
    ])
    func aHostThatLosesItsAdapterChangesItsStateAndLosesItsLinksInSilence(steps: String, state: String) async throws {
        let world = try await app("[\(steps)]")
        let (peripheral, _) = try await connect(world)
        #expect(try await world.app.lines(within: 4) == [])
        #expect(peripheral.state == .connected)
        #expect(try await world.app.lines(within: 2) == ["state \(state)"])
        #expect(peripheral.state == .disconnected)
        #expect(try await world.app.lines(within: 2) == ["state poweredOn"])
        // Below poweredOff, the app's objects become invalid.
        let again = try await world.app.retrieve(world.device)
        #expect(try await world.app.lines { world.app.manager.connect(again) } == ["connected connected"])
    }

    @Test func interferenceEndsALinkAndDelaysTheNextUntilItIsOver() async throws {
        let world = try await app(#"[{"at": "10 s", "interference": 1}, {"at": "30 s", "interference": 0}]"#, .default)
        let (peripheral, level) = try await connect(world)
        #expect(try await world.app.lines(within: 6) == [])
        #expect(
            try await world.app.lines(within: 6) { peripheral.readValue(for: level) }
                == ["disconnected disconnected CBError 6"])
        #expect(try await world.app.lines(within: 12) { world.app.manager.connect(peripheral) } == [])
        #expect(try await world.app.lines(within: 5) == ["connected connected"])
    }
}
#endif
