package import Foundation

/// The content of a message that waits in the queue: a value, or the result of a command.
package struct MessageBody: Sendable {
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

    /// Returns the message as JSON, with the fields in the order of their names.
    ///
    package func json(id: String) -> Data {
        var text = "{"
        if let error {
            text += "\"error\":"
            text.appendJSON(error)
            text += ","
        }
        text += "\"id\":"
        text.appendJSON(id)
        if let ok { text += ",\"ok\":\(ok)" }
        text += ",\"time\":\"\(time.iso8601)\""
        if let value {
            text += ",\"value\":"
            text.appendJSON(value)
        }
        text += "}"
        return Data(text.utf8)
    }
}

extension String {
    /// Appends a value as JSON; a number that JSON cannot express is `null`.
    fileprivate mutating func appendJSON(_ value: MeasuredValue) {
        switch value {
        case .integer(let value): self += "\(value)"
        case .number(let value) where !value.isFinite: self += "null"
        case .number(let value):
            let text = "\(value)"
            self += text.hasSuffix(".0") ? text.dropLast(2) : text[...]
        case .text(let value): appendJSON(value)
        case .flag(let value): self += "\(value)"
        }
    }

    /// Appends text as JSON, in quotation marks.
    fileprivate mutating func appendJSON(_ text: String) {
        self += "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                unicodeScalars.append("\\")
                unicodeScalars.append(scalar)
            case "\n": self += "\\n"
            case "\r": self += "\\r"
            case "\t": self += "\\t"
            case ..<" ": self += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: unicodeScalars.append(scalar)
            }
        }
        self += "\""
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
