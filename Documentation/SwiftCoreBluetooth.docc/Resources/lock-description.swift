import BluetoothBackend
import BluetoothEmulator
import Foundation

/// What the lock advertises and serves.
let lock = PeripheralDescription(
    name: "Lock",
    advertising: [AdvertisingDescription(AdvertisingData(localName: "Lock", services: ["FFD0"]))],
    services: [
        ServiceDescription(
            "FFD0",
            characteristics: [
                CharacteristicDescription("FFD1", .write, permissions: .writeEncryptionRequired),
                CharacteristicDescription("FFD2", [.read, .notify], value: Data([0])),
            ])
    ])
