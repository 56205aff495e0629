#if os(Linux)
import BluetoothLocking
import CoreBluetooth
public import CoreBluetoothPackage

// What is dropped before it reaches a sequence; what a sequence itself drops is counted by its iterator.

extension Central {
    /// Counts what the manager under this central did not deliver, since its queue was too slow for it.
    ///
    /// Linux only. The page "Limits" of CoreBluetooth lists the limits and what happens beyond them; what a late consumer
    /// of a sequence loses is counted apart, by `droppedCount` of its iterator.
    public var droppedEvents: CBDroppedEvents { radio.manager.value.droppedEvents }
}

extension PeripheralServer {
    /// Counts what the manager under this server did not deliver, since its queue was too slow for it.
    ///
    /// Linux only. The page "Limits" of CoreBluetooth lists the limits and what happens beyond them; requests that are
    /// refused because too many handlers run are not among them.
    public var droppedEvents: CBDroppedEvents { manager.value.droppedEvents }
}
#endif
