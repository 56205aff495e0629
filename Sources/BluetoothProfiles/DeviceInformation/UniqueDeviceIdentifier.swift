/// UDI for Medical Devices (2BFF): the unique device identifier of a medical device, by the rules of its country.
///
/// Source: Device Information Service 1.2, 3.10; GATT Specification Supplement, UDI for Medical Devices.
public struct UniqueDeviceIdentifier: GATTValue, CustomStringConvertible {
    /// The whole identifier, as the label bears it.
    public let label: String?
    /// The part of it that names the maker and the model.
    public let deviceIdentifier: String?
    /// The organization that issued it, by its object identifier or its address.
    public let issuer: String?
    /// The authority whose rules it follows, by its object identifier or its address.
    public let authority: String?

    /// An identifier; a text ends before its first zero.
    public init(
        label: String? = nil, deviceIdentifier: String? = nil, issuer: String? = nil, authority: String? = nil
    ) {
        func beforeZero(_ text: String?) -> String? {
            text.map { String(String.UnicodeScalarView($0.unicodeScalars.prefix { $0.value != 0 })) }
        }
        self.label = beforeZero(label)
        self.deviceIdentifier = beforeZero(deviceIdentifier)
        self.issuer = beforeZero(issuer)
        self.authority = beforeZero(authority)
    }

    /// "UDI for Medical Devices".
    public static var valueName: String { "UDI for Medical Devices" }
    /// What follows is of a later version.
    public static var ignoresTrailingBytes: Bool { true }

    /// Reads a byte of flags, and the texts that they announce, each with a zero at its end.
    ///
    /// - Throws: Also that a text is not UTF-8.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        let flags = try reader.uint8("Flags")
        label = try flags & 1 != 0 ? reader.terminatedText("UDI Label") : nil
        deviceIdentifier = try flags & 2 != 0 ? reader.terminatedText("UDI Device Identifier") : nil
        issuer = try flags & 4 != 0 ? reader.terminatedText("UDI Issuer") : nil
        authority = try flags & 8 != 0 ? reader.terminatedText("UDI Authority") : nil
    }

    /// Writes the flags and the texts.
    public func write(to writer: inout GATTWriter) {
        let texts = [label, deviceIdentifier, issuer, authority]
        writer.append(texts.enumerated().reduce(UInt8(0)) { $1.element == nil ? $0 : $0 | 1 << $1.offset })
        for text in texts.compactMap({ $0 }) {
            writer.append(text: text)
            writer.append(UInt8(0))
        }
    }

    /// `label (01)0123, device 0123, issuer 2.16.840, authority 2.16.841`.
    public var description: String {
        let parts = [
            label.map { "label \($0)" }, deviceIdentifier.map { "device \($0)" }, issuer.map { "issuer \($0)" },
            authority.map { "authority \($0)" },
        ].compactMap { $0 }
        return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
    }
}
