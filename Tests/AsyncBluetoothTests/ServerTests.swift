import AsyncBluetooth
import BluetoothEmulator
import BluetoothSupport
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Synchronization
import Testing

@Suite(.emulator(.instant)) struct ServerTests {
    private static let uuid = CBUUID(string: "FFF0")

    /// Returns a server and a client in one world.
    private func meet(
        _ fixture: Fixture, _ characteristics: [ServedCharacteristic]
    ) async throws -> (PeripheralServer, Peripheral) {
        let server = fixture.makeServer()
        let central = fixture.makeCentral()
        let peripheral = try await fixture.run {
            try await server.add(ServedService(Self.uuid, characteristics: characteristics))
            try await server.startAdvertising(name: "Server", services: [Self.uuid])
            return try await Fixture.first(central)
        }
        return (server, peripheral)
    }

    @Test func aReadIsAnsweredByItsHandlerHoweverLongTheValue() async throws {
        let fixture = Fixture()
        let long = Data((0..<400).map { UInt8(truncatingIfNeeded: $0) })
        let clock = fixture.emulator.swiftClock
        let (server, peripheral) = try await meet(
            fixture,
            [
                ServedCharacteristic(
                    CBUUID(string: "FFF1"), .read,
                    onRead: { _ in
                        try await clock.sleep(for: .seconds(1))
                        return long
                    })
            ])
        let value = try await fixture.run { try await peripheral.read("FFF0/FFF1") }
        #expect(value == long)
        #expect(server.isAdvertising)
    }

    @Test func aLongWriteComesToItsHandlerInOnePiece() async throws {
        let fixture = Fixture()
        let written = Log<WriteRequest>()
        let (server, peripheral) = try await meet(
            fixture, [ServedCharacteristic(CBUUID(string: "FFF1"), [.write], onWrite: { written.append($0) })])
        let long = Data((0..<500).map { UInt8(truncatingIfNeeded: $0) })
        try await fixture.run { try await peripheral.write(long, to: "FFF0/FFF1") }
        #expect(written.values.map(\.value) == [long])
        #expect(written.values.map(\.offset) == [0])
        withExtendedLifetime(server) {}
    }

    @Test func whatAHandlerThrowsIsWhatTheDeviceGets() async throws {
        let fixture = Fixture()
        let (server, peripheral) = try await meet(
            fixture,
            [
                ServedCharacteristic(
                    CBUUID(string: "FFF1"), [.read, .write], onRead: { _ in throw CBATTError(.insufficientResources) },
                    onWrite: { _ in throw CancellationError() })
            ])
        let codes = try await fixture.run {
            var codes: [CBATTError.Code] = []
            do {
                _ = try await peripheral.read("FFF0/FFF1")
            } catch let error as BluetoothError {
                if case .refused(let cause as CBATTError) = error.reason { codes.append(cause.code) }
            }
            do {
                try await peripheral.write(Data([1]), to: "FFF0/FFF1")
            } catch let error as BluetoothError {
                if case .refused(let cause as CBATTError) = error.reason { codes.append(cause.code) }
            }
            return codes
        }
        #expect(codes == [.insufficientResources, .unlikelyError])
        withExtendedLifetime(server) {}
    }

    @Test func notifyWaitsForRoomAndAllArrivesInOrder() async throws {
        let fixture = Fixture()
        let (server, peripheral) = try await meet(fixture, [ServedCharacteristic(CBUUID(string: "FFF1"), .notify)])
        let received = try await fixture.run {
            let values = try await peripheral.subscribe(to: "FFF0/FFF1")
            async let sending: Void = {
                for number in 0..<200 { try await server.notify(Data([UInt8(number)]), of: "FFF0/FFF1") }
            }()
            var received: [UInt8] = []
            for try await value in values {
                received += [UInt8](value)
                if received.count == 200 { break }
            }
            try await sending
            return received
        }
        #expect(received == (0..<200).map { UInt8($0) })
    }

    @Test func subscriptionsAreReported() async throws {
        let fixture = Fixture()
        let (server, peripheral) = try await meet(fixture, [ServedCharacteristic(CBUUID(string: "FFF1"), .notify)])
        let changes = try await fixture.run {
            async let events = {
                var events: [String] = []
                for await event in server.subscriptions {
                    switch event {
                    case .subscribed(_, let id): events.append("subscribed \(id)")
                    case .unsubscribed(_, let id): events.append("unsubscribed \(id)")
                    }
                    if events.count == 2 { break }
                }
                return events
            }()
            try await fixture.emulator.swiftClock.sleep(for: .seconds(1))
            _ = try await peripheral.subscribe(to: "FFF0/FFF1")
            #expect(server.subscribers(of: "FFF0/FFF1").count <= 1)
            return await events
        }
        #expect(changes == ["subscribed FFF0/FFF1", "unsubscribed FFF0/FFF1"])
        #expect(server.subscribers(of: "FFF0/FFF1").isEmpty)
    }

    @Test func aNotificationThatIsTooLongNamesBothLengths() async throws {
        let fixture = Fixture()
        let (server, peripheral) = try await meet(fixture, [ServedCharacteristic(CBUUID(string: "FFF1"), .notify)])
        let reason = try await fixture.run { () -> BluetoothError.Reason? in
            let values = try await peripheral.subscribe(to: "FFF0/FFF1")
            let maximum = server.subscribers(of: "FFF0/FFF1").map(\.maximumUpdateLength).min() ?? 0
            #expect(maximum > 0)
            do {
                try await server.notify(Data(count: maximum + 1), of: "FFF0/FFF1")
            } catch let error as BluetoothError {
                withExtendedLifetime(values) {}
                return error.reason
            }
            return nil
        }
        guard case .valueTooLong(let length, let maximum) = reason, length == maximum + 1 else {
            Issue.record("\(String(describing: reason))")
            return
        }
    }

    @Test func aServiceOfTheSystemIsAnError() async throws {
        let fixture = Fixture()
        let server = fixture.makeServer()
        let reason = try await fixture.run { () -> BluetoothError.Reason? in
            do {
                try await server.add(ServedService(CBUUID(string: "1800"), characteristics: []))
                return nil
            } catch let error as BluetoothError {
                return error.reason
            }
        }
        guard case .refused = reason else {
            Issue.record("\(String(describing: reason))")
            return
        }
    }

    @Test(arguments: [[.read, .write], []] as [CBCharacteristicProperties])
    func aFixedValueThatIsNotReadOnlyIsAnErrorAndNoTrap(properties: CBCharacteristicProperties) async throws {
        let fixture = Fixture()
        let server = fixture.makeServer()
        await #expect(throws: BluetoothError.self) {
            try await fixture.run {
                let value = ServedCharacteristic(CBUUID(string: "FFF1"), properties, value: Data([1]))
                try await server.add(ServedService(Self.uuid, characteristics: [value]))
            }
        }
    }

    @Test func equalServicesAreNumbered() async throws {
        let fixture = Fixture()
        let server = fixture.makeServer()
        let ids = try await fixture.run {
            [
                try await server.add(ServedService(Self.uuid, characteristics: [])),
                try await server.add(ServedService(Self.uuid, characteristics: [])),
            ]
        }
        #expect(ids == ["FFF0", "FFF0#2"])
    }

    @Test func aChannelWhosePublicationIsCancelledIsWithdrawn() async throws {
        let fixture = Fixture()
        let server = fixture.makeServer()
        try await fixture.run {
            try await server.waitUntilPoweredOn()
            // The task is cancelled while the adapter's answer is on its way.
            let task = Task { try await server.publishChannel() }
            try await fixture.emulator.swiftClock.sleep(for: .zero)
            task.cancel()
            // The answer may have come at the same moment, before the cancellation.
            if case .success(let psm) = await task.result { server.unpublishChannel(psm) }
            try await fixture.emulator.swiftClock.sleep(for: .seconds(1))
        }
        let published = fixture.count(of: " publishChannel")
        #expect(fixture.count(of: " unpublishChannel") == published, "\(fixture.emulator.trace.map(\.description))")
    }
}
