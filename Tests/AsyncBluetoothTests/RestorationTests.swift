import AsyncBluetooth
import BluetoothEmulator
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

@Suite(.emulator(.instant)) struct RestorationTests {
    @Test func whatAnEarlierProcessLeftIsHandedOverAndWorks() async throws {
        let fixture = Fixture()
        try fixture.emulator.add(.gadget)
        try await leave(fixture)
        let restored = Log<Peripheral>()
        let central = Central(
            backend: .emulator(fixture.emulator), restoreIdentifier: "app", taskExecutor: fixture.emulator.executor,
            onRestore: { for peripheral in $0.peripherals { restored.append(peripheral) } })
        let value = try await fixture.run {
            try await central.waitUntilPoweredOn()
            return try await restored.values.first?.read("FFF0/FFF1")
        }
        #expect(restored.values.map(\.name) == ["Gadget"])
        #expect(value == Data([1]))
        #expect(fixture.count(of: " connect ") == 1)
    }

    /// A service whose value identifies the process that answers; it is sent to subscribers once.
    private static func service(_ number: UInt8) -> ServedService {
        ServedService(
            CBUUID(string: "FFF0"),
            characteristics: [
                ServedCharacteristic(
                    CBUUID(string: "FFF1"), [.read, .notify], onRead: { _ in Data([number]) },
                    whileSubscribed: { $0.send(Data([number])) })
            ])
    }

    /// A server that the system ends while it advertises, and the next one.
    ///
    /// - Parameter meanwhile: Runs before the end.
    private func restart(
        _ fixture: Fixture, restoring services: [ServedService], offer: ServedOffer? = nil,
        _ restored: Log<RestoredServer> = Log(), meanwhile: @escaping @Sendable () async throws -> Void = {}
    ) async throws -> PeripheralServer {
        let first = PeripheralServer(backend: .emulator(fixture.emulator), restoreIdentifier: "server")
        try await fixture.run {
            try await first.add(Self.service(1))
            try await first.startAdvertising(name: "Server", services: [CBUUID(string: "FFF0")])
            try await meanwhile()
        }
        for host in fixture.emulator.hosts { host.terminateApp(restoreIdentifier: "server") }
        try await fixture.emulator.advance(by: .seconds(1))
        withExtendedLifetime(first) {}
        let second = PeripheralServer(
            backend: .emulator(fixture.emulator), restoreIdentifier: "server", restoring: services,
            offer: offer, onRestore: { restored.append($0) })
        try await fixture.run { try await second.waitUntilPoweredOn() }
        return second
    }

    @Test func theServicesOfAnEarlierServerAreAnsweredByTheNextOne() async throws {
        let fixture = Fixture()
        let restored = Log<RestoredServer>()
        let server = try await restart(fixture, restoring: [Self.service(2)], restored)
        #expect(restored.values.map(\.services) == [["FFF0"]])
        #expect(restored.values.first?.unanswered == [])
        #expect(restored.values.first?.advertisement?.localName == "Server")
        let central = fixture.makeCentral()
        let values = try await fixture.run { () -> [Data] in
            let peripheral = try await Fixture.first(central)
            let values = try await peripheral.subscribe(to: "FFF0/FFF1")
            let read = try await peripheral.read("FFF0/FFF1")
            try await server.notify(Data([3]), of: "FFF0/FFF1")
            var received = [read]
            for try await value in values {
                received.append(value)
                if received.count == 3 { break }
            }
            return received
        }
        #expect(values == [Data([2]), Data([2]), Data([3])])
    }

    @Test func aCentralThatStayedSubscribedReceivesTheValuesOfTheNextServer() async throws {
        let fixture = Fixture()
        let central = fixture.makeCentral()
        let subscribed = Log<ValueSequence<Data>>()
        let server = try await restart(fixture, restoring: [Self.service(2)]) {
            let peripheral = try await Fixture.first(central)
            let values = try await peripheral.subscribe(to: "FFF0/FFF1")
            for try await value in values where value == Data([1]) { break }
            subscribed.append(values)
        }
        let value = try await fixture.run { () -> Data? in
            for try await value in try #require(subscribed.values.first) { return value }
            return nil
        }
        #expect(value == Data([2]))
        withExtendedLifetime(server) {}
    }

    @Test func theOfferOfAServerTakesTheRestoredServicesForItsOwn() async throws {
        let fixture = Fixture()
        let central = fixture.makeCentral()
        let subscribed = Log<(Peripheral, ValueSequence<Data>)>()
        let server = try await restart(
            fixture, restoring: [], offer: ServedOffer(services: [Self.service(2)], name: "Server")
        ) {
            let peripheral = try await Fixture.first(central)
            let values = try await peripheral.subscribe(to: "FFF0/FFF1")
            for try await value in values where value == Data([1]) { break }
            subscribed.append((peripheral, values))
        }
        let (services, values) = try await fixture.run { () -> ([ServiceID], [Data]) in
            let running = Task { try await server.run() }
            let (peripheral, sequence) = try #require(subscribed.values.first)
            var values: [Data] = []
            for try await value in sequence {
                values.append(value)
                break
            }
            values.append(try await peripheral.read("FFF0/FFF1"))
            let services = try await peripheral.services()
            running.cancel()
            try await running.value
            return (services, values)
        }
        #expect(services == ["FFF0"])
        #expect(values == [Data([2]), Data([2])])
    }

    @Test func aRestoredServiceWithoutHandlersIsReportedAndRefusesAndCanBeRemoved() async throws {
        let fixture = Fixture()
        let restored = Log<RestoredServer>()
        let server = try await restart(fixture, restoring: [], restored)
        #expect(restored.values.map(\.unanswered) == [["FFF0"]])
        let central = fixture.makeCentral()
        let reasons = try await fixture.run { () -> [BluetoothError.Reason] in
            let peripheral = try await Fixture.first(central)
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
    private func leave(_ fixture: Fixture) async throws {
        let central = Central(backend: .emulator(fixture.emulator), restoreIdentifier: "app")
        let gadget = try await fixture.run {
            let gadget = try await Fixture.first(central)
            try await gadget.connect()
            return gadget
        }
        fixture.emulator.host.terminateApp(restoreIdentifier: "app")
        try await fixture.emulator.advance(by: .seconds(1))
        withExtendedLifetime(gadget) {}
    }
}
