import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import Foundation
import Synchronization

/// The contract's peers as emulated devices.
///
/// The same peers for BlueZ are in `Tests/RealBlueZ/contract_peer`.
enum ContractDevices {
    static func uuid(_ attribute: ContractAttribute) -> BluetoothUUID { BluetoothUUID(stringLiteral: attribute.uuid) }
    static func path(_ attribute: ContractAttribute) -> CharacteristicPath { CharacteristicPath(uuid(attribute)) }

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
                        uuid(.twin),
                        characteristics: [CharacteristicDescription(uuid(.twinValue), .read, value: Data([1]))]),
                    ServiceDescription(
                        uuid(.twin),
                        characteristics: [CharacteristicDescription(uuid(.twinValue), .read, value: Data([2]))]),
                    ServiceDescription(
                        uuid(.echoing),
                        characteristics: [
                            CharacteristicDescription(
                                uuid(.echo), [.write, .writeWithoutResponse, .notify], echo: true)
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
                        uuid(.second),
                        characteristics: [CharacteristicDescription(uuid(.secondValue), .read, value: Data([0x32]))])
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

    /// The service that is added and removed.
    static var extra: ServiceDescription {
        ServiceDescription(
            uuid(.extra),
            characteristics: [CharacteristicDescription(uuid(.extraValue), .read, value: Data([9]))])
    }

    /// The service for encrypted links only.
    static var secure: ServiceDescription {
        ServiceDescription(
            uuid(.secure),
            characteristics: [
                CharacteristicDescription(
                    uuid(.secret), [.read, .write], value: Data("safe".utf8),
                    permissions: [.readEncryptionRequired, .writeEncryptionRequired]),
                CharacteristicDescription(
                    uuid(.secretNotifying), [.notify, .notifyEncryptionRequired], value: Data()),
            ])
    }

    static func advertising(name: String) -> AdvertisingDescription {
        AdvertisingDescription(
            AdvertisingData(services: [uuid(.main), "180F"]),
            scanResponse: AdvertisingData(
                localName: name, txPowerLevel: 4, serviceData: ["180F": Data([0x64])],
                manufacturerData: Data([0xFF, 0xFF, 1, 2, 3])))
    }

    static func secondAdvertising(name: String, _ manufacturerData: Data?) -> AdvertisingDescription {
        AdvertisingDescription(
            AdvertisingData(localName: name, services: [uuid(.second)], manufacturerData: manufacturerData),
            isEnabled: false)
    }

    private static var included: ServiceDescription {
        ServiceDescription(
            uuid(.included), isPrimary: false,
            characteristics: [CharacteristicDescription(uuid(.includedValue), .read, value: Data([7]))])
    }

    private static var main: ServiceDescription {
        func value(
            _ attribute: ContractAttribute, _ properties: CharacteristicProperties, _ bytes: [UInt8] = []
        )
            -> CharacteristicDescription
        { CharacteristicDescription(uuid(attribute), properties, value: Data(bytes)) }
        var described = value(.described, .read, [0x0C])
        described.descriptors = [
            DescriptorDescription("2901", value: Data("described".utf8)),
            DescriptorDescription("2904", value: Data([4, 0, 0, 0x27, 1, 0, 0])),
            DescriptorDescription(uuid(.ownDescriptor), value: Data([0x0D]), permissions: [.readable, .writeable]),
        ]
        return ServiceDescription(
            uuid(.main), includes: [ServicePath(uuid(.included))],
            characteristics: [
                value(.stored, [.read, .write], Array("hello".utf8)),
                value(.commands, [.read, .writeWithoutResponse], [0]),
                value(.notifying, .notify),
                value(.indicating, .indicate),
                value(.notifyingAndIndicating, [.read, .notify, .indicate], [5]),
                value(.long, [.read, .write], (0..<300).map { UInt8($0 & 0xFF) }),
                value(.failing, [.read, .write]),
                value(.writeOnly, .write),
                value(.readOnly, .read, [0x0A]),
                value(.duplicate, .read, [1]),
                value(.duplicate, .read, [2]),
                described,
            ])
    }
}

/// The dynamic part of the contract's peer: it refuses with the written code, and records write commands.
final class ContractHandler: EmulatedPeripheralHandler {
    private let log = Lock<[Data]>([])

    var commands: [Data] { log.withLock { $0 } }

    func makeState() {}

    func respond(
        to request: PeripheralRequest, state: inout Void, device: inout DeviceActions
    ) -> PeripheralResponse {
        switch (request.characteristic, request.kind) {
        case (ContractDevices.uuid(.failing), .read): return .error(0x80)
        case (ContractDevices.uuid(.failing), .write(let value)):
            return .error(ATTCode(rawValue: value.first ?? 0x0D))
        case (ContractDevices.uuid(.commands), .writeCommand(let value)):
            log.withLock { $0.append(value) }
            return .stored
        default: return .stored
        }
    }
}
