import BluetoothBackend
import FoundationEssentials

/// Values that the tests of this target share.
enum Samples {
    static let peer = PeerID(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))
    static let otherPeer = PeerID(UUID(uuid: (9, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))
    static let link = LinkID(rawValue: 3)
    static let operation = OperationID(rawValue: 7)
    static let attribute = AttributeID(rawValue: 12)
    static let channel = ChannelID(rawValue: 2)
    static let request = RequestID(rawValue: 5)
    static let value = Data([0x06, 0x48])
    static let date = Date(timeIntervalSinceReferenceDate: 700_000_000)
    static let error = BackendError.att(
        0x0E, operation: "ReadValue", daemonName: "org.bluez.Error.Failed", message: "ATT error: 0x0e")
    static let heartRate: BluetoothUUID = "180D"
    static let measurement: BluetoothUUID = "2A37"

    static let advertisement = Advertisement(
        localName: "Heart Rate", txPowerLevel: -4, serviceUUIDs: ["180D", "0000180f"], overflowServiceUUIDs: ["1234"],
        solicitedServiceUUIDs: ["180A"], serviceData: ["180F": Data([99])], manufacturerData: Data([0x4C, 0, 1]),
        isConnectable: true)
    static let discovery = Discovery(
        peer: peer, name: "Heart Rate", advertisement: advertisement, rssi: -51, address: "C0:FF:EE:00:00:01")
    static let service = ServiceRecord(id: AttributeID(rawValue: 1), uuid: "180D", isPrimary: true, handle: 0x10)
    static let characteristic = CharacteristicRecord(
        id: attribute, uuid: "2A37", properties: [.read, .notify], handle: 0x12)
    static let descriptor = DescriptorRecord(id: AttributeID(rawValue: 13), uuid: "2902", handle: nil)
    static let definition = ServiceDefinition(
        id: AttributeID(rawValue: 1), uuid: "180D", included: [AttributeID(rawValue: 9)],
        characteristics: [
            .init(
                id: attribute, uuid: "2A37", properties: [.notify, .notifyEncryptionRequired],
                permissions: [.readable], staticValue: value,
                descriptors: [.init(id: AttributeID(rawValue: 13), uuid: "2901", value: Data([0x41]))])
        ])
    static let restoredCentral = RestoredCentralState(
        peers: [
            .init(
                summary: PeerSummary(id: peer, name: "Heart Rate", address: "C0:FF:EE:00:00:01"), operation: operation,
                link: link, parameters: LinkParameters(mtu: 185, writeCredits: 4),
                services: [.init(record: service, characteristics: [characteristic], notifying: [attribute])])
        ], scan: ScanParameters(services: ["180D"], solicitedServices: ["180A"], allowDuplicates: true))
    static let restoredPeripheral = RestoredPeripheralState(
        services: [definition], subscriptions: [.init(central: peer, attribute: attribute, mtu: 23)],
        advertisement: advertisement)
}
