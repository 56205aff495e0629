import BluetoothEmulator

/// The distance of a peripheral, in steps.
public enum CBMProximity: Sendable {
    /// Beside the host: -40 dBm.
    case immediate
    /// In the room: -70 dBm.
    case near
    /// At the edge: -100 dBm.
    case far
    /// Not heard at all; links are lost after the supervision timeout.
    case outOfRange

    /// By how many dBm the signal strength varies in both directions.
    public enum Deviation: Sendable {
        /// It does not vary.
        case none
        /// By 15 dBm.
        case `default`
        /// By so many dBm; the sign does not count.
        case custom(_ deviation: Int)

        /// In dBm, 0 or more.
        var value: Int {
            switch self {
            case .none: 0
            case .default: 15
            case .custom(let deviation): Int(clamping: deviation.magnitude)
            }
        }
    }

    /// The mean signal strength in dBm; 127 where nothing is heard.
    var RSSI: Int { proximity.rssi ?? 127 }

    /// The same distance as the emulator names it.
    var proximity: Proximity {
        switch self {
        case .immediate: .immediate
        case .near: .near
        case .far: .far
        case .outOfRange: .outOfRange
        }
    }
}
