import CoreBluetooth
import Foundation

/// The links whose events a central manager requests.
struct ConnectionEventRegistration {
    private let services: [CBUUID]
    private let peripherals: [UUID]

    init(_ options: [CBConnectionEventMatchingOption: Any]?) {
        services = options?[.serviceUUIDs] as? [CBUUID] ?? []
        peripherals = options?[.peripheralUUIDs] as? [UUID] ?? []
    }

    /// Returns whether a peripheral matches; every peripheral does without criteria.
    func matches(_ peripheral: EmulatedCBPeripheral) -> Bool {
        if services.isEmpty, peripherals.isEmpty { return true }
        return peripherals.contains(peripheral.identifier)
            || peripheral.server?.offers(services) == true
    }
}
