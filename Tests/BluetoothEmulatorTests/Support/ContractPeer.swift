import BluetoothBackend
import BluetoothEmulator
import Foundation

/// A peer with one characteristic of each kind.
enum ContractPeer {
    static func uuid(_ short: String) -> BluetoothUUID {
        BluetoothUUID(stringLiteral: "C0DE\(short)-7A3D-4C5B-9E1F-2B6A8D4C0F01")
    }

    static let long = Data((0..<300).map { UInt8(truncatingIfNeeded: $0) })

    static let description = PeripheralDescription(
        name: "Contract Peer", address: "F0:F1:F2:F3:F4:F5",
        advertising: [
            AdvertisingDescription(
                AdvertisingData(services: [uuid("0001"), "180F"]),
                scanResponse: AdvertisingData(
                    localName: "Contract", txPowerLevel: 4, serviceData: ["180F": Data([0x64])],
                    manufacturerData: Data([0xFF, 0xFF, 1, 2, 3])))
        ],
        services: [
            ServiceDescription(
                uuid("0002"), isPrimary: false, characteristics: [.init(uuid("0201"), .read, value: Data([7]))]),
            ServiceDescription("180F", characteristics: [.init("2A19", [.read, .notify], value: Data([0x64]))]),
            ServiceDescription(
                uuid("0001"), includes: [ServicePath(uuid("0002"))],
                characteristics: [
                    .init(uuid("0101"), [.read, .write], value: Data("hello".utf8)),
                    .init(uuid("0102"), [.read, .writeWithoutResponse], value: Data([0])),
                    .init(uuid("0103"), .notify),
                    .init(uuid("0104"), .indicate),
                    .init(uuid("0105"), [.read, .notify, .indicate], value: Data([5])),
                    .init(uuid("0106"), [.read, .write], value: long),
                    .init(uuid("0109"), .write),
                    .init(uuid("010A"), .read, value: Data([0x0A])),
                    .init(uuid("010B"), .read, value: Data([1])),
                    .init(uuid("010B"), .read, value: Data([2])),
                    .init(
                        uuid("010C"), .read, value: Data([0x0C]),
                        descriptors: [
                            .init("2901", value: Data("described".utf8)),
                            .init("2904", value: Data([4, 0, 0, 0x27, 1, 0, 0])),
                            .init(uuid("0D01"), value: Data([0x0D]), permissions: [.readable, .writeable]),
                        ]),
                ]),
            ServiceDescription(uuid("0003"), characteristics: [.init(uuid("0301"), .read, value: Data([1]))]),
            ServiceDescription(uuid("0003"), characteristics: [.init(uuid("0301"), .read, value: Data([2]))]),
            ServiceDescription(
                uuid("0004"),
                characteristics: [.init(uuid("0401"), [.write, .writeWithoutResponse, .notify], echo: true)]),
        ])
}
