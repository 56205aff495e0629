/// An L2CAP channel that an emulated device listens for.
public struct ChannelDescription: Hashable, Sendable {
    /// The number that a central opens, 0x01...0xFF; 0x80...0xFF are free to use.
    ///
    /// Source: Core Specification, Vol 3, Part A, 4.22.
    public var psm: UInt16
    /// Whether the link must be encrypted.
    public var isEncryptionRequired: Bool
    /// Whether it returns what it receives.
    public var echo: Bool

    /// A channel to listen for.
    public init(psm: UInt16, isEncryptionRequired: Bool = false, echo: Bool = false) {
        self.psm = psm
        self.isEncryptionRequired = isEncryptionRequired
        self.echo = echo
    }

    func validate(path: String) throws(DescriptionError) {
        guard (1...0xFF).contains(psm) else { throw DescriptionError("\(path).psm", "a channel's number is 1...255") }
    }
}

extension ChannelDescription: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case psm, encryptionRequired, echo
    }

    /// Reads a channel of a world file.
    public init(from decoder: any Decoder) throws {
        let fields = try StrictContainer(decoder, keyedBy: CodingKeys.self)
        self.init(
            psm: try fields.required(.psm), isEncryptionRequired: try fields.optional(.encryptionRequired) ?? false,
            echo: try fields.optional(.echo) ?? false)
    }

    /// Writes a channel of a world file; what is as by default is left out.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(psm, forKey: .psm)
        if isEncryptionRequired { try fields.encode(isEncryptionRequired, forKey: .encryptionRequired) }
        if echo { try fields.encode(echo, forKey: .echo) }
    }
}
