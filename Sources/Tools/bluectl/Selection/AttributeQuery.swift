import BluetoothBackend
import BluetoothProfiles
import BluetoothValues
import CoreBluetoothClasses

/// The service, characteristic or descriptor that the user means: a UUID, a standard name, the n-th of equal ones
/// (`2A37#2`), or a handle (`@18`, `@0x0012`).
enum AttributeQuery: Equatable, Sendable {
    /// A UUID; `ordinal` begins at 1; nil selects the only attribute.
    case uuid(BluetoothUUID, ordinal: Int?)
    /// A name that the Bluetooth SIG assigned, in its spelling.
    case name(String, ordinal: Int?)
    case handle(UInt16)

    /// Reads one of the forms, or the form that `explore` prints: `Body Sensor Location 2A38 @0x0007`.
    ///
    /// - Throws: A usage failure that describes the mistake.
    init(_ text: String) throws(Failure) {
        let shown = PrintableText.of(text)
        if let handle = Self.handle(in: text) {
            guard let number = Self.number(handle), number > 0 else {
                throw Failure(.usage, "\"\(shown)\" is not a handle: write @18 or @0x0012, 1...65535")
            }
            self = .handle(number)
            return
        }
        let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        var ordinal: Int?
        if parts.count == 2 {
            ordinal = Int(parts[1])
            guard ordinal ?? 0 > 0 else { throw Failure(.usage, "\"\(shown)\": the number after # must be at least 1") }
        }
        let base = parts.first.map { String($0) } ?? ""
        if let uuid = BluetoothUUID(base) ?? Self.labelled(base) {
            self = .uuid(uuid, ordinal: ordinal)
        } else if let name = Self.standardName(base) {
            self = .name(name, ordinal: ordinal)
        } else {
            throw Failure(
                .usage,
                "\"\(shown)\" is not a UUID or a standard name: write 2A37, a long UUID, \"Heart Rate Measurement\", "
                    + "2A37#2 or @HANDLE" + Suggestion.text(for: base, among: Self.standardNames))
        }
    }

    /// Returns the text after `@`, at the beginning or after a label and a space.
    private static func handle(in text: String) -> Substring? {
        guard let at = text.lastIndex(of: "@") else { return nil }
        guard at > text.startIndex else { return text.dropFirst() }
        return text[text.index(before: at)] == " " ? text[text.index(after: at)...] : nil
    }

    private static func number(_ text: Substring) -> UInt16? {
        text.lowercased().hasPrefix("0x") ? UInt16(text.dropFirst(2), radix: 16) : UInt16(text)
    }

    /// Returns the UUID of a label as listings print it: `Heart Rate 180D`.
    private static func labelled(_ text: String) -> BluetoothUUID? {
        guard let last = text.split(separator: " ").last, let uuid = BluetoothUUID(String(last)),
            normalized(AttributeText.label(CBUUID(uuid))) == normalized(text)
        else { return nil }
        return uuid
    }

    private static var standardNames: [String] { AssignedNumbers.attributeNames + VendorNames.attributeNames }

    /// Returns the name in the spelling of the Bluetooth SIG, ignoring case; `-` and `_` match a space.
    private static func standardName(_ text: String) -> String? {
        let wanted = normalized(text)
        return Self.standardNames.first { normalized($0) == wanted }
    }

    private static func normalized(_ text: String) -> String {
        String(text.lowercased().map { "-_".contains($0) ? " " : $0 })
    }

    var text: String {
        switch self {
        case .uuid(_, let ordinal), .name(_, let ordinal): base + (ordinal.map { "#\($0)" } ?? "")
        case .handle: base
        }
    }

    private var base: String {
        switch self {
        case .uuid(let uuid, _): uuid.text
        case .name(let name, _): name
        case .handle(let handle): "@0x" + Decimals.hex(handle, width: 4)
        }
    }

    private var ordinal: Int? {
        switch self {
        case .uuid(_, let ordinal), .name(_, let ordinal): ordinal
        case .handle: nil
        }
    }
}

extension AttributeQuery {
    /// Returns the attribute that the query means.
    ///
    /// - Parameters:
    ///   - attributes: All attributes, in the device's order.
    ///   - kind: "service", "characteristic" or "descriptor", for the error.
    ///   - owner: The owner of the attributes, for the error.
    /// - Throws: A failure if no attribute matches, or, with the choices, if several do.
    func pick<Attribute: DiscoveredAttribute>(
        from attributes: [Attribute], kind: String, of owner: String = "the device"
    ) throws(Failure) -> Attribute {
        let found = attributes.filter(matches)
        if let ordinal {
            guard found.indices.contains(ordinal - 1) else {
                throw Failure(.failed, "there is no \(kind) \(text): \(owner) has \(found.count) of \(base)")
            }
            return found[ordinal - 1]
        }
        guard let first = found.first else { throw Failure(.failed, "\(owner) has no \(kind) \(text)") }
        guard found.count == 1 else {
            let forms = found.enumerated().map { offset, attribute in
                let handle = attribute.handle.map { " (@0x\(Decimals.hex($0, width: 4)))" } ?? ""
                return "\(text)#\(offset + 1)\(handle)"
            }
            throw Failure(.failed, "\(owner) has several of \(kind) \(text): choose \(forms.joined(separator: ", "))")
        }
        return first
    }

    private func matches(_ attribute: some DiscoveredAttribute) -> Bool {
        switch self {
        case .uuid(let uuid, _): attribute.uuid.bluetoothUUID == uuid
        case .name(let name, _): AttributeText.standardName(attribute.uuid) == name
        case .handle(let handle): attribute.handle == handle
        }
    }
}

/// The arguments `[SERVICE] CHARACTERISTIC` or `SERVICE/CHARACTERISTIC`.
struct AttributePath: Equatable, Sendable {
    var service: AttributeQuery?
    var characteristic: AttributeQuery

    /// The explanation in the commands' help.
    static let help = """
        SERVICE may be omitted if only one characteristic matches; SERVICE/CHARACTERISTIC may be one word or two. Each \
        is a UUID (2A37), a standard name ("Heart Rate Measurement", heart-rate-measurement), or a label as "explore" \
        prints it. 2A37#2 means the second attribute with that UUID, and @HANDLE the one with that handle (@18 or \
        @0x0012).
        """

    /// Reads one or two words after a DEVICE.
    ///
    /// - Throws: A usage failure that describes the mistake, or the missing word.
    init(_ words: [String], of device: DeviceQuery) throws(Failure) {
        guard !words.isEmpty else { throw Self.missing(besides: device) }
        try self.init(words)
    }

    /// Returns the failure for one word in place of a DEVICE and a CHARACTERISTIC.
    static func missing(besides device: DeviceQuery) -> Failure {
        guard isPath(device) else {
            return Failure(.usage, "the CHARACTERISTIC is missing behind the DEVICE \"\(device.text)\"")
        }
        return Failure(
            .usage,
            "the DEVICE is missing in front of \"\(device.text)\"; in a shell, \".\" is the device that was connected last"
        )
    }

    /// Whether the word in place of a DEVICE names a characteristic.
    static func isPath(_ device: DeviceQuery) -> Bool {
        guard case .name(let text) = device else { return false }
        do throws(Failure) {
            _ = try AttributePath([text])
            return true
        } catch {
            return false
        }
    }

    /// Reads one or two words.
    init(_ words: [String]) throws(Failure) {
        let words = words.count == 1 ? Self.parts(of: words[0]) : words
        guard let last = words.last, words.count <= 2 else {
            throw Failure(.usage, "expected [SERVICE] CHARACTERISTIC, not \(words.count) words")
        }
        service = words.count == 2 ? try AttributeQuery(words[0]) : nil
        characteristic = try AttributeQuery(last)
    }

    /// Returns the parts around a slash, which no standard name contains.
    private static func parts(of word: String) -> [String] {
        word.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
    }
}
