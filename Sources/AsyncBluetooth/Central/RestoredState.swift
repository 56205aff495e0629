public import CoreBluetooth

/// What the system kept of an earlier process of the app.
public struct RestoredState: Sendable {
    /// The devices that were connected or connecting; keep those that matter, the others are let go.
    public let peripherals: [Peripheral]
    /// The services that were scanned for; empty if any, nil if there was no scan.
    public let scannedServices: [CBUUID]?
}
