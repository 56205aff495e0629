import BluetoothBackend

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
