package import BluetoothEmulator
import Foundation

/// A pet feeder, for tests: each meal has an identifier, and a repeated one is ignored.
package struct EmulatedFeeder: EmulatedPeripheralHandler {
    /// The characteristic for a meal: its portions, and the 16 bytes of its identifier.
    package static let meal: CharacteristicPath = "FFF1"
    /// The number of meals given, one byte.
    package static let count: CharacteristicPath = "FFF2"

    /// The memory of the feeder.
    package struct State: Sendable {
        var lastMeal = Data()
        var count: UInt8 = 0
    }

    /// The feeder with its firmware.
    package static func device() throws -> EmulatedPeripheral {
        try EmulatedPeripheral(description, handler: EmulatedFeeder())
    }

    private static let description = PeripheralDescription(
        name: "Feeder",
        advertising: [AdvertisingDescription(AdvertisingData(localName: "Feeder", services: ["FFF0"]))],
        services: [
            ServiceDescription(
                "FFF0",
                characteristics: [
                    CharacteristicDescription(meal.uuid, .write),
                    CharacteristicDescription(count.uuid, .read, value: Data([0])),
                ])
        ])

    package func makeState() -> State { State() }

    package func respond(
        to request: PeripheralRequest, state: inout State, device: inout DeviceActions
    ) -> PeripheralResponse {
        guard request.characteristic == Self.meal.uuid, let meal = request.writtenValue else { return .stored }
        guard meal.count == 17 else { return .error(.invalidAttributeValueLength) }
        guard meal != state.lastMeal else { return .accepted }
        state.lastMeal = meal
        state.count += 1
        device.setValue(Data([state.count]), of: Self.count)
        return .accepted
    }
}

extension EmulatedDevice {
    /// The number of meals that the feeder has given.
    package var meals: UInt8 { value(of: EmulatedFeeder.count)?.first ?? 0 }
}
