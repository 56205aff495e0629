package import Foundation

/// A message of a topic.
package struct MQTTMessage: Sendable, Equatable {
    /// The topic.
    package var topic: String
    /// The content.
    package var payload: Data
    /// Whether the broker keeps the message for later subscribers, or has kept this one, which may be old.
    package var isRetained: Bool

    package init(_ topic: String, _ payload: Data, isRetained: Bool = false) {
        self.topic = topic
        self.payload = payload
        self.isRetained = isRetained
    }

    /// Creates a message with text.
    package init(_ topic: String, _ text: String, isRetained: Bool = false) {
        self.init(topic, Data(text.utf8), isRetained: isRetained)
    }

    /// The content as text.
    package var text: String { String(decoding: payload, as: UTF8.self) }
}

/// An event of a connection.
package enum MQTTEvent: Sendable, Equatable {
    /// The broker accepted the connection.
    case connected
    /// The connection ended, or an attempt failed; the next one follows.
    case disconnected(MosquittoError)
    /// The broker acknowledged the messages with those packet identifiers.
    case acknowledged([Int32])
}
