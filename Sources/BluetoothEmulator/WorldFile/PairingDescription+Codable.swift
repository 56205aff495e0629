import BluetoothBackend

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
