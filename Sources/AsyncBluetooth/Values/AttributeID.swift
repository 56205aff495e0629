public import CoreBluetooth

/// Names an attribute of a device by the steps that lead to it: ``ServiceID``, ``CharacteristicID``, ``DescriptorID``.
///
/// As a literal it must be well formed: other text is a programming error and traps, as in `CBUUID(string:)`.
public protocol AttributeID: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The last step: the attribute itself.
    var step: AttributeStep { get }

    /// Reads a path: nil if it is none.
    init?(_ text: String)
}

extension AttributeID {
    /// Reads a path, and traps if it is none.
    public init(stringLiteral text: String) {
        guard let id = Self(text) else { preconditionFailure("\"\(text)\" is no \(Self.self)") }
        self = id
    }

    /// The attribute's UUID.
    public var uuid: CBUUID { step.uuid }

    /// Reads the path of this attribute, and a last step that leads to one within it.
    static func parsed(_ text: String) -> (outer: Self, step: AttributeStep)? {
        guard let slash = text.utf8.lastIndex(of: UInt8(ascii: "/")), let outer = Self(String(text[..<slash])),
            let step = AttributeStep(text[text.index(after: slash)...])
        else { return nil }
        return (outer, step)
    }
}
