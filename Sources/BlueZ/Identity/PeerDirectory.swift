#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials

/// Which identifier stands for which remote device.
///
/// Pure.
///
/// An identifier is computed from the adapter's address, the device's identity address and its type, so that it is
/// the same in every process. A device that is met under a private address keeps the identifier of that address for
/// the process, also when bonding reveals its identity: BlueZ then changes `Address`, and not the object's path.
struct PeerDirectory: Sendable {
    /// What is known of a device, also after BlueZ has forgotten it.
    struct Record: Equatable, Sendable {
        var address: String
        var isRandom: Bool
        /// From advertising data.
        var advertisedName: String?
        /// The GAP Device Name.
        var gapName: String?

        /// What the host calls it.
        var name: String? { gapName ?? advertisedName }
    }

    private struct Key: Hashable, Sendable {
        let address: String
        let isRandom: Bool
    }

    private let adapterAddress: String
    private(set) var records: [PeerID: Record] = [:]
    private var byKey: [Key: PeerID] = [:]
    private var byPath: [ObjectPath: PeerID] = [:]
    private var paths: [PeerID: ObjectPath] = [:]

    /// An empty directory of an adapter's devices.
    init(adapterAddress: String) {
        self.adapterAddress = adapterAddress
    }

    /// The identifier of the device at a path, if it was noted.
    func peer(at path: ObjectPath) -> PeerID? { byPath[path] }

    /// The device's object, if it has one now.
    func path(of peer: PeerID) -> ObjectPath? { paths[peer] }

    /// Notes a device, or what changed of it.
    ///
    /// `Device1.Name` is the advertised name at each report, and the GAP Device Name at each connection.
    ///
    /// - Parameter isNamed: Whether its name is news.
    @discardableResult
    mutating func note(_ path: ObjectPath, _ device: Device1, isNamed: Bool) -> PeerID? {
        guard !device.address.isEmpty else { return nil }
        let key = Key(address: device.address, isRandom: device.isRandom)
        let peer = byPath[path] ?? byKey[key] ?? identifier(of: key)
        byPath[path] = peer
        byKey[key] = peer
        paths[peer] = path
        var record = records[peer] ?? Record(address: device.address, isRandom: device.isRandom)
        record.address = device.address
        record.isRandom = device.isRandom
        if isNamed, let name = device.name {
            if device.isConnected { record.gapName = name } else { record.advertisedName = name }
        }
        records[peer] = record
        return peer
    }

    /// Notes a device that an earlier process knew, under the identifier that it had there.
    mutating func remember(_ peer: PeerID, _ address: String, isRandom: Bool, _ name: String?) {
        let key = Key(address: address, isRandom: isRandom)
        guard byKey[key] == nil, records[peer] == nil else { return }
        byKey[key] = peer
        records[peer] = Record(address: address, isRandom: isRandom, advertisedName: name)
    }

    /// The identifier of a device by its address, if it was noted.
    func peer(at address: String, isRandom: Bool) -> PeerID? { byKey[Key(address: address, isRandom: isRandom)] }

    /// Notes that a device's object is gone.
    ///
    /// The identifier stays valid.
    mutating func forgetObject(at path: ObjectPath) {
        guard let peer = byPath.removeValue(forKey: path), paths[peer] == path else { return }
        paths[peer] = nil
        // The name that BlueZ read from the device went with its object.
        records[peer]?.gapName = nil
    }

    /// Notes that all objects are gone.
    mutating func forgetObjects() {
        byPath = [:]
        paths = [:]
    }

    /// What apps may know of a peer.
    func summary(of peer: PeerID) -> PeerSummary? {
        records[peer].map { PeerSummary(id: peer, name: $0.name, address: $0.address) }
    }

    private func identifier(of key: Key) -> PeerID {
        PeerID(PeerIdentity.identifier(adapter: adapterAddress, address: key.address, isRandom: key.isRandom))
    }
}
#endif
