import BluetoothBackend
import CoreBluetooth

/// A simulated central's knowledge of its link: a value under its owner's lock.
struct CentralClient {
    /// A service and its characteristics, in the order of discovery.
    struct Service {
        let uuid: BluetoothUUID
        let characteristics: [CharacteristicRecord]
    }

    /// A closure that waits for the services; receives the link, or nil if it has ended.
    typealias Waiter = (LinkID?) -> Void

    var pending: [OperationID: (LinkResponse?) -> Void] = [:]
    /// The write commands that wait for credits.
    var commands: [(AttributeID, Data)] = []
    /// The last connect, and the one that led to the link.
    private(set) var (lastConnect, linkConnect): (OperationID?, OperationID?)
    /// Whether the services are known.
    var isExplored = false
    private var link: LinkID?
    private var credits = 0
    private var services: [Service] = []
    private var waiters: [Waiter] = []
    private var lastOperation = OperationID(rawValue: 0)

    mutating func nextOperation() -> OperationID {
        lastOperation = lastOperation.next
        return lastOperation
    }

    // MARK: Links

    /// Returns the operation of a new connect.
    mutating func nextConnect() -> OperationID {
        let operation = nextOperation()
        lastConnect = operation
        return operation
    }

    /// Whether the link is older than the last connect, whose link is still to come.
    var isOutdated: Bool { linkConnect.map { $0 != lastConnect } ?? false }

    mutating func linked(_ link: LinkID, by connect: OperationID, credits: Int) {
        self.link = link
        linkConnect = connect
        self.credits = credits
        isExplored = false
    }

    /// Records the end of the link.
    ///
    /// - Returns: The waiters for the link or for an answer, which receive nil; waiters for a newer link continue to
    ///   wait.
    mutating func unlinked() -> [Waiter] {
        var next = CentralClient()
        (next.lastOperation, next.lastConnect) = (lastOperation, lastConnect)
        let answers: [Waiter] = pending.values.map { completion in { _ in completion(nil) } }
        if isOutdated { next.waiters = waiters }
        defer { self = next }
        return isOutdated ? answers : waiters + answers
    }

    /// Records the discovered services.
    ///
    /// - Returns: The waiters for them.
    mutating func explored(_ services: [Service]) -> [Waiter] {
        self.services = services
        isExplored = true
        defer { waiters = [] }
        return waiters
    }

    /// Returns the link, if its services are known; otherwise the waiter is called later.
    mutating func wait(_ waiter: @escaping Waiter) -> LinkID? {
        if isExplored, !isOutdated, let link { return link }
        waiters.append(waiter)
        return nil
    }

    /// Takes the commands that credits allow, and the link.
    mutating func takeCommands(adding added: Int) -> (LinkID?, [(AttributeID, Data)]) {
        credits += added
        guard let link else { return (nil, []) }
        let taken = Array(commands.prefix(credits))
        commands.removeFirst(taken.count)
        credits -= taken.count
        return (link, taken)
    }

    // MARK: Attributes

    /// Returns the discovered attribute of a published characteristic: by UUIDs and, among equals, by order.
    func attribute(of characteristic: CBMMutableCharacteristic, in published: [CBMMutableService]) -> AttributeID? {
        for (service, found) in pairs(published) {
            for (own, record) in Self.pairs(service, found) where own === characteristic { return record.id }
        }
        return nil
    }

    /// Returns the published characteristic of a discovered attribute.
    func characteristic(_ id: AttributeID, of published: [CBMMutableService]) -> CBMMutableCharacteristic? {
        for (service, found) in pairs(published) {
            for (own, record) in Self.pairs(service, found) where record.id == id { return own }
        }
        return nil
    }

    private func pairs(_ published: [CBMMutableService]) -> [(CBMMutableService, Service)] {
        Self.match(published, services, { BluetoothUUID($0.uuid) }, \.uuid)
    }

    private static func pairs(
        _ service: CBMMutableService, _ found: Service
    ) -> [(CBMMutableCharacteristic, CharacteristicRecord)] {
        match(service.mutables, found.characteristics, { BluetoothUUID($0.uuid) }, \.uuid)
    }

    /// Pairs each element with the one of the same UUID and the same number of equals before it.
    private static func match<Own, Found>(
        _ own: [Own], _ found: [Found], _ uuid: (Own) -> BluetoothUUID, _ foundUUID: (Found) -> BluetoothUUID
    ) -> [(Own, Found)] {
        var used: [BluetoothUUID: Int] = [:]
        return own.compactMap { element in
            let type = uuid(element)
            let index = used[type, default: 0]
            used[type] = index + 1
            return found.filter { foundUUID($0) == type }.dropFirst(index).first.map { (element, $0) }
        }
    }
}
