import CoreBluetooth
import Foundation

/// The links of which a central manager wants events.
struct ConnectionEventRegistration {
    private let services: [CBUUID]
    private let peripherals: [UUID]

    init(_ options: [CBConnectionEventMatchingOption: Any]?) {
        services = options?[.serviceUUIDs] as? [CBUUID] ?? []
        peripherals = options?[.peripheralUUIDs] as? [UUID] ?? []
    }

    /// Whether a peripheral is wanted: all where nothing is said.
    func matches(_ peripheral: EmulatedCBPeripheral) -> Bool {
        if services.isEmpty, peripherals.isEmpty { return true }
        return peripherals.contains(peripheral.identifier)
            || peripheral.server?.offers(services) == true
    }
}
