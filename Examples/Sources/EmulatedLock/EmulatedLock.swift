import BluetoothBackend
import BluetoothEmulator
import Foundation

/// A door lock: a code opens it for five seconds, and three wrong codes block it for a minute.
package struct EmulatedLock: EmulatedPeripheralHandler {
    /// The characteristic for the code, which only paired centrals may write.
    package static let code: CharacteristicPath = "FFD1"
    /// The characteristic that is 1 while the lock is open.
    package static let isOpen: CharacteristicPath = "FFD2"
    /// The ATT error for a wrong code.
    package static let wrongCode: UInt8 = 0x80
    /// The ATT error of a lock that is blocked.
    package static let blocked: UInt8 = 0x81

    /// The state of the lock between two requests.
    package struct State: Sendable {
        var wrongCodes = 0
        var isBlocked = false
    }

    private enum Timer {
        static let close = 1
        static let unblock = 2
    }

    private let expected: Data

    /// The lock with its code.
    package static func device(code: String) throws -> EmulatedPeripheral {
        try EmulatedPeripheral(description, handler: EmulatedLock(expected: Data(code.utf8)))
    }

    /// The advertisement and the services of the lock.
    private static let description = PeripheralDescription(
        name: "Lock",
        advertising: [AdvertisingDescription(AdvertisingData(localName: "Lock", services: ["FFD0"]))],
        services: [
            ServiceDescription(
                "FFD0",
                characteristics: [
                    CharacteristicDescription(code.uuid, .write, permissions: .writeEncryptionRequired),
                    CharacteristicDescription(isOpen.uuid, [.read, .notify], value: Data([0])),
                ])
        ])

    package func makeState() -> State { State() }

    package func respond(
        to request: PeripheralRequest, state: inout State, device: inout DeviceActions
    ) -> PeripheralResponse {
        guard request.characteristic == Self.code.uuid, let value = request.writtenValue else { return .stored }
        guard !state.isBlocked else { return .error(ATTCode(rawValue: Self.blocked)) }
        guard value == expected else { return refuse(&state, &device) }
        state.wrongCodes = 0
        device.notify(Self.isOpen, value: Data([1]))
        device.startTimer(Timer.close, after: .seconds(5))
        return .accepted
    }

    private func refuse(_ state: inout State, _ device: inout DeviceActions) -> PeripheralResponse {
        state.wrongCodes += 1
        if state.wrongCodes == 3 {
            state.isBlocked = true
            device.startTimer(Timer.unblock, after: .seconds(60))
        }
        return .error(ATTCode(rawValue: Self.wrongCode))
    }

    package func handle(_ event: DeviceEvent, state: inout State, device: inout DeviceActions) {
        switch event {
        case .timer(Timer.close): device.notify(Self.isOpen, value: Data([0]))
        case .timer(Timer.unblock): state = State()
        default: break
        }
    }
}
