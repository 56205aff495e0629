public import BluetoothSupport

/// A remote device as this host knows it.
///
/// Apple: `CBPeer.identifier`.
public struct PeerID: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The identifier that apps see.
    public let uuid: UUID

    /// Wraps an identifier.
    public init(_ uuid: UUID) { self.uuid = uuid }

    /// Hashes the identifier as two integers, which takes half the time of 16 bytes; each command and event looks up
    /// its peer.
    public func hash(into hasher: inout Hasher) {
        withUnsafeBytes(of: uuid.uuid) { bytes in
            hasher.combine(bytes.loadUnaligned(as: UInt64.self))
            hasher.combine(bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
    }

    /// The UUID in upper case.
    public var description: String { uuid.uuidString }
}

/// A number with a type, so that a link cannot be confused with an operation.
public protocol NumericIdentifier: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible
where RawValue: FixedWidthInteger & Codable & Sendable {
    /// Wraps a number.
    init(rawValue: RawValue)
}

extension NumericIdentifier {
    /// Orders by number, which is the order of creation.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The number.
    public var description: String { "\(rawValue)" }

    /// The identifier that follows this one.
    public var next: Self { Self(rawValue: rawValue &+ 1) }
}

/// One manager's connection to one peer, from `connected` to `disconnected`; new at each connection.
public struct LinkID: NumericIdentifier {
    /// The number.
    public let rawValue: UInt64
    /// Wraps a number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// A command that expects an answer, and its answer.
public struct OperationID: NumericIdentifier {
    /// The number.
    public let rawValue: UInt64
    /// Wraps a number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// An attribute of a link's database or of a manager's services; never reused within the link or the manager.
public struct AttributeID: NumericIdentifier {
    /// The number.
    public let rawValue: UInt32
    /// Wraps a number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// A read or write request from a central, until it is answered.
public struct RequestID: NumericIdentifier {
    /// The number.
    public let rawValue: UInt64
    /// Wraps a number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// An open L2CAP channel.
public struct ChannelID: NumericIdentifier {
    /// The number.
    public let rawValue: UInt64
    /// Wraps a number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// A question of a pairing to the user.
public struct PairingRequestID: NumericIdentifier {
    /// The number.
    public let rawValue: UInt64
    /// Wraps a number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}
