public import CoreBluetooth

/// The state that the system preserved for an earlier process of the app.
public struct RestoredState: Sendable {
    /// The devices that were connected or connecting.
    ///
    /// Keep those that matter: the others are released, and disconnected.
    public let peripherals: [Peripheral]
    /// The services that were scanned for; empty if any, nil if there was no scan.
    public let scannedServices: [CBUUID]?
}
