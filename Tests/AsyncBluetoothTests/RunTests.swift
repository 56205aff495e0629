import AsyncBluetooth
import BluetoothEmulator
import BluetoothLocking
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
    private static func host(_ stage: Stage) throws -> EmulatedHost {
        try #require(stage.emulator.host(named: "peripheral 1"))
    }

    private func server(_ stage: Stage, _ settings: PeripheralServer.Settings = .init()) -> PeripheralServer {
        PeripheralServer(
            backend: .emulator(stage.emulator), offer: Self.offer, settings: settings,
            taskExecutor: stage.emulator.executor)
    }

    @Test func itPublishesUntilItsTaskIsCancelledAndWithdrawsAll() async throws {
        let stage = Stage()
        let server = server(stage)
        let central = stage.makeCentral()
        let value = try await stage.play { () -> Data in
            let running = Task { try await server.run() }
            let value = try await Stage.first(central).read("FFF0/FFF1")
            running.cancel()
            try await running.value
            return value
        }
        #expect(value == Data([1]))
        #expect(!server.isAdvertising)
        #expect(stage.count(of: " addService") == 1)
        #expect(stage.count(of: " removeService") == 1)
    }

    @Test func itPublishesAgainAfterAReset() async throws {
        let stage = Stage()
        let server = server(stage)
        let central = stage.makeCentral()
        let clock = stage.emulator.swiftClock
        let value = try await stage.play { () -> Data in
            let running = Task { try await server.run() }
            try await clock.sleep(for: .seconds(1))
            try Self.host(stage).reset(for: .seconds(2))
            try await clock.sleep(for: .seconds(5))
            let value = try await Stage.first(central).read("FFF0/FFF1")
            running.cancel()
            try await running.value
            return value
        }
        #expect(value == Data([1]))
        #expect(stage.count(of: " addService") == 2)
    }

    @Test func aResetWhileItPublishesLeavesNoServiceBehind() async throws {
        let stage = Stage()
        let service = ServedService(CBUUID(string: "FFF5"), characteristics: [])
        let server = PeripheralServer(
            backend: .emulator(stage.emulator), offer: ServedOffer(services: Self.offer.services + [service]),
            taskExecutor: stage.emulator.executor)
        let clock = stage.emulator.swiftClock
        let host = try Self.host(stage)
        try await stage.play {
            // The adapter comes and goes, so that the reset meets each step of the publishing.
            for delay in 0..<40 {
                let running = Task { try await server.run() }
                try await clock.sleep(for: .microseconds(50 * delay))
                host.reset(for: .milliseconds(1))
                try await clock.sleep(for: .seconds(1))
                running.cancel()
                try await running.value
                try await clock.sleep(for: .seconds(1))
                let left = TraceBalance(stage.emulator.trace).services
                #expect(left.isEmpty, "a reset after \(50 * delay) µs: \(left)")
            }
        }
    }

    @Test func itWaitsWhileTheAdapterIsOff() async throws {
        let stage = Stage()
        let server = server(stage)
        try Self.host(stage).setPower(false)
        let clock = stage.emulator.swiftClock
        let isAdvertising = try await stage.play { () -> Bool in
            let running = Task { try await server.run() }
            try await clock.sleep(for: .seconds(10))
            #expect(!server.isAdvertising)
            try Self.host(stage).setPower(true)
            try await clock.sleep(for: .seconds(10))
            let isAdvertising = server.isAdvertising
            running.cancel()
            try await running.value
            return isAdvertising
        }
        #expect(isAdvertising)
    }

    @Test func whatIsWithdrawnWhileTheAdapterIsOffIsGoneWhenItIsOnAgain() async throws {
        let stage = Stage()
        let server = server(stage)
        let clock = stage.emulator.swiftClock
        try await stage.play {
            let running = Task { try await server.run() }
            try await clock.sleep(for: .seconds(1))
            try Self.host(stage).setPower(false)
            try await clock.sleep(for: .seconds(1))
            running.cancel()
            try await running.value
            try Self.host(stage).setPower(true)
            try await clock.sleep(for: .seconds(1))
        }
        #expect(!server.isAdvertising)
        #expect(stage.count(of: " removeService") == 1)
    }

    @Test func aServiceThatTheSystemRefusesEndsItByThrowing() async throws {
        let stage = Stage()
        let offer = ServedOffer(
            services: Self.offer.services + [ServedService(CBUUID(string: "1800"), characteristics: [])])
        let server = PeripheralServer(backend: .emulator(stage.emulator), offer: offer)
        let error = await #expect(throws: BluetoothError.self) { try await stage.play { try await server.run() } }
        #expect(error?.path == "1800")
        try await stage.emulator.advance(by: .zero)
        #expect(stage.count(of: " removeService") == 1)
        withExtendedLifetime(server) {}
    }

    @Test func moreHandlersThanTheSettingsAllowAreRefused() async throws {
        let stage = Stage()
        let clock = stage.emulator.swiftClock
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
            backend: .emulator(stage.emulator), offer: offer,
            settings: .init(handlerTimeout: nil, handlerLimit: 3))
        let central = stage.makeCentral()
        let code = try await stage.play { () -> CBATTError.Code? in
            let running = Task { try await server.run() }
            defer { running.cancel() }
            let peripheral = try await Stage.first(central)
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
