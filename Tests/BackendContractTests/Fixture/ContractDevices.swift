import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import Foundation
import Synchronization

/// The contract peers as emulated devices.
///
/// Their twins for a real radio are in `Tests/RealBlueZ/contract_peer`.
enum ContractDevices {
    static func uuid(_ short: String) -> BluetoothUUID { BluetoothUUID(stringLiteral: ContractPeer.full(short)) }

    static func contract(handler: ContractHandler) throws -> EmulatedPeripheral {
        try EmulatedPeripheral(
            PeripheralDescription(
                name: "Contract Peer", address: "F0:F1:F2:F3:F4:F5", advertising: [advertising(name: "Contract")],
                services: [
                    ServiceDescription(
                        "180F",
                        characteristics: [CharacteristicDescription("2A19", [.read, .notify], value: Data([0x64]))]),
                    included, main,
                    ServiceDescription(
                        uuid("C0DE0003"),
                        characteristics: [CharacteristicDescription(uuid("C0DE0301"), .read, value: Data([1]))]),
                    ServiceDescription(
                        uuid("C0DE0003"),
                        characteristics: [CharacteristicDescription(uuid("C0DE0301"), .read, value: Data([2]))]),
                    ServiceDescription(
                        uuid("C0DE0004"),
                        characteristics: [
                            CharacteristicDescription(
                                uuid("C0DE0401"), [.write, .writeWithoutResponse, .notify], echo: true)
                        ]),
                ],
                maximumMTU: 247,
                channels: [
                    ChannelDescription(psm: 0x90, echo: true),
                    ChannelDescription(psm: 0x92, isEncryptionRequired: true, echo: true),
                ]),
            handler: handler)
    }

    static func second() throws -> EmulatedPeripheral {
        try EmulatedPeripheral(
            PeripheralDescription(
                name: "Second", address: "F0:F1:F2:F3:F4:F6", advertising: [secondAdvertising(name: "Second", nil)],
                services: [
                    ServiceDescription(
                        uuid("C0DE0005"),
                        characteristics: [CharacteristicDescription(uuid("C0DE0501"), .read, value: Data([0x32]))])
                ]))
    }

    static func heart() throws -> EmulatedPeripheral {
        try EmulatedPeripheral(
            PeripheralDescription(
                name: "Heart", address: "F0:F1:F2:F3:F4:F7",
                advertising: [
                    AdvertisingDescription(AdvertisingData(localName: "Heart", services: ["180D"]), isEnabled: false)
                ],
                services: [
                    ServiceDescription(
                        "180D",
                        characteristics: [
                            CharacteristicDescription(
                                "2A37", .notify,
                                timer: .init(every: .seconds(1), values: (60..<90).map { Data([0, UInt8($0)]) }))
                        ])
                ]))
    }

    /// The service that comes and goes.
    static var extra: ServiceDescription {
        ServiceDescription(
            uuid("C0DE0009"),
            characteristics: [CharacteristicDescription(uuid("C0DE0901"), .read, value: Data([9]))])
    }

    /// The service for encrypted links only.
    static var secure: ServiceDescription {
        ServiceDescription(
            uuid("C0DE0006"),
            characteristics: [
                CharacteristicDescription(
                    uuid("C0DE0601"), [.read, .write], value: Data("safe".utf8),
                    permissions: [.readEncryptionRequired, .writeEncryptionRequired]),
                CharacteristicDescription(
                    uuid("C0DE0602"), [.notify, .notifyEncryptionRequired], value: Data()),
            ])
    }

    static func advertising(name: String) -> AdvertisingDescription {
        AdvertisingDescription(
            AdvertisingData(services: [uuid("C0DE0001"), "180F"]),
            scanResponse: AdvertisingData(
                localName: name, txPowerLevel: 4, serviceData: ["180F": Data([0x64])],
                manufacturerData: Data([0xFF, 0xFF, 1, 2, 3])))
    }

    static func secondAdvertising(name: String, _ manufacturerData: Data?) -> AdvertisingDescription {
        AdvertisingDescription(
            AdvertisingData(localName: name, services: [uuid("C0DE0005")], manufacturerData: manufacturerData),
            isEnabled: false)
    }

    private static var included: ServiceDescription {
        ServiceDescription(
            uuid("C0DE0002"), isPrimary: false,
            characteristics: [CharacteristicDescription(uuid("C0DE0201"), .read, value: Data([7]))])
    }

    private static var main: ServiceDescription {
        func value(
            _ short: String, _ properties: CharacteristicProperties, _ bytes: [UInt8] = []
        )
            -> CharacteristicDescription
        { CharacteristicDescription(uuid(short), properties, value: Data(bytes)) }
        var described = value("C0DE010C", .read, [0x0C])
        described.descriptors = [
            DescriptorDescription("2901", value: Data("described".utf8)),
            DescriptorDescription("2904", value: Data([4, 0, 0, 0x27, 1, 0, 0])),
            DescriptorDescription(uuid("C0DE0D01"), value: Data([0x0D]), permissions: [.readable, .writeable]),
        ]
        return ServiceDescription(
            uuid("C0DE0001"), includes: [uuid("C0DE0002")],
            characteristics: [
                value("C0DE0101", [.read, .write], Array("hello".utf8)),
                value("C0DE0102", [.read, .writeWithoutResponse], [0]),
                value("C0DE0103", .notify),
                value("C0DE0104", .indicate),
                value("C0DE0105", [.read, .notify, .indicate], [5]),
                value("C0DE0106", [.read, .write], (0..<300).map { UInt8($0 & 0xFF) }),
                value("C0DE0107", [.read, .write]),
                value("C0DE0109", .write),
                value("C0DE010A", .read, [0x0A]),
                value("C0DE010B", .read, [1]),
                value("C0DE010B", .read, [2]),
                described,
            ])
    }
}

/// What the contract peer does besides serving values: it fails as it is told, and keeps the commands it got.
final class ContractHandler: EmulatedPeripheralHandler {
    private let log = Lock<[Data]>([])

    var commands: [Data] { log.withLock { $0 } }

    func makeState() {}

    func respond(
        to request: PeripheralRequest, state: inout Void, device: inout DeviceActions
    ) -> PeripheralResponse {
        switch (request.characteristic, request.kind) {
        case (ContractDevices.uuid("C0DE0107"), .read): return .error(0x80)
        case (ContractDevices.uuid("C0DE0107"), .write(let value)):
            return .error(ATTCode(rawValue: value.first ?? 0x0D))
        case (ContractDevices.uuid("C0DE0102"), .writeCommand(let value)):
            log.withLock { $0.append(value) }
            return .stored
        default: return .stored
        }
    }
}
