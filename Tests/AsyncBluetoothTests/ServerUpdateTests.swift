import AsyncBluetooth
import BluetoothEmulator
import BluetoothSupport
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Synchronization
import Testing

/// Values that a server sends without waiting: by itself while devices subscribe, and as the answer to writes.
@Suite(.emulator(.instant)) struct ServerUpdateTests {
    private static let uuid = CBUUID(string: "FFF0")

    /// Returns a published server and a client in one world, and the server's events.
    private func meet(
        _ characteristics: [ServedCharacteristic], settings: PeripheralServer.Settings = .init()
    ) async throws -> (PeripheralServer, Peripheral, Log<PeripheralServer.Event>) {
        let fixture = Fixture()
        let events = Log<PeripheralServer.Event>()
        let server = PeripheralServer(
            backend: .emulator(fixture.emulator), settings: settings, onEvent: { events.append($0) })
        let central = fixture.makeCentral()
        let peripheral = try await fixture.run {
            try await server.add(ServedService(Self.uuid, characteristics: characteristics))
            try await server.startAdvertising(name: "Server", services: [Self.uuid])
            return try await Fixture.first(central)
        }
        return (server, peripheral, events)
    }

    @Test func whatIsSentComesInOrderAndBeyondTheLimitNotAtAll() async throws {
        let (server, peripheral, _) = try await meet(
            [ServedCharacteristic(CBUUID(string: "FFF1"), .notify)], settings: .init(updateLimit: 50))
        let (accepted, received) = try await Fixture().run {
            let values = try await peripheral.subscribe(to: "FFF0/FFF1")
            let accepted = (0..<200).filter { server.send(Data([UInt8($0)]), of: "FFF0/FFF1") }
            var received: [Int] = []
            for try await value in values {
                received += value.map { Int($0) }
                if received.count == accepted.count { break }
            }
            return (accepted, received)
        }
        #expect(received == accepted)
        #expect(accepted.count >= 50 && accepted.count < 200)
        #expect(!server.send(Data(), of: "FFF0/FFF9"))
    }

    @Test func aTaskRunsWhileDevicesSubscribeAlsoWhereTheTestAdvancesTime() async throws {
        let emulator = Fixture().emulator
        let ends = Log<String>()
        let (server, peripheral, _) = try await meet([
            ServedCharacteristic(
                CBUUID(string: "FFF1"), .notify,
                whileSubscribed: { characteristic in
                    defer { ends.append("\(characteristic.id)") }
                    for number in UInt8(0)... {
                        try await characteristic.sleep(for: .seconds(1))
                        characteristic.send(Data([number]))
                    }
                })
        ])
        let values = try await Fixture().run { try await peripheral.subscribe(to: "FFF0/FFF1") }
        try await emulator.advance(by: .seconds(5))
        #expect(ends.values.isEmpty)
        let received = try await Fixture().run {
            var received: [UInt8] = []
            for try await value in values {
                received += value
                if received.count == 5 { break }
            }
            await peripheral.disconnect()
            return received
        }
        #expect(received == [0, 1, 2, 3, 4])
        try await emulator.advance(by: .seconds(5))
        #expect(ends.values == ["FFF0/FFF1"])
        withExtendedLifetime(server) {}
    }

    @Test func whatAWriteHandlerSendsFollowsTheResponse() async throws {
        let fixture = Fixture()
        let box = Lock<PeripheralServer?>(nil)
        let (server, peripheral, events) = try await meet([
            ServedCharacteristic(
                CBUUID(string: "FFF1"), [.write, .indicate],
                onWrite: { request in
                    box.withLock { $0 }?.send(Data([0x10]) + request.value, of: "FFF0/FFF1")
                })
        ])
        box.withLock { $0 = server }
        let answer = try await fixture.run {
            try await peripheral.exchange(Data([7]), writingTo: "FFF0/FFF1", notifiedBy: "FFF0/FFF1")
        }
        box.withLock { $0 = nil }
        #expect(answer == Data([0x10, 7]))
        let order = events.values.compactMap { event -> String? in
            switch event {
            case .wrote(let request, let id, let error): "wrote \(id) \([UInt8](request.value)) \(error == nil)"
            case .notified(let id, let value, _): "notified \(id) \([UInt8](value))"
            default: nil
            }
        }
        #expect(order == ["wrote FFF0/FFF1 [7] true", "notified FFF0/FFF1 [16, 7]"])
    }

    @Test func eventsNameRequestsAndTheirResults() async throws {
        let (server, peripheral, events) = try await meet([
            ServedCharacteristic(
                CBUUID(string: "FFF1"), [.read, .write], onRead: { _ in Data([5]) },
                onWrite: { _ in throw CBATTError(.insufficientResources) })
        ])
        try await Fixture().run {
            _ = try await peripheral.read("FFF0/FFF1")
            await #expect(throws: BluetoothError.self) { try await peripheral.write(Data([6]), to: "FFF0/FFF1") }
        }
        let texts = events.values.map { event in
            switch event {
            case .stateChanged(let state): "state \(state)"
            case .published(let ids): "published \(ids)"
            case .advertising(let services): "advertising \(services)"
            case .read(_, let id, _, .success(let value)): "read \(id) \([UInt8](value))"
            case .wrote(let request, let id, let error?):
                "\(id) refused \([UInt8](request.value)) \(error.code.rawValue)"
            default: "\(event)"
            }
        }
        #expect(
            texts == [
                "state poweredOn", "published [FFF0]", "advertising [FFF0]", "read FFF0/FFF1 [5]",
                "FFF0/FFF1 refused [6] \(CBATTError.insufficientResources.rawValue)",
            ])
        server.withdrawAll()
        #expect(!server.isAdvertising)
        #expect(server.subscribers(of: "FFF0/FFF1").isEmpty)
    }

    @Test func aValueCanGoToOneSubscriberAlone() async throws {
        let fixture = Fixture()
        let (server, peripheral, events) = try await meet([ServedCharacteristic(CBUUID(string: "FFF1"), .notify)])
        let received = try await fixture.run {
            let values = try await peripheral.subscribe(to: "FFF0/FFF1")
            let subscribers = server.subscribers(of: "FFF0/FFF1")
            server.send(Data([1]), of: "FFF0/FFF1", to: [])
            server.send(Data([2]), of: "FFF0/FFF1", to: subscribers)
            for try await value in values { return value }
            return Data()
        }
        #expect(received == Data([2]))
        let receivers = events.values.compactMap { event -> Set<UUID>? in
            if case .notified(_, _, let receivers) = event { receivers } else { nil }
        }
        #expect(receivers.map(\.count) == [0, 1])
    }

    @Test func aServiceIncludesOneThatIsPublished() async throws {
        let fixture = Fixture()
        let server = fixture.makeServer()
        let central = fixture.makeCentral()
        let inner = CBUUID(string: "FFF7")
        let included = try await fixture.run {
            let missing = ServedService(Self.uuid, includes: ["FFF7"], characteristics: [])
            await #expect(throws: BluetoothError.self) { try await server.add(missing) }
            let id = try await server.add(ServedService(inner, isPrimary: false, characteristics: []))
            try await server.add(ServedService(Self.uuid, includes: [id], characteristics: []))
            try await server.startAdvertising(services: [Self.uuid])
            return try await Fixture.first(central).includedServices(of: "FFF0")
        }
        #expect(included == ["FFF7"])
    }

    @Test func descriptorsArePublished() async throws {
        let format = Data([0x04, 0, 0x00, 0x27, 1, 0, 0])
        let (server, peripheral, _) = try await meet([
            ServedCharacteristic(
                CBUUID(string: "FFF1"), .read, userDescription: "Level", descriptors: [CBUUID(string: "2904"): format],
                onRead: { _ in Data([5]) })
        ])
        let values = try await Fixture().run {
            (
                try await peripheral.read(descriptor: "FFF0/FFF1/2901"),
                try await peripheral.read(descriptor: "FFF0/FFF1/2904")
            )
        }
        #expect(values.0 == .text("Level"))
        #expect(values.1 == .data(format))
        withExtendedLifetime(server) {}
    }
}
