#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The identifiers of the remote devices of an adapter.
///
/// ``ObjectModel`` keeps one directory for each adapter, in step with the daemon's objects, for all roles.
///
/// An identifier is computed from the adapter's address, the device's identity address and its type, so that it is
/// the same in every process. A device that was first seen under a private address keeps the identifier of that address
/// for the process, even if bonding reveals its identity.
///
/// A device is known while `bluetoothd` exports an object for it. Of the devices without an object, a limited number is
/// remembered. Devices that this process has connected to are counted separately, so that others do not displace them.
// Invariant: used only where its ``ObjectModel`` is used: on the daemon's queue, or by one thread alone.
final class PeerDirectory: @unchecked Sendable {
    /// The known properties of a device.
    struct Record: Equatable, Sendable {
        var address: String
        var isRandom: Bool
        /// The name in advertising data.
        var advertisedName: String?
        /// The GAP Device Name.
        var gapName: String?
        /// The path of the device's object, if it exists now.
        fileprivate(set) var path: ObjectPath?
        /// Whether this process has requested a connection to the device.
        fileprivate(set) var isUsed = false

        init(address: String, isRandom: Bool, advertisedName: String? = nil) {
            self.address = address
            self.isRandom = isRandom
            self.advertisedName = advertisedName
        }

        /// The name that is shown.
        var name: String? { gapName ?? advertisedName }

        fileprivate var key: Key { Key(address: address, isRandom: isRandom) }
    }

    fileprivate struct Key: Hashable, Sendable {
        let address: String
        let isRandom: Bool
    }

    private let adapterAddress: String
    /// The limit of remembered devices without an object, for used ones and for others each; nil until a manager has
    /// set it.
    private var limit: Int?
    /// The devices with an object.
    private var present: [PeerID: Record] = [:]
    private var byPath: [ObjectPath: PeerID] = [:]
    /// Devices without an object to which this process has requested a connection.
    private var used: LRUCache<PeerID, Record>
    /// Other devices without an object.
    private var heard: LRUCache<PeerID, Record>
    /// The identifiers that do not follow from the device's current address.
    private var aliases: [Key: PeerID] = [:]

    /// Creates an empty directory of an adapter's devices.
    init(adapterAddress: String) {
        self.adapterAddress = adapterAddress
        used = LRUCache(limit: RoleOptions.defaultRememberedPeers)
        heard = LRUCache(limit: RoleOptions.defaultRememberedPeers)
    }

    /// The number of known devices.
    var count: Int { present.count + used.count + heard.count }

    /// The devices with an object.
    var presentPeers: [PeerID] { Array(present.keys) }

    /// The known properties of a device, even after BlueZ has removed its object.
    subscript(peer: PeerID) -> Record? { present[peer] ?? used[peer] ?? heard[peer] }

    /// Returns the identifier of the device at a path, if it was recorded.
    func peer(at path: ObjectPath) -> PeerID? { byPath[path] }

    /// Returns the path of the device's object, if it exists now.
    func path(of peer: PeerID) -> ObjectPath? { present[peer]?.path }

    /// Raises the number of remembered devices without an object to at least `wanted`.
    func remember(atLeast wanted: Int) {
        let limit = max(limit ?? 1, wanted)
        self.limit = limit
        for forgotten in used.changeLimit(to: limit) + heard.changeLimit(to: limit) {
            removeAlias(forgotten.value.key, of: forgotten.key)
        }
    }

    /// Records a device, or its changes.
    ///
    /// BlueZ pitfall: after bonding, `Address` is the identity address while the path still contains the private
    /// address (https://github.com/hbldh/bleak/issues/1737); the device keeps its identifier.
    ///
    /// `Device1.Name` is the advertised name after each report, and the GAP Device Name after each connection. If a
    /// device is connected when it is first seen, by another program for instance, its name counts as both:
    /// `bluetoothd` reports another name as soon as the device advertises one.
    ///
    /// - Parameter isNamed: Whether the name has changed.
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

    /// Records the device at a path by its address.
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

    /// Records that this process requests a connection to a device.
    func noteUse(of peer: PeerID) {
        if present[peer] != nil {
            present[peer]?.isUsed = true
        } else if used.use(peer, { _ in }) == nil, let record = heard.remove(peer) {
            remember(peer, record, isUsed: true)
        }
    }

    /// Records a device that an earlier process knew, under the identifier that it had there.
    func remember(_ peer: PeerID, _ address: String, isRandom: Bool, _ name: String?) {
        let key = Key(address: address, isRandom: isRandom)
        guard self[peer] == nil, self.peer(at: address, isRandom: isRandom) == nil else { return }
        if identifier(of: key) != peer { aliases[key] = peer }
        remember(peer, Record(address: address, isRandom: isRandom, advertisedName: name), isUsed: true)
    }

    /// Returns the identifier of a device by its address, if it was recorded.
    func peer(at address: String, isRandom: Bool) -> PeerID? {
        let peer = identifier(of: Key(address: address, isRandom: isRandom))
        return self[peer] == nil ? nil : peer
    }

    /// Records that a device's object is gone.
    ///
    /// The identifier stays valid.
    func forgetObject(at path: ObjectPath) {
        guard let peer = byPath.removeValue(forKey: path), present[peer]?.path == path,
            var record = present.removeValue(forKey: peer)
        else { return }
        // BlueZ has dropped the name that it read from the device together with the object.
        record.gapName = nil
        remember(peer, record, isUsed: record.isUsed)
    }

    /// Records that all objects are gone.
    func forgetObjects() {
        for path in byPath.keys.sorted() {
            guard let peer = byPath[path], let record = present.removeValue(forKey: peer) else { continue }
            remember(peer, record, isUsed: record.isUsed)
        }
        byPath = [:]
    }

    /// Returns the properties of a peer that apps may know.
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
