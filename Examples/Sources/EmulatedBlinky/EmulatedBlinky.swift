import BluetoothBackend
import BluetoothEmulator
import Foundation

/// A board with Nordic Semiconductor's LED Button Service, for tests: only the test presses its button.
package enum EmulatedBlinky {
    /// The button: 1 while it is pressed.
    package static let button: CharacteristicPath = "00001524-1212-EFDE-1523-785FEABCD123"
    /// The LED: 1 while it is on.
    package static let led: CharacteristicPath = "00001525-1212-EFDE-1523-785FEABCD123"

    private static let service: BluetoothUUID = "00001523-1212-EFDE-1523-785FEABCD123"

    /// The advertisement and the services of the board.
    ///
    /// The service's 128-bit UUID and the name do not fit into one packet, so the scan response contains the name.
    package static let description = PeripheralDescription(
        name: "Blinky",
        advertising: [
            AdvertisingDescription(
                AdvertisingData(services: [service]), scanResponse: AdvertisingData(localName: "Blinky"))
        ],
        services: [
            ServiceDescription(
                service,
                characteristics: [
                    CharacteristicDescription(button.uuid, [.read, .notify], value: Data([0])),
                    CharacteristicDescription(led.uuid, [.read, .write], value: Data([0])),
                ])
        ])

    /// The board with its firmware.
    package static func board() throws -> EmulatedPeripheral {
        try EmulatedPeripheral(description, handler: Firmware())
    }

    /// The behavior that the description cannot express: the values that the LED accepts.
    struct Firmware: EmulatedPeripheralHandler {
        func respond(
            to request: PeripheralRequest, state: inout Void, device: inout DeviceActions
        ) -> PeripheralResponse {
            guard request.characteristic == led.uuid, let value = request.writtenValue else { return .stored }
            return value == Data([0]) || value == Data([1]) ? .stored : .error(.invalidAttributeValueLength)
        }
    }
}
