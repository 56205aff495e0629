package import AsyncBluetooth
import BluetoothProfiles
package import CoreBluetooth
import Foundation

/// A rule that selects the advertisements that the gateway publishes, and limits their rate.
///
/// Anyone can send any advertisement: a rule selects the devices whose values are accepted, and limits their number.
package struct AdvertisementRule: Sendable {
    /// The meaning of an advertisement's bytes.
    package enum Format: Sendable, Equatable {
        case btHome
        case eddystone
        case ruuvi
        /// The beacons of an owner; without `major` or `minor`, those with any number.
        case iBeacon(UUID, major: UInt16?, minor: UInt16?)
        /// The service data of a service, whose meaning the rule defines.
        case serviceData(CBUUID)
        /// The bytes after a company's identifier, whose meaning the rule defines.
        case manufacturerData(company: UInt16)
    }

    /// A value of service data or manufacturer data.
    package struct RawValue: Sendable {
        package var id: String
        package var name: String
        package var format: ValueFormat
        package var unit: String?
        package var deviceClass: String?
        package var stateClass: String?
    }

    /// The device's name in topics, or the first part of the names of several.
    package var id: String
    /// The name for people.
    package var name: String
    package var format: Format
    /// The address of the one device, with upper-case digits; nil for any.
    package var address: String?
    /// The advertised name; nil for any.
    package var localName: String?
    /// The number of devices that the rule accepts.
    package var devices: Int
    /// Whether the signal strength is a value, too.
    package var hasSignalStrength: Bool
    /// The minimum time between two messages of a value.
    package var minimumInterval: Duration
    /// The time after which a value that has not changed is published again.
    package var repeatInterval: Duration
    /// The values of raw data.
    package var values: [RawValue]

    /// Whether the rule names its one device, which then has the rule's name.
    package var isOfOneDevice: Bool {
        if case .iBeacon(_, _?, _?) = format { return true }
        return address != nil
    }

    /// Returns whether a name in topics is that of a device of this rule.
    package func isName(_ device: String) -> Bool { isOfOneDevice ? device == id : device.hasPrefix("\(id)-") }

    /// Returns the part of an advertisement that the rule reads; nil for one that it does not accept.
    ///
    /// - Parameter address: Called only if the bytes exist.
    package func bytes(in data: AdvertisedData, address: () -> String?) -> Data? {
        guard let bytes = bytes(in: data), localName == nil || localName == data.localName else { return nil }
        guard let wanted = self.address else { return bytes }
        return address()?.uppercased() == wanted ? bytes : nil
    }

    private static let services = (btHome: BTHomeAdvertisement.service, eddystone: EddystoneFrame.service)

    private func bytes(in data: AdvertisedData) -> Data? {
        switch format {
        case .btHome: data.serviceData[Self.services.btHome]
        case .eddystone: data.serviceData[Self.services.eddystone]
        case .serviceData(let service): data.serviceData[service]
        case .ruuvi: Self.manufacturerData(data, of: RuuviMeasurement.company)
        case .iBeacon: Self.manufacturerData(data, of: IBeacon.company)
        case .manufacturerData(let company): Self.manufacturerData(data, of: company)
        }
    }

    private static func manufacturerData(_ data: AdvertisedData, of company: UInt16) -> Data? {
        guard let bytes = data.manufacturerData,
            CompanyIdentifier(manufacturerData: bytes)?.rawValue == company
        else { return nil }
        return bytes
    }
}
