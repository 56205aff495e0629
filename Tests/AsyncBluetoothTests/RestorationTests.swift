import AsyncBluetooth
import BluetoothEmulator
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

@Suite(.emulator(.instant)) struct RestorationTests {
    @Test func whatAnEarlierProcessLeftIsHandedOverAndWorks() async throws {
        let stage = Stage()
        try stage.emulator.add(.gadget)
        try await leave(stage)
        let restored = Log<Peripheral>()
        let central = Central(
            backend: .emulator(stage.emulator), restoreIdentifier: "app", taskExecutor: stage.executor,
            onRestore: { for peripheral in $0.peripherals { restored.append(peripheral) } })
        let value = try await stage.play {
            try await central.waitUntilPoweredOn()
            return try await restored.values.first?.read("FFF0/FFF1")
        }
        #expect(restored.values.map(\.name) == ["Gadget"])
        #expect(value == Data([1]))
        #expect(stage.count(of: " connect ") == 1)
    }

    /// An app that the system ends while it is connected.
    private func leave(_ stage: Stage) async throws {
        let central = Central(
            backend: .emulator(stage.emulator), restoreIdentifier: "app", taskExecutor: stage.executor)
        let gadget = try await stage.play {
            let gadget = try await Stage.first(central)
            try await gadget.connect()
            return gadget
        }
        stage.emulator.host.terminateApp(restoreIdentifier: "app")
        try await stage.emulator.advance(by: .seconds(1))
        withExtendedLifetime(gadget) {}
    }
}
