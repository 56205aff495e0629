#if os(Linux)
/// The rules for names on a bus.
///
/// Source: D-Bus Specification, "Valid Names".
package enum DBusName {
    /// Whether the text is an interface name such as `org.bluez.Device1`; error names follow the same rule.
    package static func isInterface(_ text: String) -> Bool {
        hasElements(text.utf8, allowingHyphen: false, allowingLeadingDigit: false)
    }

    /// Whether the text is a member name such as `GetManagedObjects`.
    package static func isMember(_ text: String) -> Bool {
        let bytes = text.utf8
        guard let first = bytes.first, !isDigit(first), bytes.count <= DBusLimits.nameLength else { return false }
        return bytes.allSatisfy(isWordCharacter)
    }

    /// Whether the text is a bus name, unique (`:1.42`) or well-known (`org.bluez`).
    package static func isBus(_ text: String) -> Bool {
        guard isUnique(text) else {
            return hasElements(text.utf8, allowingHyphen: true, allowingLeadingDigit: false)
        }
        guard text.utf8.count <= DBusLimits.nameLength else { return false }
        return hasElements(text.utf8.dropFirst(), allowingHyphen: true, allowingLeadingDigit: true)
    }

    /// Whether the text begins like a unique connection name.
    package static func isUnique(_ text: String) -> Bool {
        text.utf8.first == UInt8(ascii: ":")
    }

    static func isWordCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func hasElements(
        _ text: some Collection<UInt8>, allowingHyphen: Bool, allowingLeadingDigit: Bool
    ) -> Bool {
        var length = 0
        var dots = 0
        var isAtStart = true
        // One pass, because each call checks three names.
        for byte in text {
            length += 1
            if byte == UInt8(ascii: ".") {
                guard !isAtStart else { return false }
                dots += 1
                isAtStart = true
                continue
            }
            guard isWordCharacter(byte) || (allowingHyphen && byte == UInt8(ascii: "-")) else { return false }
            guard !isAtStart || allowingLeadingDigit || !isDigit(byte) else { return false }
            isAtStart = false
        }
        return length <= DBusLimits.nameLength && dots >= 1 && !isAtStart
    }
}
#endif
