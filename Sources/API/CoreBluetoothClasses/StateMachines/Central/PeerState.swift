import BluetoothBackend
import BluetoothValues
import DequeModule

/// A handle of an object that represents a peer: the identifier, and the number of the object among those that had it.
struct PeerHandle: Hashable, Sendable {
    let id: PeerID
    let generation: UInt64
}

struct AttributeReference: Hashable, Sendable {
    let link: LinkID
    let id: AttributeID
}

struct PeerState {
    var generation: UInt64
    var name: String?
    var state = CBPeripheralState.disconnected
    /// The connect that is under way or led to the link.
    var connect: OperationID?
    var link: LinkID?
    var client = GATTClient()
    var isANCSAuthorized = false
    /// Whether the link is being ended because its notifications were too many for the app.
    var hasOverflowed = false

    init(generation: UInt64, name: String?) {
        self.generation = generation
        self.name = name
    }

    /// Resets everything that ends with a link; pending operations get no callback (S46, S47).
    mutating func endLink() {
        connect = nil
        link = nil
        client = GATTClient()
        isANCSAuthorized = false
        hasOverflowed = false
    }
}

/// The client of a link: the requests under way, the credits for write commands, and the state learned from the server.
struct GATTClient {
    struct Pending {
        var operation: OperationID
        var request: LinkRequest
        /// The response to a request that never reaches the backend; it waits for the responses before it (S66).
        var localResponse: LinkResponse?
    }

    var mtu = ATTLimits.minimumMTU
    var writeCredits = 0
    /// The write commands whose credits have not come back.
    private var unsentWrites = 0
    var pending = Deque<Pending>()
    var notifying: Set<AttributeID> = []
    /// The attributes that were delivered to the app (S57).
    var database = AttributeDirectory()

    /// The most bytes of a value that one packet carries (S79).
    var maximumCommandLength: Int { min(ATTLimits.written(mtu: mtu), ATTLimits.longestValue) }

    mutating func sendCommand() {
        writeCredits -= 1
        unsentWrites += 1
    }

    /// Adds write credits.
    ///
    /// - Returns: Whether a full queue has room again, and whether the last of the commands under way was sent.
    mutating func grantWrites(_ count: Int) -> (hasRoomAgain: Bool, isAllSent: Bool) {
        guard count > 0 else { return (false, false) }
        let wasFull = writeCredits == 0
        let wasSending = unsentWrites > 0
        writeCredits += count
        unsentWrites = max(0, unsentWrites - count)
        return (wasFull, wasSending && unsentWrites == 0)
    }

    /// Removes the operation with this number, in order or not.
    mutating func removePending(_ operation: OperationID) -> Pending? {
        if pending.first?.operation == operation { return pending.popFirst() }
        guard let index = pending.firstIndex(where: { $0.operation == operation }) else { return nil }
        return pending.remove(at: index)
    }
}
