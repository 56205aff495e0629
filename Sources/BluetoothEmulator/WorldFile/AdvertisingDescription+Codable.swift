import BluetoothBackend
import BluetoothSupport

extension AdvertisingData: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case localName, txPowerLevel, services, solicitedServices, serviceData, manufacturerData
    }

    /// Reads the content of a packet of a world file.
    public init(from decoder: any Decoder) throws {
        let fields = try StrictContainer(decoder, keyedBy: CodingKeys.self)
        var serviceData: [BluetoothUUID: Data] = [:]
        for (name, text) in try fields.optional(.serviceData, as: [String: String].self) ?? [:] {
            guard let uuid = BluetoothUUID(name) else { throw fields.error(.serviceData, "\"\(name)\" is not a UUID") }
            guard let data = Data(hexText: text) else {
                throw fields.error(.serviceData, "\"\(text)\": \(TextRule.hex)")
            }
            serviceData[uuid] = data
        }
        self.init(
            localName: try fields.optional(.localName), txPowerLevel: try fields.optional(.txPowerLevel),
            services: try fields.optional(.services) ?? [],
            solicitedServices: try fields.optional(.solicitedServices) ?? [], serviceData: serviceData,
            manufacturerData: try fields.text(.manufacturerData, TextRule.hex) { Data(hexText: $0) })
    }

    /// Writes the content of a packet of a world file.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encodeIfPresent(localName, forKey: .localName)
        try fields.encodeIfPresent(txPowerLevel, forKey: .txPowerLevel)
        if !services.isEmpty { try fields.encode(services, forKey: .services) }
        if !solicitedServices.isEmpty { try fields.encode(solicitedServices, forKey: .solicitedServices) }
        if !serviceData.isEmpty {
            let pairs = serviceData.map { ($0.key.text, $0.value.hexText) }
            try fields.encode(Dictionary(pairs) { first, _ in first }, forKey: .serviceData)
        }
        try fields.encodeIfPresent(manufacturerData?.hexText, forKey: .manufacturerData)
    }
}

extension AdvertisingDescription: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case data, scanResponse, interval, connectable, continuesWhileConnected, enabled, duration, extended
    }

    /// Reads an advertising set of a world file.
    public init(from decoder: any Decoder) throws {
        let fields = try StrictContainer(decoder, keyedBy: CodingKeys.self)
        self.init(
            try fields.optional(.data) ?? AdvertisingData(), scanResponse: try fields.optional(.scanResponse),
            interval: try fields.text(.interval, TextRule.duration, DurationText.parse) ?? .milliseconds(100),
            isConnectable: try fields.optional(.connectable) ?? true,
            continuesWhileConnected: try fields.optional(.continuesWhileConnected) ?? false,
            isEnabled: try fields.optional(.enabled) ?? true,
            duration: try fields.text(.duration, TextRule.duration, DurationText.parse),
            isExtended: try fields.optional(.extended) ?? false)
    }

    /// Writes an advertising set of a world file; what is as by default is left out.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(data, forKey: .data)
        try fields.encodeIfPresent(scanResponse, forKey: .scanResponse)
        try fields.encode(DurationText.text(interval), forKey: .interval)
        if !isConnectable { try fields.encode(isConnectable, forKey: .connectable) }
        if continuesWhileConnected { try fields.encode(continuesWhileConnected, forKey: .continuesWhileConnected) }
        if !isEnabled { try fields.encode(isEnabled, forKey: .enabled) }
        try fields.encodeIfPresent(duration.map(DurationText.text), forKey: .duration)
        if isExtended { try fields.encode(isExtended, forKey: .extended) }
    }
}
