public import CoreBluetooth

/// One part of a path to an attribute: a UUID, and which one among those that have it.
public struct AttributeStep: Hashable, Sendable, CustomStringConvertible {
    /// The attribute's type.
    public let uuid: CBUUID
    /// Which of the attributes with this UUID, in the device's order, from 1.
    public let number: Int

    /// Names the attribute of a UUID.
    ///
    /// - Parameters:
    ///   - uuid: The attribute's type.
    ///   - number: Which one of those, from 1; less is taken as 1.
    public init(_ uuid: CBUUID, number: Int = 1) {
        self.uuid = uuid
        self.number = max(1, number)
    }

    /// Reads `2A37` or, for the second one of that UUID, `2A37#2`.
    init?(_ text: Substring) {
        let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let number = parts.count == 2 ? Int(parts[1]) : 1
        guard let first = parts.first, Self.isUUID(first), let number, number > 0 else { return nil }
        self.init(CBUUID(string: String(first)), number: number)
    }

    /// Whether `CBUUID` takes it; it traps where not.
    private static func isUUID(_ text: Substring) -> Bool {
        if text.count == 36 { return UUID(uuidString: String(text)) != nil }
        return (text.count == 4 || text.count == 8) && text.allSatisfy { $0.isASCII && $0.isHexDigit }
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
