import BluetoothEmulator

/// The distance of a peripheral, in steps.
public enum CBMProximity: Sendable {
    /// The peripheral is beside the host: -40 dBm.
    case immediate
    /// The peripheral is in the room: -70 dBm.
    case near
    /// The peripheral is at the edge of the range: -100 dBm.
    case far
    /// The peripheral is not heard; links are lost after the supervision timeout.
    case outOfRange

    /// The variation of the signal strength in both directions.
    public enum Deviation: Sendable {
        /// The signal strength does not vary.
        case none
        /// The signal strength varies by 15 dBm.
        case `default`
        /// The signal strength varies by this number of dBm; the sign is ignored.
        case custom(_ deviation: Int)

        /// The variation in dBm, 0 or more.
        var value: Int {
            switch self {
            case .none: 0
            case .default: 15
            case .custom(let deviation): Int(clamping: deviation.magnitude)
            }
        }
    }

    /// The mean signal strength in dBm; 127 if the peripheral is not heard.
    var RSSI: Int { proximity.rssi ?? 127 }

    /// The distance in the type of the emulator.
    var proximity: Proximity {
        switch self {
        case .immediate: .immediate
        case .near: .near
        case .far: .far
        case .outOfRange: .outOfRange
        }
    }
}
