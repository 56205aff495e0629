public import AsyncBluetooth
public import CoreBluetooth

/// A typed value out of an advertisement: what a beacon or a sensor broadcasts.
///
/// Advertisements come from strangers. What does not have the format's layout is no value, and never traps; its bytes
/// stay in the advertisement.
public enum AdvertisedValue: Hashable, Sendable, CustomStringConvertible {
    /// Sensor data in the format BTHome, version 2.
    case btHome(BTHomeAdvertisement)
    /// A frame of an Eddystone beacon.
    case eddystone(EddystoneFrame)
    /// An iBeacon.
    case iBeacon(IBeacon)
    /// A measurement of a Ruuvi sensor.
    case ruuvi(RuuviMeasurement)

    /// The values of an advertisement, in the order of the cases.
    ///
    /// - Parameters:
    ///   - serviceData: The service data by UUID.
    ///   - manufacturerData: The manufacturer data, which begin with the company identifier.
    public static func values(serviceData: [CBUUID: Data], manufacturerData: Data?) -> [AdvertisedValue] {
        var values: [AdvertisedValue] = []
        // What is malformed is no value of its format.
        if let data = serviceData[BTHomeAdvertisement.service], let value = try? BTHomeAdvertisement(decoding: data) {
            values.append(.btHome(value))
        }
        if let data = serviceData[EddystoneFrame.service], let value = try? EddystoneFrame(decoding: data) {
            values.append(.eddystone(value))
        }
        guard let manufacturerData else { return values }
        if let value = try? IBeacon(decoding: manufacturerData) { values.append(.iBeacon(value)) }
        if let value = try? RuuviMeasurement(decoding: manufacturerData) { values.append(.ruuvi(value)) }
        return values
    }

    /// The values of the dictionary that `centralManager(_:didDiscover:advertisementData:rssi:)` gets.
    public static func values(in advertisementData: [String: Any]) -> [AdvertisedValue] {
        values(
            serviceData: advertisementData[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data] ?? [:],
            manufacturerData: advertisementData[CBAdvertisementDataManufacturerDataKey] as? Data)
    }

    /// The name of the format: "BTHome", "Eddystone", "iBeacon", "Ruuvi".
    public var format: String {
        switch self {
        case .btHome: BTHomeAdvertisement.valueName
        case .eddystone: EddystoneFrame.valueName
        case .iBeacon: IBeacon.valueName
        case .ruuvi: RuuviMeasurement.valueName
        }
    }

    /// What the value says, in the format's order; what is not available is left out.
    public var fields: [AdvertisedField] {
        switch self {
        case .btHome(let value): value.fields
        case .eddystone(let value): value.fields
        case .iBeacon(let value): value.fields
        case .ruuvi(let value): value.fields
        }
    }

    /// `Ruuvi: temperature 24.300 °C, humidity 53.4900 %`.
    public var description: String {
        let fields = fields.map(\.description).joined(separator: ", ")
        return fields.isEmpty ? format : "\(format): \(fields)"
    }
}

extension AdvertisedData {
    /// What beacons and sensors broadcast, decoded.
    public var values: [AdvertisedValue] {
        AdvertisedValue.values(serviceData: serviceData, manufacturerData: manufacturerData)
    }

    /// The company that defines the manufacturer data; nil where none are advertised.
    public var companyIdentifier: CompanyIdentifier? {
        manufacturerData.flatMap(CompanyIdentifier.init(manufacturerData:))
    }
}
