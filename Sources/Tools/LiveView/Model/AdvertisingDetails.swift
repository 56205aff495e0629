import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import BluetoothValues

/// An advertising set with the content of its packets.
package struct AdvertisingDetails: Codable, Hashable, Sendable {
    package struct Packet: Codable, Hashable, Sendable {
        package var name: String?
        /// The transmit power in dBm.
        package var txPower: Int?
        package var services: [Service]
        package var solicitedServices: [Service]
        package var serviceData: [Service]
        package var manufacturer: Manufacturer?
    }

    /// A service, with its name if it has one and, for service data, the bytes in hexadecimal digits.
    package struct Service: Codable, Hashable, Sendable {
        package var uuid: String
        package var name: String?
        package var data: String?
    }

    package struct Manufacturer: Codable, Hashable, Sendable {
        /// The identifier, in four hexadecimal digits; nil if the data has less than two bytes.
        package var company: String?
        /// The name of the company, if the identifier is assigned.
        package var name: String?
        /// The company's data, in hexadecimal digits.
        package var data: String
    }

    /// The time between packets, in seconds; 0 for one packet each time it is switched on.
    package var interval: Double
    package var isConnectable: Bool
    package var isExtended: Bool
    package var isEnabled: Bool
    package var packet: Packet
    package var scanResponse: Packet?

    init(_ description: AdvertisingDescription) {
        interval = description.interval / .seconds(1)
        (isConnectable, isExtended) = (description.isConnectable, description.isExtended)
        isEnabled = description.isEnabled
        packet = Packet(description.data)
        scanResponse = description.scanResponse.map(Packet.init)
    }
}

extension AdvertisingDetails.Packet {
    fileprivate init(_ data: AdvertisingData) {
        (name, txPower) = (data.localName, data.txPowerLevel.map(Int.init))
        services = data.services.map { AdvertisingDetails.Service($0) }
        solicitedServices = data.solicitedServices.map { AdvertisingDetails.Service($0) }
        serviceData = data.serviceData.sorted { $0.key < $1.key }.map { AdvertisingDetails.Service($0, $1) }
        manufacturer = data.manufacturerData.map(AdvertisingDetails.Manufacturer.init)
    }
}

extension AdvertisingDetails.Service {
    fileprivate init(_ uuid: BluetoothUUID, _ data: Data? = nil) {
        self.init(uuid: uuid.text, name: uuid.attributeName, data: data?.hexText)
    }
}

extension AdvertisingDetails.Manufacturer {
    fileprivate init(_ data: Data) {
        guard data.count >= 2 else {
            self.init(data: data.hexText)
            return
        }
        let bytes = [UInt8](data)
        let number = UInt16(bytes[0]) | UInt16(bytes[1]) << 8
        self.init(
            company: Decimals.hex(number, width: 4), name: AssignedNumbers.company(number),
            data: Data(bytes.dropFirst(2)).hexText)
    }
}
