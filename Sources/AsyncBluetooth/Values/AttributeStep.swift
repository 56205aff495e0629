public import CoreBluetooth

/// One part of a path to an attribute: a UUID, and which one among those that have it.
public struct AttributeStep: Hashable, Sendable, CustomStringConvertible {
    /// The attribute's type.
    public let uuid: CBUUID
    /// Which of the attributes with this UUID, in the device's order, from 1.
    public let number: Int
    /// The UUID's, which takes longer to compute than all else of a look-up.
    private let uuidHash: Int

    /// Names the attribute of a UUID.
    ///
    /// - Parameters:
    ///   - uuid: The attribute's type.
    ///   - number: Which one of those, from 1; less is taken as 1.
    public init(_ uuid: CBUUID, number: Int = 1) {
        self.uuid = uuid
        self.number = max(1, number)
        uuidHash = uuid.hash
    }

    /// Whether both mean the same attribute.
    public static func == (left: Self, right: Self) -> Bool {
        left.number == right.number && (left.uuid === right.uuid || left.uuid == right.uuid)
    }

    /// Hashes UUID and number.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(uuidHash)
        hasher.combine(number)
    }

    /// Reads `2A37` or, for the second one of that UUID, `2A37#2`.
    init?(_ text: Substring) {
        let mark = text.utf8.firstIndex(of: UInt8(ascii: "#"))
        let uuid = text[..<(mark ?? text.endIndex)]
        let number = mark.map { Int(text[text.utf8.index(after: $0)...]) } ?? 1
        guard Self.isUUID(uuid), let number, number > 0 else { return nil }
        self.init(CBUUID(string: String(uuid)), number: number)
    }

    /// Whether `CBUUID` takes it; it traps where not.
    private static func isUUID(_ text: Substring) -> Bool {
        if text.utf8.count == 36 { return UUID(uuidString: String(text)) != nil }
        return (text.utf8.count == 4 || text.utf8.count == 8)
            && text.utf8.allSatisfy { Unicode.Scalar($0).properties.isASCIIHexDigit }
    }

    /// `2A37`, or `2A37#2`.
    public var description: String { number == 1 ? uuid.uuidString : "\(uuid.uuidString)#\(number)" }

    /// The one that is meant among attributes in the device's order.
    func pick<Attribute: CBAttribute>(from attributes: [Attribute]?) -> Attribute? {
        var number = number
        for attribute in attributes ?? [] where attribute.uuid == uuid {
            number -= 1
            if number == 0 { return attribute }
        }
        return nil
    }
}
