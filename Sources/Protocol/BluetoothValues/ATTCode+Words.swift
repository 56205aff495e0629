extension ATTCode {
    /// The number as text, `ATT error 0x05`.
    package var number: String { "ATT error 0x" + Decimals.hex(rawValue, width: 2) }

    /// The number and the meaning, `ATT error 0x05: Authentication is insufficient.`; only the number without one.
    package var words: String { number + (meaning.map { ": " + $0 } ?? "") }

    /// The meaning in a sentence, Apple's if it is known; nil for a reserved code, and for one of an application.
    ///
    /// Sources: Core Specification, Vol 3, Part F, 3.4.1.1; Core Specification Supplement, Part B.
    package var meaning: String? {
        switch rawValue {
        case 0x01: "The handle is invalid."
        case 0x02: "Reading is not permitted."
        case 0x03: "Writing is not permitted."
        case 0x04: "The PDU is invalid."
        case 0x05: "Authentication is insufficient."
        case 0x06: "The request is not supported."
        case 0x07: "The offset is invalid."
        case 0x08: "Authorization is insufficient."
        case 0x09: "The prepare queue is full."
        case 0x0A: "The attribute could not be found."
        case 0x0B: "The attribute is not long."
        case 0x0C: "The encryption key size is insufficient."
        case 0x0D: "The value's length is invalid."
        case 0x0E: "Unlikely error."
        case 0x0F: "Encryption is insufficient."
        case 0x10: "The group type is unsupported."
        case 0x11: "Resources are insufficient."
        case 0x12: "The database is out of sync."
        case 0x13: "The value is not allowed."
        case 0xFC: "The write request is rejected."
        case 0xFD: "The client configuration is improper."
        case 0xFE: "The procedure is in progress already."
        case 0xFF: "The value is out of range."
        default: nil
        }
    }
}
