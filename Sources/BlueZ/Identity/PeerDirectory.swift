#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// Which identifier belongs to which remote device of an adapter.
///
/// ``ObjectModel`` keeps one for each adapter, in step with the daemon's objects, for all roles.
///
/// An identifier is computed from the adapter's address, the device's identity address and its type, so that it is
/// the same in every process. A device that is met under a private address keeps the identifier of that address for
/// the process, also when bonding reveals its identity.
///
/// A device is known while `bluetoothd` has an object for it. Of those without one a limited number is remembered, and
/// those that this process has connected to are counted apart, so that strangers do not displace them.
// Invariant: used where its ``ObjectModel`` is.
final class PeerDirectory: @unchecked Sendable {
    /// What is known of a device.
    struct Record: Equatable, Sendable {
        var address: String
        var isRandom: Bool
        /// From advertising data.
        var advertisedName: String?
        /// The GAP Device Name.
        var gapName: String?
        /// The device's object, if it has one now.
        fileprivate(set) var path: ObjectPath?
        /// Whether this process wanted a connection with it.
        fileprivate(set) var isUsed = false

        init(address: String, isRandom: Bool, advertisedName: String? = nil) {
            self.address = address
            self.isRandom = isRandom
            self.advertisedName = advertisedName
        }

        /// What the host calls it.
        var name: String? { gapName ?? advertisedName }

        fileprivate var key: Key { Key(address: address, isRandom: isRandom) }
    }

    fileprivate struct Key: Hashable, Sendable {
        let address: String
        let isRandom: Bool
    }

    private let adapterAddress: String
    /// How many devices without an object are remembered, of those that were used and of the others; nil before a manager
    /// asked for a number.
    private var limit: Int?
    /// The devices with an object.
    private var present: [PeerID: Record] = [:]
    private var byPath: [ObjectPath: PeerID] = [:]
    /// Devices without an object that this process has wanted a connection with.
    private var used: LRUCache<PeerID, Record>
    /// Other devices without an object.
    private var heard: LRUCache<PeerID, Record>
    /// The identifiers that do not follow from the device's present address.
    private var aliases: [Key: PeerID] = [:]

    /// An empty directory of an adapter's devices.
    init(adapterAddress: String) {
        self.adapterAddress = adapterAddress
        used = LRUCache(limit: RoleOptions.defaultRememberedPeers)
        heard = LRUCache(limit: RoleOptions.defaultRememberedPeers)
    }

    /// How many devices are known.
    var count: Int { present.count + used.count + heard.count }

    /// The devices with an object.
    var presentPeers: [PeerID] { Array(present.keys) }

    /// What is known of a device, also after BlueZ has forgotten it.
    subscript(peer: PeerID) -> Record? { present[peer] ?? used[peer] ?? heard[peer] }

    /// The identifier of the device at a path, if it was noted.
    func peer(at path: ObjectPath) -> PeerID? { byPath[path] }

    /// The device's object, if it has one now.
    func path(of peer: PeerID) -> ObjectPath? { present[peer]?.path }

    /// Remembers so many devices without an object, or more if another manager wants that.
    func remember(atLeast wanted: Int) {
        let limit = max(limit ?? 1, wanted)
        self.limit = limit
        for forgotten in used.changeLimit(to: limit) + heard.changeLimit(to: limit) {
            removeAlias(forgotten.value.key, of: forgotten.key)
        }
    }

    /// Notes a device, or what changed of it.
    ///
    /// BlueZ pitfall: after bonding, `Address` is the identity and the path still the private address
    /// (https://github.com/hbldh/bleak/issues/1737): the device keeps its identifier.
    ///
    /// `Device1.Name` is the advertised name at each report, and the GAP Device Name at each connection. Of a device that
    /// is connected when it is met, as another program's, it is taken for both: `bluetoothd` reports another name as soon
    /// as the device advertises one.
    ///
    /// - Parameter isNamed: Whether its name is new.
    @discardableResult
    func log(_ path: ObjectPath, _ device: Device1, isNamed: Bool) -> PeerID? {
        guard !device.address.isEmpty else { return nil }
        let isNew = byPath[path] == nil
        let peer = log(path, device.address, isRandom: device.isRandom)
        guard isNamed, let name = device.name else { return peer }
        if device.isConnected { present[peer]?.gapName = name }
        let mayBeAdvertised = isNew && present[peer]?.advertisedName == nil
        if !device.isConnected || mayBeAdvertised { present[peer]?.advertisedName = name }
        return peer
    }

    /// Notes the device at a path by its address.
    func log(_ path: ObjectPath, _ address: String, isRandom: Bool) -> PeerID {
        let key = Key(address: address, isRandom: isRandom)
        let peer = byPath[path] ?? identifier(of: key)
        var record =
            present[peer] ?? used.remove(peer) ?? heard.remove(peer) ?? Record(address: address, isRandom: isRandom)
        record.path = path
        if record.key != key { change(&record, of: peer, to: key) }
        byPath[path] = peer
        present[peer] = record
        return peer
    }

    /// Notes that this process wants a connection with a device.
    func noteUse(of peer: PeerID) {
        if present[peer] != nil {
            present[peer]?.isUsed = true
        } else if used.use(peer, { _ in }) == nil, let record = heard.remove(peer) {
            remember(peer, record, isUsed: true)
        }
    }

    /// Notes a device that an earlier process knew, under the identifier that it had there.
    func remember(_ peer: PeerID, _ address: String, isRandom: Bool, _ name: String?) {
        let key = Key(address: address, isRandom: isRandom)
        guard self[peer] == nil, self.peer(at: address, isRandom: isRandom) == nil else { return }
        if identifier(of: key) != peer { aliases[key] = peer }
        remember(peer, Record(address: address, isRandom: isRandom, advertisedName: name), isUsed: true)
    }

    /// The identifier of a device by its address, if it was noted.
    func peer(at address: String, isRandom: Bool) -> PeerID? {
        let peer = identifier(of: Key(address: address, isRandom: isRandom))
        return self[peer] == nil ? nil : peer
    }

    /// Notes that a device's object is gone.
    ///
    /// The identifier stays valid.
    func forgetObject(at path: ObjectPath) {
        guard let peer = byPath.removeValue(forKey: path), present[peer]?.path == path,
            var record = present.removeValue(forKey: peer)
        else { return }
        // The name that BlueZ read from the device went with its object.
        record.gapName = nil
        remember(peer, record, isUsed: record.isUsed)
    }

    /// Notes that all objects are gone.
    func forgetObjects() {
        for path in byPath.keys.sorted() {
            guard let peer = byPath[path], let record = present.removeValue(forKey: peer) else { continue }
            remember(peer, record, isUsed: record.isUsed)
        }
        byPath = [:]
    }

    /// What apps may know of a peer.
    func summary(of peer: PeerID) -> PeerSummary? {
        self[peer].map { PeerSummary(id: peer, name: $0.name, address: $0.address) }
    }

    // MARK: Steps

    private func remember(_ peer: PeerID, _ record: Record, isUsed: Bool) {
        var record = record
        record.path = nil
        record.isUsed = isUsed
        let forgotten = isUsed ? used.insert(record, for: peer) : heard.insert(record, for: peer)
        if let forgotten { removeAlias(forgotten.value.key, of: forgotten.key) }
    }

    private func change(_ record: inout Record, of peer: PeerID, to key: Key) {
        removeAlias(record.key, of: peer)
        (record.address, record.isRandom) = (key.address, key.isRandom)
        if identifier(of: key) != peer { aliases[key] = peer }
    }

    private func removeAlias(_ key: Key, of peer: PeerID) {
        if aliases[key] == peer { aliases[key] = nil }
    }

    private func identifier(of key: Key) -> PeerID {
        aliases[key]
            ?? PeerID(PeerIdentity.identifier(adapter: adapterAddress, address: key.address, isRandom: key.isRandom))
    }
}
#endif
