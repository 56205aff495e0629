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
            backend: .emulator(stage.emulator), restoreIdentifier: "app", taskExecutor: stage.emulator.executor,
            onRestore: { for peripheral in $0.peripherals { restored.append(peripheral) } })
        let value = try await stage.play {
            try await central.waitUntilPoweredOn()
            return try await restored.values.first?.read("FFF0/FFF1")
        }
        #expect(restored.values.map(\.name) == ["Gadget"])
        #expect(value == Data([1]))
        #expect(stage.count(of: " connect ") == 1)
    }

    /// A service whose value says which process answers.
    private static func service(_ number: UInt8) -> ServedService {
        ServedService(
            CBUUID(string: "FFF0"),
            characteristics: [
                ServedCharacteristic(CBUUID(string: "FFF1"), [.read, .notify], onRead: { _ in Data([number]) })
            ])
    }

    /// A server that the system ends while it advertises, and the next one.
    private func restart(
        _ stage: Stage, restoring services: [ServedService], _ restored: Log<RestoredServer>
    ) async throws -> PeripheralServer {
        let first = PeripheralServer(backend: .emulator(stage.emulator), restoreIdentifier: "server")
        try await stage.play {
            try await first.add(Self.service(1))
            try await first.startAdvertising(name: "Server", services: [CBUUID(string: "FFF0")])
        }
        for host in stage.emulator.hosts { host.terminateApp(restoreIdentifier: "server") }
        try await stage.emulator.advance(by: .seconds(1))
        withExtendedLifetime(first) {}
        let second = PeripheralServer(
            backend: .emulator(stage.emulator), restoreIdentifier: "server", restoring: services,
            onRestore: { restored.append($0) })
        try await stage.play { try await second.waitUntilPoweredOn() }
        return second
    }

    @Test func theServicesOfAnEarlierServerAreAnsweredByTheNextOne() async throws {
        let stage = Stage()
        let restored = Log<RestoredServer>()
        let server = try await restart(stage, restoring: [Self.service(2)], restored)
        #expect(restored.values.map(\.services) == [["FFF0"]])
        #expect(restored.values.first?.unanswered == [])
        #expect(restored.values.first?.advertisement?.localName == "Server")
        let central = stage.makeCentral()
        let values = try await stage.play { () -> [Data] in
            let peripheral = try await Stage.first(central)
            let values = try await peripheral.subscribe(to: "FFF0/FFF1")
            let read = try await peripheral.read("FFF0/FFF1")
            try await server.notify(Data([3]), of: "FFF0/FFF1")
            for try await value in values { return [read, value] }
            return [read]
        }
        #expect(values == [Data([2]), Data([3])])
    }

    @Test func aRestoredServiceWithoutHandlersIsToldAndRefusesAndCanBeRemoved() async throws {
        let stage = Stage()
        let restored = Log<RestoredServer>()
        let server = try await restart(stage, restoring: [], restored)
        #expect(restored.values.map(\.unanswered) == [["FFF0"]])
        let central = stage.makeCentral()
        let reasons = try await stage.play { () -> [BluetoothError.Reason] in
            let peripheral = try await Stage.first(central)
            var reasons: [BluetoothError.Reason] = []
            for isThere in [true, false] {
                if !isThere {
                    await peripheral.disconnect()
                    server.remove("FFF0")
                }
                do {
                    _ = try await peripheral.read("FFF0/FFF1")
                } catch let error as BluetoothError {
                    reasons.append(error.reason)
                }
            }
            return reasons
        }
        guard reasons.count == 2, case .refused(let cause as CBATTError) = reasons[0],
            case .missingServices = reasons[1]
        else {
            Issue.record("\(reasons)")
            return
        }
        #expect(cause.code == .readNotPermitted)
    }

    /// An app that the system ends while it is connected.
    private func leave(_ stage: Stage) async throws {
        let central = Central(backend: .emulator(stage.emulator), restoreIdentifier: "app")
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
