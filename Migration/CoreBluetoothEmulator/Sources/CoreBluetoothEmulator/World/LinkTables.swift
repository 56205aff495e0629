import CoreBluetooth
import Foundation

/// The bus's data about pairs of managers, besides the emulator's.
struct LinkTables {
    /// A central manager and a peripheral manager.
    struct Pair: Hashable {
        let central: UUID
        let peripheral: UUID
    }

    /// A queue that may be full.
    enum Queue: Hashable {
        /// The writes without response of a link.
        case writes(Pair)
        /// The values of a characteristic of a peripheral manager.
        case notifications(peripheral: UUID, characteristic: CBUUID)
    }

    /// The number of occupied places.
    private var occupied: [Queue: Int] = [:]
    /// The MTUs that were negotiated over the bus.
    var negotiatedMTUs: [Pair: Int] = [:]
    /// The ANCS authorizations, as raw values, by central.
    var ancsAuthorizations: [UUID: Int] = [:]

    func hasRoom(_ queue: Queue, limit: Int) -> Bool { occupied[queue, default: 0] < max(1, limit) }

    mutating func occupy(_ queue: Queue) { occupied[queue, default: 0] += 1 }

    /// - Returns: Whether the queue was full and no longer is.
    mutating func release(_ queue: Queue, limit: Int) -> Bool {
        guard let count = occupied[queue], count > 0 else { return false }
        occupied[queue] = count == 1 ? nil : count - 1
        return count == max(1, limit)
    }

    /// Removes the queue and the MTU of a link that has ended.
    mutating func forget(_ pair: Pair) {
        occupied[.writes(pair)] = nil
        negotiatedMTUs[pair] = nil
    }
}
