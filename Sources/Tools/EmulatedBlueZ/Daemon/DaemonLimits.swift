#if os(Linux)
/// The limits of what clients may use of an emulated daemon; a request beyond them is refused.
enum DaemonLimits {
    /// The write commands of one link that wait for the controller.
    static let queuedCommands = 4_096
    /// The attributes of one application.
    static let attributes = 4_096
    /// The applications of one client on one adapter.
    static let applications = 64
    /// The profiles of one client.
    static let profiles = 64
    /// The roots of monitors of one client on one adapter, and the monitors below one of them.
    static let monitors = 64
    /// The battery providers of one client on one adapter.
    static let batteryProviders = 64
    /// The devices that one monitor tracks.
    static let monitoredDevices = 1_024
    /// The values of one characteristic that wait for one central.
    static let queuedValues = 1_024
}
#endif
