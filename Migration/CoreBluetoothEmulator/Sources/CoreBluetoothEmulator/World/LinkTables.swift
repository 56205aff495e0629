import CoreBluetooth
import Foundation

/// What the bus keeps about pairs of managers, besides what the emulator knows.
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

    /// The number of places that are taken.
    private var occupied: [Queue: Int] = [:]
    /// The MTUs that were negotiated over the bus.
    var negotiatedMTUs: [Pair: Int] = [:]
    /// The ANCS authorizations, as raw values, by central.
    var ancsAuthorizations: [UUID: Int] = [:]

    func hasRoom(_ queue: Queue, limit: Int) -> Bool { occupied[queue, default: 0] < max(1, limit) }

    mutating func occupy(_ queue: Queue) { occupied[queue, default: 0] += 1 }

    /// - Returns: Whether the queue was full and is so no more.
    mutating func release(_ queue: Queue, limit: Int) -> Bool {
        guard let count = occupied[queue], count > 0 else { return false }
        occupied[queue] = count == 1 ? nil : count - 1
        return count == max(1, limit)
    }

    /// A link has ended: its queue and its MTU with it.
    mutating func forget(_ pair: Pair) {
        occupied[.writes(pair)] = nil
        negotiatedMTUs[pair] = nil
    }
}
