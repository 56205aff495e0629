import AsyncBluetooth
import BluetoothProfiles
import CoreBluetoothClasses

/// A report of a scan, or a device without an advertisement.
struct DeviceRecord: Equatable, Sendable {
    var identifier: UUID
    var address: String?
    /// The device's name as the manager knows it.
    var name: String?
    var advertisedName: String?
    /// The signal strength in dBm; nil if it was not measured.
    var rssi: Int?
    var services: [String] = []
    var manufacturerData: Data?
    var serviceData: [CBUUID: Data] = [:]
    /// The transmit power that the device advertises, in dBm.
    var txPower: Int?
    /// Whether the device accepts connections; nil if unknown.
    var isConnectable: Bool?

    /// The decoded broadcasts of beacons and sensors.
    var values: [AdvertisedValue] {
        AdvertisedValue.values(serviceData: serviceData, manufacturerData: manufacturerData)
    }

    var names: [String] { [name, advertisedName].compactMap { $0 } }

    var displayName: String? { advertisedName ?? name }

    /// The name, or the identifier of a device without one.
    var label: String { name.map(PrintableText.of) ?? identifier.uuidString }

    /// The label and the address: `Heart (F0:F1:F2:F3:F4:F5)`.
    var place: String { label + (address.map { " (\($0))" } ?? "") }

    /// The device as JSON, without an advertisement.
    var identity: JSONFields { ["identifier": identifier.uuidString, "address": address, "name": name] }
}

extension DeviceRecord {
    init(_ peripheral: Peripheral) {
        self.init(identifier: peripheral.identifier, address: peripheral.address, name: peripheral.name)
    }

    init(_ report: DiscoveredPeripheral) {
        self.init(report.peripheral)
        apply(report.advertisement, rssi: report.rssi)
    }

    /// Creates a record of a device, and of its advertisement if given, from the arguments of a delegate.
    init(_ peripheral: CBPeripheral, advertisementData: [String: Any] = [:], rssi: NSNumber? = nil) {
        self.init(identifier: peripheral.identifier, address: peripheral.address, name: peripheral.name)
        // 127 means "not available" (Core Specification, Vol 4, Part E, 7.7.65.2).
        apply(AdvertisedData(advertisementData), rssi: rssi.map { $0.intValue }.flatMap { $0 == 127 ? nil : $0 })
    }

    private mutating func apply(_ advertisement: AdvertisedData, rssi: Int?) {
        advertisedName = advertisement.localName
        self.rssi = rssi
        services = advertisement.serviceUUIDs.map(\.uuidString)
        manufacturerData = advertisement.manufacturerData
        serviceData = advertisement.serviceData
        txPower = advertisement.txPowerLevel
        isConnectable = advertisement.isConnectable
    }
}

extension DeviceRecord {
    func fields(backend: String) -> JSONFields {
        let data = serviceData.map { ($0.key.uuidString, HexText.of($0.value)) }
        let values = values.map { ["format": $0.format, "fields": $0.fields.map(\.json)] as JSONFields }
        return [
            "identifier": identifier.uuidString, "address": address, "name": displayName, "rssi": rssi,
            "services": services.isEmpty ? nil : services, "manufacturerData": manufacturerData.map(HexText.of),
            "company": manufacturerData.flatMap { CompanyIdentifier(manufacturerData: $0)?.name },
            "serviceData": data.isEmpty ? nil : Dictionary(data) { $1 }, "txPower": txPower,
            "isConnectable": isConnectable, "values": values.isEmpty ? nil : values, "backend": backend,
        ]
    }

    /// Identifier, address, signal strength, name and services, separated by tabs, `-` for unknown fields; then other
    /// advertised data, if any.
    var line: String {
        let fields = [
            identifier.uuidString, address, rssi.map(String.init), displayName.map(PrintableText.of),
            ScanTable.services(self),
        ]
        let details = AdvertisementText.details(of: self)
        let line = fields.map { $0.flatMap { $0.isEmpty ? nil : $0 } ?? "-" } + (details.isEmpty ? [] : [details])
        return line.joined(separator: "\t")
    }
}

extension AdvertisedField {
    /// The field as JSON: its value is a number, a boolean or text.
    fileprivate var json: JSONFields {
        let value: any Encodable =
            switch value {
            case .number(let number, digits: 0): Int64(number)
            case .number(let number, _): number
            case .flag(let flag): flag
            case .text(let text): text
            }
        return ["name": name, "value": value, "unit": unit]
    }
}

/// The contents of an advertisement besides name and services, for people.
enum AdvertisementText {
    /// Returns the contents, `not connectable, tx 4 dBm, Ruuvi: temperature 24.300 °C`; empty without further contents.
    ///
    /// Decoded data are not also shown in hex.
    static func details(of device: DeviceRecord) -> String {
        var parts: [String] = []
        if device.isConnectable == false { parts.append("not connectable") }
        if let power = device.txPower { parts.append("tx \(power) dBm") }
        let values = device.values
        // The text in a value is untrusted.
        parts += values.map { PrintableText.of($0.description) }
        let decoded = Set(values.map(\.service))
        for (uuid, data) in device.serviceData.sorted(by: { $0.key.uuidString < $1.key.uuidString })
        where !decoded.contains(uuid) {
            parts.append("data of \(AttributeText.label(uuid)) \(data.isEmpty ? "empty" : HexText.of(data))")
        }
        if let data = device.manufacturerData, !decoded.contains(nil) { parts.append(manufacturer(data)) }
        return parts.joined(separator: ", ")
    }

    /// Returns `company 0x0499 Ruuvi Innovations Ltd. data 0512`.
    private static func manufacturer(_ data: Data) -> String {
        guard let company = CompanyIdentifier(manufacturerData: data) else {
            return "manufacturer data \(HexText.of(data))"
        }
        let rest = data.dropFirst(2)
        let label = ["company", company.description, company.name].compactMap { $0 }.joined(separator: " ")
        return "\(label) data \(rest.isEmpty ? "empty" : HexText.of(Data(rest)))"
    }
}

extension AdvertisedValue {
    /// The service whose data contained the value; nil for the manufacturer data.
    fileprivate var service: CBUUID? {
        switch self {
        case .btHome: BTHomeAdvertisement.service
        case .eddystone: EddystoneFrame.service
        case .iBeacon, .ruuvi: nil
        }
    }
}
