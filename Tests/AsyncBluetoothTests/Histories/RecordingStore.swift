import AsyncBluetooth
import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import BluetoothValues
import CoreBluetooth
import Foundation

/// A device that keeps what it is written, and answers commands by notifications.
struct RecordingStore: EmulatedPeripheralHandler {
    static let service = CBUUID(string: "FFE0")
    /// Written with response.
    static let record: CharacteristicID = "FFE0/FFE1"
    /// Written without response.
    static let stream: CharacteristicID = "FFE0/FFE2"
    /// Notifies what was written to it.
    static let command: CharacteristicID = "FFE0/FFE3"
    /// Has a value that does not change.
    static let name: CharacteristicID = "FFE0/FFE4"
    static let description = PeripheralDescription(
        name: "Store",
        advertising: [AdvertisingDescription(AdvertisingData(localName: "Store", services: ["FFE0"]))],
        services: [
            ServiceDescription(
                "FFE0",
                characteristics: [
                    CharacteristicDescription("FFE1", .write), CharacteristicDescription("FFE2", .writeWithoutResponse),
                    CharacteristicDescription("FFE3", [.write, .notify]),
                    CharacteristicDescription(
                        "FFE4", .read, value: Data("Store".utf8),
                        descriptors: [DescriptorDescription("2901", value: Data("name".utf8))]),
                ])
        ], channels: [ChannelDescription(psm: 0x80, echo: true)])

    /// The records, and the commands without a response, in the order of their arrival.
    let records = Log<UInt8>()
    let commands = Log<UInt8>()

    func respond(to request: PeripheralRequest, state: inout Void, device: inout DeviceActions) -> PeripheralResponse {
        guard let value = request.writtenValue, let number = value.first else { return .stored }
        switch request.characteristic {
        case "FFE1": records.append(number)
        case "FFE2": commands.append(number)
        case "FFE3": device.notify("FFE3", value: value)
        default: break
        }
        return .accepted
    }
}

extension Array where Element: Comparable {
    /// Whether each element is greater than the one before.
    var isAscending: Bool { zip(self, dropFirst()).allSatisfy { $0 < $1 } }
}

extension Central {
    /// Searches for a device that advertises a service until there is one, whatever becomes of the adapter.
    func find(_ service: CBUUID) async throws -> Peripheral {
        while true {
            do {
                return try await first(for: [service], within: .seconds(30)).peripheral
            } catch is BluetoothError { try await Task.sleep(for: .seconds(1)) }
        }
    }
}
