/// How near a device is, in steps.
public enum Proximity: String, Hashable, Sendable, CaseIterable {
    /// Beside the host: -40 dBm.
    case immediate
    /// In the room: -70 dBm.
    case near
    /// At the edge: -100 dBm.
    case far
    /// Not heard at all; links are lost after the supervision timeout.
    case outOfRange

    /// The mean signal strength in dBm; nil where nothing is heard.
    public var rssi: Int? {
        switch self {
        case .immediate: -40
        case .near: -70
        case .far: -100
        case .outOfRange: nil
        }
    }
}
