import CoreBluetooth

/// A characteristic to read from all devices that advertise its service.
struct Source {
    let service: CBUUID
    let characteristic: CBUUID

    /// Creates a source from two UUIDs of 4, 8 or 36 characters; nil for anything else.
    init?(service: String, characteristic: String) {
        guard Self.isUUID(service), Self.isUUID(characteristic) else { return nil }
        self.service = CBUUID(string: service)
        self.characteristic = CBUUID(string: characteristic)
    }

    /// Returns whether the text is a UUID; `CBUUID(string:)` traps on a malformed one, as on Apple's platforms.
    private static func isUUID(_ text: String) -> Bool {
        text.count == 36 ? UUID(uuidString: text) != nil : [4, 8].contains(text.count) && text.allSatisfy(\.isHexDigit)
    }
}
