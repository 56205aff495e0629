import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth
import Foundation

/// The states that were preserved for later managers, by restore identifier.
struct RestorationTables {
    var centrals: [String: PreservedCentral] = [:]
    var peripherals: [String: PreservedPeripheral] = [:]
    /// The states that tests and managers preserved, as JSON.
    private(set) var documents: [String: Data] = [:]
    /// The documents that no manager has restored.
    private var restorable: Set<String> = []

    mutating func save(_ document: Data, as identifier: String) {
        documents[identifier] = document
        restorable.insert(identifier)
    }

    /// Takes the document to restore, once; it stays readable.
    mutating func takeDocument(_ identifier: String) -> Data? {
        restorable.remove(identifier) == nil ? nil : documents[identifier]
    }
}

/// The state of a central manager.
struct PreservedCentral {
    let identifier: UUID
    let hostName: String
    let state: RestoredCentralState
    /// Whether the manager subscribed to each known characteristic, by peer and service.
    ///
    /// The subscriptions end with the manager; the next one subscribes again.
    private let notifying: [UUID: [[Bool]]]

    init(_ central: EmulatedCBCentralManager, scan: ScanParameters?) {
        identifier = central.identifier
        hostName = central.place.host.name
        let wanted = central.peripherals.filter { [.connected, .connecting].contains($0.core.state) }
        var notifying: [UUID: [[Bool]]] = [:]
        let peers = wanted.enumerated().map { index, peripheral in
            let known = KnownServices(of: peripheral)
            notifying[peripheral.core.identifier] = known.notifying
            return RestoredCentralState.Peer(
                summary: PeerSummary(id: PeerID(peripheral.core.identifier), name: peripheral.name),
                operation: OperationID(rawValue: UInt64(index + 1)), services: known.services)
        }
        self.notifying = notifying
        state = RestoredCentralState(peers: peers, scan: scan)
    }

    /// Creates a state that a test wrote: links that are up on a host.
    init(identifier: UUID, _ host: EmulatedHost, _ peers: [PeerID], scan: ScanParameters?) {
        self.identifier = identifier
        hostName = host.name
        notifying = [:]
        let wanted = peers.enumerated().map { index, peer in
            RestoredCentralState.Peer(
                summary: PeerSummary(id: peer), operation: OperationID(rawValue: UInt64(index + 1)))
        }
        state = RestoredCentralState(peers: wanted, scan: scan)
    }

    /// Returns the restored characteristics to which the manager subscribed.
    func subscriptions(of peripheral: CBPeripheral) -> [CBCharacteristic] {
        zip(peripheral.services ?? [], notifying[peripheral.identifier] ?? []).flatMap { service, notifying in
            zip(service.characteristics ?? [], notifying).filter(\.1).map(\.0)
        }
    }

    /// Keeps the links up until the manager exists.
    func holdLinks(on host: EmulatedHost, in world: EmulatedWorld) {
        for device in devices(on: host, in: world) { host.connectOtherApp(to: device) }
    }

    /// Ends the hold on the links, because the manager has them.
    func releaseLinks(on host: EmulatedHost, in world: EmulatedWorld) {
        for device in devices(on: host, in: world) { host.disconnectOtherApp(from: device) }
    }

    private func devices(on host: EmulatedHost, in world: EmulatedWorld) -> [EmulatedDevice] {
        state.peers.compactMap { world.device(knownAs: $0.summary.id.uuid, onHost: host.name) }
    }
}

/// The state of a peripheral manager.
struct PreservedPeripheral {
    let identifier: UUID
    /// The name of the host; nil without an earlier manager.
    let hostName: String?
    /// The services: copies, so that later changes have no effect.
    let services: [EmulatedCBMutableService]
    let nextServiceNumber: Int
    let advertisement: EmulatedAdvertisement?
    let state: RestoredPeripheralState

    /// Creates a state that a test wrote: an advertisement of a manager on a host that does not exist yet.
    init(identifier: UUID, _ advertisement: EmulatedAdvertisement?) {
        self.identifier = identifier
        hostName = nil
        services = []
        nextServiceNumber = 0
        self.advertisement = advertisement
        state = RestoredPeripheralState(advertisement: advertisement?.backendAdvertisement)
    }

    init(_ peripheral: EmulatedCBPeripheralManager) {
        identifier = peripheral.identifier
        hostName = peripheral.place.host.name
        let published = peripheral.fields.withLock { $0.published }
        let (originals, cores) = (published.services, published.cores)
        nextServiceNumber = published.nextNumber
        let copies = originals.map { $0.copy() }
        for (original, copy) in zip(originals, copies) {
            copy.includedServices = original.includedServices?.compactMap { included in
                originals.firstIndex { $0 === included }.map { copies[$0] }
            }
        }
        services = copies
        let advertisement = peripheral.isAdvertising ? peripheral.advertisement : nil
        self.advertisement = advertisement
        state = RestoredPeripheralState(
            services: ServiceDefinition.definitions(of: cores), advertisement: advertisement?.backendAdvertisement)
    }
}
