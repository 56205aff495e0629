import Foundation

/// A service of the local GATT database.
///
/// Change it before it is added to a ``CBPeripheralManager``: while it is published it is frozen, and changes are ignored
/// with a log line. Not thread-safe: use it from one thread, or from the manager's queue. Source: Apple,
/// CBMutableService.
open class CBMutableService: CBService {
    private var ownIncludedServices: [CBService]?
    private var ownCharacteristics: [CBCharacteristic]?

    /// Whether a manager has published it.
    let publication = Publication()

    /// Makes a service that is not published yet.
    ///
    /// - Parameters:
    ///   - UUID: The service's type.
    ///   - isPrimary: Whether it is a primary service; a secondary one is meant to be included by another.
    public init(type UUID: CBUUID, primary isPrimary: Bool) {
        super.init(uuid: UUID, isPrimary: isPrimary)
    }

    /// The services that this one includes.
    ///
    /// They must be published before this one.
    open override var includedServices: [CBService]? {
        get { ownIncludedServices }
        set { if isChangeable("includedServices") { ownIncludedServices = newValue } }
    }

    /// The service's characteristics.
    ///
    /// Setting them makes this their `service`, weakly; those left out lose it.
    open override var characteristics: [CBCharacteristic]? {
        get { ownCharacteristics }
        set {
            guard isChangeable("characteristics") else { return }
            for characteristic in ownCharacteristics ?? [] where characteristic.service === self {
                characteristic.service = nil
            }
            ownCharacteristics = newValue
            for characteristic in newValue ?? [] { characteristic.service = self }
        }
    }

    private func isChangeable(_ property: String) -> Bool {
        guard publication.isHeld else { return true }
        Publication.logFrozen(self, property)
        return false
    }
}
