package import Foundation

/// The content of a message that waits in the queue: a value, or the result of a command.
package struct MessageBody: Encodable, Sendable {
    /// The identifier of the message, by which a receiver recognizes a second delivery.
    package var id = ""
    /// The time at which the value arrived, or the command ended.
    package var time: Date
    /// The value.
    package var value: MeasuredValue?
    /// Whether the device accepted the command.
    package var ok: Bool?
    /// The reason that the command was not accepted.
    package var error: String?

    package init(time: Date = Date(), value: MeasuredValue) {
        self.time = time
        self.value = value
    }

    /// Creates the result of a command; without an error it succeeded.
    package init(time: Date = Date(), error: String?) {
        self.time = time
        ok = error == nil
        self.error = error
    }

    /// Returns the message as JSON.
    func json(id: String) throws -> Data {
        var body = self
        body.id = id
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
        }
        return try encoder.encode(body)
    }
}

/// A message to put into the queue.
package struct OutgoingMessage: Sendable {
    package var topic: String
    package var isRetained: Bool
    package var body: MessageBody

    package init(_ topic: String, isRetained: Bool, _ body: MessageBody) {
        self.topic = topic
        self.isRetained = isRetained
        self.body = body
    }
}
