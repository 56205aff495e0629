import AsyncBluetooth
import BluetoothEmulator
import CoreBluetooth
import Foundation
import Testing

/// Timeouts that are set once for all operations.
///
/// The tests run in real time and each takes a moment: the awaited event never arrives.
@Suite(.timeLimit(.minutes(5))) struct TimeoutSettingTests {
    private static let limit = Duration.milliseconds(20)

    private func find(_ settings: Central.Settings) async throws -> (EmulatedDevice, Peripheral) {
        let emulator = Emulator(configuration: .instant)
        let device = try emulator.add(.gadget)
        return (device, try await Fixture.first(Central(backend: .emulator(emulator), settings: settings)))
    }

    private func reason(_ body: () async throws -> Void) async throws -> BluetoothError? {
        do {
            try await body()
            return nil
        } catch let error as BluetoothError {
            return error
        }
    }

    private func expectTimeout(_ error: BluetoothError?, _ operation: BluetoothError.Operation) {
        guard case .timedOut(Self.limit) = error?.reason, error?.operation == operation else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func anOperationEndsWithItsTimeoutAndNamesWhatItWas() async throws {
        let (device, gadget) = try await find(.init(operationTimeout: Self.limit))
        device.holdReads(of: "FFF1")
        let error = try await reason { _ = try await gadget.read("FFF0/FFF1") }
        expectTimeout(error, .read)
        #expect(error?.path == "FFF0/FFF1")
        #expect(error?.peerName == "Gadget")
    }

    @Test func aConnectEndsWithItsTimeoutAndIsTakenBack() async throws {
        let (device, gadget) = try await find(.init(connectTimeout: Self.limit))
        device.setProximity(.outOfRange)
        expectTimeout(try await reason { _ = try await gadget.read("FFF0/FFF1") }, .read)
        #expect(gadget.state == .disconnected)
        device.setProximity(.near)
        #expect(device.connectionCount == 0)
    }

    @Test func aRequestEndsWithItsTimeout() async throws {
        let (_, gadget) = try await find(.init(operationTimeout: Self.limit))
        let error = try await reason {
            // The device never notifies FFF2.
            _ = try await gadget.exchange(Data([1]), writingTo: "FFF0/FFF1", notifiedBy: "FFF0/FFF2")
        }
        expectTimeout(error, .exchange)
    }

    @Test func aScanForTheFirstEndsWithItsTimeout() async throws {
        let emulator = Emulator(configuration: .instant)
        try emulator.add(.gadget)
        let central = Central(backend: .emulator(emulator))
        let error = try await reason { _ = try await central.first(within: Self.limit) { _ in false } }
        expectTimeout(error, .scan)
    }

    @Test func anAddressThatIsNotHeardEndsWithItsTimeout() async throws {
        let emulator = Emulator(configuration: .instant)
        try emulator.add(.gadget)
        let central = Central(backend: .emulator(emulator))
        let error = try await reason {
            _ = try await central.peripheral(address: "C0:FF:EE:C0:FF:EE", within: Self.limit)
        }
        expectTimeout(error, .retrieve)
        #expect(error?.path == "C0:FF:EE:C0:FF:EE")
    }

    @Test func aHandlerThatTakesTooLongIsCancelledAndRefused() async throws {
        let emulator = Emulator(configuration: .instant)
        let never = AsyncStream<Void>.makeStream()
        let offer = ServedOffer(services: [
            ServedService(
                CBUUID(string: "FFF0"),
                characteristics: [
                    ServedCharacteristic(
                        CBUUID(string: "FFF1"), .read,
                        onRead: { _ in
                            for await _ in never.stream {}
                            try Task.checkCancellation()
                            return Data()
                        })
                ])
        ])
        let server = PeripheralServer(
            backend: .emulator(emulator), offer: offer, settings: .init(handlerTimeout: Self.limit))
        let running = Task { try await server.run() }
        let peripheral = try await Fixture.first(Central(backend: .emulator(emulator)))
        let error = try await reason { _ = try await peripheral.read("FFF0/FFF1") }
        guard case .refused(let cause as CBATTError) = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause.code == .unlikelyError)
        running.cancel()
        try await running.value
        withExtendedLifetime(never.continuation) {}
    }
}
