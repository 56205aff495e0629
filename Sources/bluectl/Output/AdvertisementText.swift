import BluetoothProfiles
import CoreBluetoothPackage

/// What an advertisement says besides name and services, for people.
enum AdvertisementText {
    /// `not connectable, tx 4 dBm, Ruuvi: temperature 24.300 °C`; empty where there is nothing more.
    ///
    /// Data that are decoded are not shown in hex too.
    static func details(of device: DeviceRecord) -> String {
        var parts: [String] = []
        if device.isConnectable == false { parts.append("not connectable") }
        if let power = device.txPower { parts.append("tx \(power) dBm") }
        let values = device.values
        // The text in a value comes from a stranger.
        parts += values.map { PrintableText.of($0.description) }
        let decoded = Set(values.map(\.source))
        for (uuid, data) in device.serviceData.sorted(by: { $0.key.uuidString < $1.key.uuidString })
        where !decoded.contains(.service(uuid)) {
            parts.append("data of \(AttributeText.label(uuid)) \(data.isEmpty ? "empty" : HexText.of(data))")
        }
        if let data = device.manufacturerData, !decoded.contains(.manufacturer) { parts.append(manufacturer(data)) }
        return parts.joined(separator: ", ")
    }

    /// `company 0x0499 Ruuvi Innovations Ltd. data 0512`.
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
    /// Where in the advertisement a value was.
    fileprivate enum Source: Hashable {
        case service(CBUUID)
        case manufacturer
    }

    fileprivate var source: Source {
        switch self {
        case .btHome: .service(BTHomeAdvertisement.service)
        case .eddystone: .service(EddystoneFrame.service)
        case .iBeacon, .ruuvi: .manufacturer
        }
    }
}
