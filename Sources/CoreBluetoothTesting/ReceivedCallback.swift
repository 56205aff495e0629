public import CoreBluetoothPackage
import Foundation

/// A call of a delegate method that a test expected, and that came.
public struct ReceivedCallback: Sendable, CustomStringConvertible {
    /// Whom it concerns: the identifier of a peripheral or a central; nil for callbacks such as ``DelegateCallback/didUpdateState``.
    public let identifier: UUID?
    /// The UUIDs of the services, characteristics or descriptors.
    public let attributes: [CBUUID]
    /// The value that a read, a notification or an indication brought; nil for all other callbacks.
    public let value: Data?
    /// The error that the delegate was given.
    public let error: (any Error)?
    /// The method's name, what it concerns, and the error.
    public let description: String

    init(_ callback: DeliveredCallback) {
        identifier = callback.identifier
        attributes = callback.attributes
        value = callback.value
        error = callback.error
        description = callback.summary
    }
}

extension DeliveredCallback {
    /// One line, for messages.
    var summary: String {
        var text = method.rawValue
        if !attributes.isEmpty { text += " of " + attributes.map(\.uuidString).joined(separator: ", ") }
        if let identifier { text += " from \(identifier)" }
        if let error { text += " (\(error.localizedDescription))" }
        if !hasDelegate { text += " (no delegate)" }
        return text
    }
}
