public import CoreBluetoothClasses
import Foundation

/// A call of a delegate method that a test expected and that arrived.
public struct ReceivedCallback: Sendable, CustomStringConvertible {
    /// The identifier of the peripheral or central that it concerns; nil for callbacks such as
    /// ``DelegateCallback/didUpdateState``.
    public let identifier: UUID?
    /// The UUIDs of the services, characteristics or descriptors.
    public let attributes: [CBUUID]
    /// The value of a read, a notification or an indication; nil for all other callbacks.
    public let value: Data?
    /// The error that the delegate received.
    public let error: (any Error)?
    /// The method's name, the peer and attributes, and the error.
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
    /// A line for messages.
    var summary: String {
        var text = method.rawValue
        if !attributes.isEmpty { text += " of " + attributes.map(\.uuidString).joined(separator: ", ") }
        if let identifier { text += " from \(identifier)" }
        if let error { text += " (\(error.localizedDescription))" }
        if !hasDelegate { text += " (no delegate)" }
        return text
    }
}
