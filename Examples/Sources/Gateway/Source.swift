import CoreBluetooth

/// A characteristic of all devices that advertise its service.
struct Source {
    let service: CBUUID
    let characteristic: CBUUID

    /// Two UUIDs of 4, 8 or 36 characters; nil for anything else.
    init?(service: String, characteristic: String) {
        guard Self.isUUID(service), Self.isUUID(characteristic) else { return nil }
        self.service = CBUUID(string: service)
        self.characteristic = CBUUID(string: characteristic)
    }

    /// `CBUUID(string:)` traps on a malformed UUID, as on Apple's platforms, so input of the user is checked first.
    private static func isUUID(_ text: String) -> Bool {
        text.count == 36 ? UUID(uuidString: text) != nil : [4, 8].contains(text.count) && text.allSatisfy(\.isHexDigit)
    }
}
