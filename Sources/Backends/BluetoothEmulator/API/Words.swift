import BluetoothBackend

// The emulator's values in words, the same in every tool.

extension Proximity {
    /// The distance in words.
    package var words: String {
        switch self {
        case .immediate: "beside"
        case .near: "near"
        case .far: "far"
        case .outOfRange: "out of range"
        }
    }
}

extension PHY {
    /// The usual name.
    package var words: String {
        switch self {
        case .le1M: "LE 1M"
        case .le2M: "LE 2M"
        case .leCodedS2: "LE Coded, S=2"
        case .leCodedS8: "LE Coded, S=8"
        }
    }
}

extension SecurityLevel {
    /// The security in words.
    package var words: String {
        switch self {
        case .plain: "not encrypted"
        case .bonded: "bonded, not encrypted"
        case .encrypted: "encrypted"
        case .authenticated: "encrypted and authenticated"
        }
    }
}

extension PairingMethod {
    /// The method's usual name, and who shows the passkey.
    package var words: String {
        switch self {
        case .justWorks: "Just Works"
        case .numericComparison: "numeric comparison"
        case .passkey(shownBy: .central?): "passkey shown by the host"
        case .passkey(shownBy: .peripheral?): "passkey shown by the device"
        case .passkey(shownBy: nil): "passkey entered on both sides"
        case .outOfBand: "out of band"
        }
    }
}

extension PairingDescription.Answer {
    /// The answer of the device's user in words.
    package var words: String {
        switch self {
        case .accept: "accepts"
        case .reject: "refuses"
        case .ignore: "never answers"
        }
    }
}

extension ChannelRefusal {
    /// The reason in words.
    package var words: String {
        switch self {
        case .noService: "no service listens"
        case .noResources: "no room is left"
        case .insufficientAuthentication: "authentication is insufficient"
        case .insufficientEncryption: "encryption is insufficient"
        }
    }
}

extension DeviceAddress {
    /// The kind of the address.
    package var kindWords: String {
        switch bits >> 46 {
        case 0b11: "static random address"
        case 0b01: "resolvable private address"
        default: "public address"
        }
    }
}

extension DeviceParameter {
    /// The name for people, the unit if there is one, and whether 0 and 1 mean off and on.
    package struct Words: Hashable, Sendable {
        package var title: String
        package var unit = ""
        package var isSwitch = false
    }

    /// The parameter in words; a parameter of a custom handler has the words of its name.
    package var words: Words {
        switch self {
        case .batteryLevel: Words(title: "Battery level", unit: "%")
        case .heartRate: Words(title: "Heart rate", unit: "bpm")
        case .sensorContact: Words(title: "Skin contact", isSwitch: true)
        case .sensorContactSupported: Words(title: "Detects skin contact", isSwitch: true)
        case .energyExpended: Words(title: "Energy expended", unit: "kJ")
        case .temperature: Words(title: "Temperature")
        case .fahrenheit: Words(title: "Degrees Fahrenheit", isSwitch: true)
        case .measurementInterval: Words(title: "Measurement interval", unit: "s")
        case .cadence: Words(title: "Cadence", unit: "rpm")
        case .wheelRate: Words(title: "Wheel speed", unit: "rpm")
        case .timeOffset: Words(title: "Clock ahead by", unit: "s")
        case .timeZone: Words(title: "Time zone", unit: "quarters of an hour")
        case .daylightSaving: Words(title: "Daylight saving", unit: "quarters of an hour")
        default: Words(title: Self.title(of: rawValue))
        }
    }

    private static func title(of name: String) -> String {
        name.map { $0.isUppercase ? " " + $0.lowercased() : String($0) }.joined().capitalizedFirst
    }
}
