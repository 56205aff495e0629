import BluetoothBackend
import CoreBluetooth

/// What a simulated central knows of its link: a value under its owner's lock.
struct CentralClient {
    /// A service and its characteristics, in the order of discovery.
    struct Service {
        let uuid: BluetoothUUID
        let characteristics: [CharacteristicRecord]
    }

    /// Waits for the services; gets the link, or nil if it is over.
    typealias Waiter = (LinkID?) -> Void

    var pending: [OperationID: (LinkResponse?) -> Void] = [:]
    /// The write commands that wait for room.
    var commands: [(AttributeID, Data)] = []
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

    mutating func linked(_ link: LinkID, credits: Int) {
        self.link = link
        self.credits = credits
        isExplored = false
    }

    /// The link is over.
    ///
    /// - Returns: Those who wait for the link or for an answer, who get nil.
    mutating func unlinked() -> [Waiter] {
        let left = waiters + pending.values.map { completion in { _ in completion(nil) } }
        self = CentralClient(lastOperation: lastOperation)
        return left
    }

    init() {}

    private init(lastOperation: OperationID) { self.lastOperation = lastOperation }

    /// The services are known.
    ///
    /// - Returns: Those who waited for that.
    mutating func explored(_ services: [Service]) -> [Waiter] {
        self.services = services
        isExplored = true
        defer { waiters = [] }
        return waiters
    }

    /// The link, if its services are known; otherwise the waiter is called later.
    mutating func wait(_ waiter: @escaping Waiter) -> LinkID? {
        if isExplored, let link { return link }
        waiters.append(waiter)
        return nil
    }

    /// Takes the commands for which there is room, and the link.
    mutating func takeCommands(adding added: Int) -> (LinkID?, [(AttributeID, Data)]) {
        credits += added
        guard let link else { return (nil, []) }
        let taken = Array(commands.prefix(credits))
        commands.removeFirst(taken.count)
        credits -= taken.count
        return (link, taken)
    }

    // MARK: Attributes

    /// The discovered attribute of a published characteristic: by UUIDs and, among equals, by order.
    func attribute(of characteristic: CBMMutableCharacteristic, in published: [CBMMutableService]) -> AttributeID? {
        for (service, found) in pairs(published) {
            for (own, record) in Self.pairs(service, found) where own === characteristic { return record.id }
        }
        return nil
    }

    /// The published characteristic of a discovered attribute.
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

    /// Pairs each element with the one of the same UUID that has as many equals before it.
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
