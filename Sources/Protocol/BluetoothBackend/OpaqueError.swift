/// An error of any type, passed to the app's callback unchanged: the object that a handler or a test supplied.
///
/// It exists only within the process. On the air it becomes ATT error 0x0E (unlikely error) or a terminated link, and
/// recordings keep its text. It equals only its copies.
public struct OpaqueError: Error, Hashable, Sendable, Codable {
    private final class Box: Sendable {
        let error: any Error

        init(_ error: any Error) { self.error = error }
    }

    /// The text of an error that was read from a recording.
    private struct RecordedError: Error, CustomStringConvertible {
        let description: String
    }

    private let box: Box

    /// Wraps an error.
    public init(_ error: any Error) { box = Box(error) }

    /// Reads the text of a recorded error.
    public init(from decoder: any Decoder) throws {
        self.init(RecordedError(description: try decoder.singleValueContainer().decode(String.self)))
    }

    /// The error.
    public var error: any Error { box.error }

    /// Writes the error's text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode("\(error)")
    }

    /// Whether both wrap the error of one ``init(_:)``.
    public static func == (left: Self, right: Self) -> Bool { left.box === right.box }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(box)) }
}
