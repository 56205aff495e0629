import AsyncBluetooth
import BluetoothEmulator
import BluetoothSupport
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Synchronization
import Testing

/// A server as a long-running service.
@Suite(.emulator(.instant)) struct RunTests {
    private static let offer = ServedOffer(
        services: [
            ServedService(
                CBUUID(string: "FFF0"),
                characteristics: [
                    ServedCharacteristic(CBUUID(string: "FFF1"), .read, onRead: { _ in Data([1]) })
                ])
        ], name: "Service")

    /// The emulated computer on which the server runs.
    private static func host(_ fixture: Fixture) throws -> EmulatedHost {
        try #require(fixture.emulator.host(named: "peripheral 1"))
    }

    private func server(_ fixture: Fixture, _ settings: PeripheralServer.Settings = .init()) -> PeripheralServer {
        PeripheralServer(
            backend: .emulator(fixture.emulator), offer: Self.offer, settings: settings,
            taskExecutor: fixture.emulator.executor)
    }

    @Test func itPublishesUntilItsTaskIsCancelledAndWithdrawsAll() async throws {
        let fixture = Fixture()
        let server = server(fixture)
        let central = fixture.makeCentral()
        let value = try await fixture.run { () -> Data in
            let running = Task { try await server.run() }
            let value = try await Fixture.first(central).read("FFF0/FFF1")
            running.cancel()
            try await running.value
            return value
        }
        #expect(value == Data([1]))
        #expect(!server.isAdvertising)
        #expect(fixture.count(of: " addService") == 1)
        #expect(fixture.count(of: " removeService") == 1)
    }

    @Test func itPublishesAgainAfterAReset() async throws {
        let fixture = Fixture()
        let server = server(fixture)
        let central = fixture.makeCentral()
        let clock = fixture.emulator.swiftClock
        let value = try await fixture.run { () -> Data in
            let running = Task { try await server.run() }
            try await clock.sleep(for: .seconds(1))
            try Self.host(fixture).reset(for: .seconds(2))
            try await clock.sleep(for: .seconds(5))
            let value = try await Fixture.first(central).read("FFF0/FFF1")
            running.cancel()
            try await running.value
            return value
        }
        #expect(value == Data([1]))
        #expect(fixture.count(of: " addService") == 2)
    }

    @Test func aResetWhileItPublishesLeavesNoServiceBehind() async throws {
        let fixture = Fixture()
        let service = ServedService(CBUUID(string: "FFF5"), characteristics: [])
        let server = PeripheralServer(
            backend: .emulator(fixture.emulator), offer: ServedOffer(services: Self.offer.services + [service]),
            taskExecutor: fixture.emulator.executor)
        let clock = fixture.emulator.swiftClock
        let host = try Self.host(fixture)
        try await fixture.run {
            // The adapter is removed and added, so that the reset interrupts each step of the publishing.
            for delay in 0..<40 {
                let running = Task { try await server.run() }
                try await clock.sleep(for: .microseconds(50 * delay))
                host.reset(for: .milliseconds(1))
                try await clock.sleep(for: .seconds(1))
                running.cancel()
                try await running.value
                try await clock.sleep(for: .seconds(1))
                let left = TraceBalance(fixture.emulator.trace.map(\.description)).services
                #expect(left.isEmpty, "a reset after \(50 * delay) µs: \(left)")
            }
        }
    }

    @Test func itWaitsWhileTheAdapterIsOff() async throws {
        let fixture = Fixture()
        let server = server(fixture)
        try Self.host(fixture).setPower(false)
        let clock = fixture.emulator.swiftClock
        let isAdvertising = try await fixture.run { () -> Bool in
            let running = Task { try await server.run() }
            try await clock.sleep(for: .seconds(10))
            #expect(!server.isAdvertising)
            try Self.host(fixture).setPower(true)
            try await clock.sleep(for: .seconds(10))
            let isAdvertising = server.isAdvertising
            running.cancel()
            try await running.value
            return isAdvertising
        }
        #expect(isAdvertising)
    }

    @Test func whatIsWithdrawnWhileTheAdapterIsOffIsGoneWhenItIsOnAgain() async throws {
        let fixture = Fixture()
        let server = server(fixture)
        let clock = fixture.emulator.swiftClock
        try await fixture.run {
            let running = Task { try await server.run() }
            try await clock.sleep(for: .seconds(1))
            try Self.host(fixture).setPower(false)
            try await clock.sleep(for: .seconds(1))
            running.cancel()
            try await running.value
            try Self.host(fixture).setPower(true)
            try await clock.sleep(for: .seconds(1))
        }
        #expect(!server.isAdvertising)
        #expect(fixture.count(of: " removeService") == 1)
    }

    @Test func aServiceThatTheSystemRefusesEndsItByThrowing() async throws {
        let fixture = Fixture()
        let offer = ServedOffer(
            services: Self.offer.services + [ServedService(CBUUID(string: "1800"), characteristics: [])])
        let server = PeripheralServer(backend: .emulator(fixture.emulator), offer: offer)
        let error = await #expect(throws: BluetoothError.self) { try await fixture.run { try await server.run() } }
        #expect(error?.path == "1800")
        try await fixture.emulator.advance(by: .zero)
        #expect(fixture.count(of: " removeService") == 1)
        withExtendedLifetime(server) {}
    }

    @Test func moreHandlersThanTheSettingsAllowAreRefused() async throws {
        let fixture = Fixture()
        let clock = fixture.emulator.swiftClock
        let offer = ServedOffer(services: [
            ServedService(
                CBUUID(string: "FFF0"),
                characteristics: [
                    ServedCharacteristic(
                        CBUUID(string: "FFF1"), [.writeWithoutResponse],
                        onWrite: { _ in try await clock.sleep(for: .seconds(20)) }),
                    ServedCharacteristic(CBUUID(string: "FFF2"), .read, onRead: { _ in Data([2]) }),
                ])
        ])
        let server = PeripheralServer(
            backend: .emulator(fixture.emulator), offer: offer,
            settings: .init(handlerTimeout: nil, handlerLimit: 3))
        let central = fixture.makeCentral()
        let code = try await fixture.run { () -> CBATTError.Code? in
            let running = Task { try await server.run() }
            defer { running.cancel() }
            let peripheral = try await Fixture.first(central)
            for _ in 0..<3 { try await peripheral.writeWithoutResponse(Data([1]), to: "FFF0/FFF1") }
            do {
                _ = try await peripheral.read("FFF0/FFF2")
                return nil
            } catch let error as BluetoothError {
                guard case .refused(let cause as CBATTError) = error.reason else { return nil }
                // The handlers return, and answer.
                try await clock.sleep(for: .seconds(30))
                return cause.code
            }
        }
        withExtendedLifetime(server) {}
        #expect(code == .insufficientResources)
    }
}
