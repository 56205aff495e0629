/// The version of BlueZ that an emulated one imitates.
///
/// Clients find out what a BlueZ can do by the presence of interfaces and properties, which differ between versions.
public enum BlueZDialect: String, Hashable, Sendable, CaseIterable, Codable {
    /// BlueZ 5.66, of Debian 12.
    case bluez5_66 = "5.66"
    /// BlueZ 5.82, of Debian 13.
    case bluez5_82 = "5.82"
}

/// The version, the delays and the limits of an emulated BlueZ.
public struct EmulatedBlueZConfiguration: Hashable, Sendable {
    /// The version of BlueZ that clients see.
    public var dialect: BlueZDialect

    /// The settings of `bluetoothd` without a configuration file.
    ///
    /// - Parameter dialect: See ``dialect``.
    public init(dialect: BlueZDialect = .bluez5_66) {
        self.dialect = dialect
    }
}
