import BluetoothBackend
import BluetoothSupport

extension PeripheralDescription: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case name, address, advertising, services, proximity, rssi, maximumMTU, connectionInterval, supervisionTimeout
        case handler, parameters, pairing, channels, peripheralLatency, addressRotation, packetLossRate
        case prepareQueueLength, faults
    }

    /// Reads a device of a world file.
    public init(from decoder: any Decoder) throws {
        let fields = try StrictContainer(decoder, keyedBy: CodingKeys.self)
        let proximities = Proximity.allCases.map(\.rawValue).joined(separator: ", ")
        let name: String = try fields.required(.name)
        let handler = try fields.text(.handler, BuiltInHandler.rule) { BuiltInHandler(rawValue: $0) }
        let ready = handler?.device.named(name)
        let parameters: [String: Double]? = try fields.optional(.parameters)
        self.init(
            name: name, address: try fields.text(.address, TextRule.address) { DeviceAddress($0) },
            advertising: try fields.optional(.advertising) ?? ready?.advertising ?? [],
            services: try fields.optional(.services) ?? ready?.services ?? [],
            proximity: try fields.text(.proximity, "the proximities are \(proximities)") { Proximity(rawValue: $0) }
                ?? .near,
            rssi: try fields.optional(.rssi), maximumMTU: try fields.optional(.maximumMTU) ?? ready?.maximumMTU ?? 517,
            connectionInterval: try fields.text(.connectionInterval, TextRule.duration, DurationText.parse),
            supervisionTimeout: try fields.text(.supervisionTimeout, TextRule.duration, DurationText.parse),
            handler: handler,
            parameters: parameters.map { Dictionary($0.map { (DeviceParameter(rawValue: $0), $1) }) { $1 } }
                ?? ready?.parameters ?? [:],
            pairing: try fields.optional(.pairing) ?? PairingDescription(),
            channels: try fields.optional(.channels) ?? [],
            peripheralLatency: try fields.optional(.peripheralLatency) ?? 0,
            addressRotation: try fields.text(.addressRotation, TextRule.duration, DurationText.parse),
            packetLossRate: try fields.optional(.packetLossRate) ?? 0,
            prepareQueueLength: try fields.optional(.prepareQueueLength), faults: try fields.optional(.faults) ?? [])
    }

    /// Writes a device of a world file; what is as by default is left out.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(name, forKey: .name)
        try fields.encodeIfPresent(address?.description, forKey: .address)
        try fields.encode(advertising, forKey: .advertising)
        try fields.encode(services, forKey: .services)
        if proximity != .near { try fields.encode(proximity.rawValue, forKey: .proximity) }
        try fields.encodeIfPresent(rssi, forKey: .rssi)
        if maximumMTU != handler?.device.maximumMTU ?? 517 { try fields.encode(maximumMTU, forKey: .maximumMTU) }
        try fields.encodeIfPresent(connectionInterval.map(DurationText.text), forKey: .connectionInterval)
        try fields.encodeIfPresent(supervisionTimeout.map(DurationText.text), forKey: .supervisionTimeout)
        try fields.encodeIfPresent(handler?.rawValue, forKey: .handler)
        if pairing != PairingDescription() { try fields.encode(pairing, forKey: .pairing) }
        if peripheralLatency != 0 { try fields.encode(peripheralLatency, forKey: .peripheralLatency) }
        try fields.encodeIfPresent(addressRotation.map(DurationText.text), forKey: .addressRotation)
        if packetLossRate != 0 { try fields.encode(packetLossRate, forKey: .packetLossRate) }
        try fields.encodeIfPresent(prepareQueueLength, forKey: .prepareQueueLength)
        if !faults.isEmpty { try fields.encode(faults, forKey: .faults) }
        if !channels.isEmpty { try fields.encode(channels, forKey: .channels) }
        guard !parameters.isEmpty || handler?.device.parameters.isEmpty == false else { return }
        try fields.encode(Dictionary(parameters.map { ($0.rawValue, $1) }) { $1 }, forKey: .parameters)
    }
}

extension PairingDescription: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case capability, passkey, outOfBand, requiresAuthentication, bondable, maximumBonds, answer, requestsSecurity
    }

    /// What a device can show and ask, in the order of the Core Specification.
    static let capabilities: [PairingCapability] = [
        .displayOnly, .displayYesNo, .keyboardOnly, .noInputNoOutput, .keyboardDisplay,
    ]

    /// Reads how a device of a world file pairs.
    public init(from decoder: any Decoder) throws {
        let fields = try StrictContainer(decoder, keyedBy: CodingKeys.self)
        let capabilities = Self.capabilities.map(\.rawValue).joined(separator: ", ")
        let answers = Answer.allCases.map(\.rawValue).joined(separator: ", ")
        self.init(
            capability: try fields.text(.capability, "the capabilities are \(capabilities)") {
                PairingCapability(rawValue: $0)
            } ?? .noInputNoOutput,
            passkey: try fields.optional(.passkey), hasOutOfBandData: try fields.optional(.outOfBand) ?? false,
            requiresAuthentication: try fields.optional(.requiresAuthentication) ?? false,
            isBondable: try fields.optional(.bondable) ?? true,
            maximumBonds: try fields.optional(.maximumBonds) ?? 8,
            answer: try fields.text(.answer, "the answers are \(answers)") { Answer(rawValue: $0) } ?? .accept,
            requestsSecurity: try fields.optional(.requestsSecurity) ?? false)
    }

    /// Writes how a device of a world file pairs; what is as by default is left out.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        if capability != .noInputNoOutput { try fields.encode(capability.rawValue, forKey: .capability) }
        try fields.encodeIfPresent(passkey, forKey: .passkey)
        if hasOutOfBandData { try fields.encode(hasOutOfBandData, forKey: .outOfBand) }
        if requiresAuthentication { try fields.encode(requiresAuthentication, forKey: .requiresAuthentication) }
        if !isBondable { try fields.encode(isBondable, forKey: .bondable) }
        if maximumBonds != 8 { try fields.encode(maximumBonds, forKey: .maximumBonds) }
        if answer != .accept { try fields.encode(answer.rawValue, forKey: .answer) }
        if requestsSecurity { try fields.encode(requestsSecurity, forKey: .requestsSecurity) }
    }
}

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
