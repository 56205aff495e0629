import BluetoothBackend
import BluetoothCapture
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import Dispatch

/// A host outside of the emulator as the central: its scan, its connect and its links.
// Invariant: used on the queue of the link layer only.
final class CentralSide: @unchecked Sendable {
    private struct PendingConnect {
        var peers: [HCIAddress]
        let settings: LinkLayerCommand.ConnectionSettings
        /// The connects in the world, by their operations.
        var operations: [OperationID: PeerID] = [:]
    }

    /// A request that is not answered yet.
    private struct Request {
        let link: ExternalCentralLink
        let complete: (LinkResponse) -> Void
    }

    private unowned let layer: EmulatedLinkLayer
    let central: ExternalCentral
    var air = HeardDevices()
    var links: [UInt16: ExternalCentralLink] = [:]
    private var scanTimer: (any BackendTimer)?
    private var connect: PendingConnect?
    private var requests: [OperationID: Request] = [:]
    private var lastOperation: UInt64 = 0

    init(of layer: EmulatedLinkLayer) {
        self.layer = layer
        central = layer.host.makeExternalCentral()
        central.role.activate(
            PassingSink("EmulatedHCI") { [weak self, queue = layer.queue] event in
                queue.async { [weak self] in self?.handle(event) }
            })
    }

    func link(number: UInt32) -> ExternalCentralLink? { links.values.first { $0.number == number } }

    /// Ends everything without an event.
    func reset() {
        scanTimer?.cancel()
        if let connect {
            for peer in connect.operations.values { central.role.submit(.disconnect(peer: peer)) }
        }
        (air.scan, connect) = (nil, nil)
        central.role.submit(.stopScan)
        for link in links.values { link.close() }
        (links, requests) = ([:], [:])
    }

    func end() {
        reset()
        central.role.invalidate()
    }

    private func nextOperation() -> OperationID {
        lastOperation += 1
        return OperationID(rawValue: lastOperation)
    }

    /// Returns the number of a link's request.
    ///
    /// - Parameter complete: Receives the response, unless the link ends first.
    func beginRequest(
        of link: ExternalCentralLink, _ complete: @escaping (LinkResponse) -> Void
    ) -> OperationID {
        let operation = nextOperation()
        requests[operation] = Request(link: link, complete: complete)
        return operation
    }

    /// Removes a link that has ended, with its requests.
    func remove(_ handle: UInt16) -> ExternalCentralLink? {
        guard let link = links.removeValue(forKey: handle) else { return nil }
        requests = requests.filter { $0.value.link !== link }
        return link
    }

    // MARK: Scanning

    func scan(_ settings: LinkLayerCommand.ScanSettings?) {
        scanTimer?.cancel()
        air.scan = settings
        scanTimer = settings?.duration.map { duration in
            layer.after(duration) { [weak self] in
                guard let self, air.scan != nil else { return }
                scan(nil)
                layer.emit(.scanEnded)
            }
        }
        updateScan()
    }

    /// Listens while the host scans, or waits for a device that it has not heard.
    private func updateScan() {
        let isWaiting = connect.map { $0.operations.count < $0.peers.count } ?? false
        central.role.submit(
            air.scan != nil || isWaiting ? .startScan(ScanParameters(allowDuplicates: true)) : .stopScan)
    }

    func heard(_ packet: TappedAdvertisingPacket) {
        guard let peer = packet.receptions.first(where: { $0.host == layer.host.index })?.peer else { return }
        let address = HCIAddress(packet.address)
        air.add(peer, at: address)
        if connect?.peers.contains(address) == true, packet.isConnectable, !packet.isScanResponse {
            connect(to: peer)
            updateScan()
        }
        for report in air.reports(packet) { layer.emit(.heard(report)) }
    }

    // MARK: Connecting

    func connect(to peers: [HCIAddress], _ settings: LinkLayerCommand.ConnectionSettings) {
        central.setAddress(DeviceAddress(bits: settings.address.bits))
        central.setParameters(ConnectionParameters(settings.parameters))
        var pending = connect ?? PendingConnect(peers: peers, settings: settings)
        pending.peers = peers
        let wanted = peers.compactMap { air.peer($0) }
        for (operation, peer) in pending.operations where !wanted.contains(peer) {
            pending.operations[operation] = nil
            central.role.submit(.disconnect(peer: peer))
        }
        connect = pending
        for peer in wanted { connect(to: peer) }
        updateScan()
    }

    private func connect(to peer: PeerID) {
        guard connect?.operations.values.contains(peer) == false else { return }
        let operation = nextOperation()
        connect?.operations[operation] = peer
        central.role.submit(.connect(peer: peer, operation: operation, options: ConnectOptions()))
    }

    func cancelConnect() {
        guard let pending = connect.take() else { return }
        for peer in pending.operations.values { central.role.submit(.disconnect(peer: peer)) }
        updateScan()
        layer.emit(.connectEnded(status: HCIStatus.unknownConnectionIdentifier.rawValue))
    }

    private func connected(
        _ peer: PeerID, _ link: LinkID, _ operation: OperationID, _ parameters: LinkParameters
    ) {
        guard let pending = connect, pending.operations[operation] != nil else {
            // A cancelled connect, or the second of two.
            return central.role.submit(.disconnect(peer: peer))
        }
        connect = nil
        for (other, peer) in pending.operations where other != operation {
            central.role.submit(.disconnect(peer: peer))
        }
        updateScan()
        guard let connection = central.connection(of: link) else {
            return layer.emit(.connectEnded(status: HCIStatus.connectionFailedToBeEstablished.rawValue))
        }
        let new = ExternalCentralLink(
            link, peer, connection, ownAddress: pending.settings.address, parameters, user(of: connection.device),
            of: self, in: layer)
        links[new.handle] = new
        layer.emit(
            .connected(
                HCIConnection(
                    handle: new.handle, isCentral: true, peer: HCIAddress(connection.peripheral.address),
                    privateAddress: nil, localPrivateAddress: nil,
                    parameters: HCIConnectionParameters(connection.parameters))))
        new.begin()
    }

    /// Returns the user of a described device, or of the host whose managers form the device.
    private func user(of number: UInt32) -> PairingUser {
        if let host = air.devices[number]?.host { return .host(host) }
        return .device(layer.emulator.device(number: number)?.presentDescription?.pairing ?? PairingDescription())
    }

    // MARK: Events

    private func handle(_ event: CentralEvent) {
        switch event {
        case .stateChanged(.unsupported): layer.fallSilent()
        case .stateChanged(let state): if state != .poweredOn { poweredOff() }
        case .connected(let peer, let link, let operation, let parameters):
            connected(peer, link, operation, parameters)
        case .connectFailed(_, let operation, _):
            guard connect?.operations[operation] != nil else { return }
            connect = nil
            updateScan()
            layer.emit(.connectEnded(status: HCIStatus.connectionFailedToBeEstablished.rawValue))
        case .disconnected(let id, let reason, _, _, _):
            guard let link = link(id).flatMap({ remove($0.handle) }) else { return }
            link.end()
            layer.emit(.disconnected(handle: link.handle, reason: reason.status.rawValue))
        case .response(_, let operation, let response): requests.removeValue(forKey: operation)?.complete(response)
        case .valueNotified(let id, let attribute, let value): link(id)?.notified(attribute, value)
        case .servicesChanged(let id, _, _): link(id)?.servicesChanged()
        case .channel(let id, let event):
            links.values.first { $0.channels.contains(id) }?.channels.handle(event, on: id)
        case .writeCredits(let id, let count): link(id)?.grantCredits(count)
        default: break
        }
    }

    private func link(_ id: LinkID) -> ExternalCentralLink? { links.values.first { $0.id == id } }

    /// Ends everything when the adapter of the host is switched off in the world.
    private func poweredOff() {
        let ended = links.values.sorted { $0.handle < $1.handle }
        (links, requests) = ([:], [:])
        for link in ended {
            link.end()
            layer.emit(
                .disconnected(handle: link.handle, reason: HCIStatus.remoteDeviceTerminatedDueToPowerOff.rawValue))
        }
        guard connect != nil else { return }
        connect = nil
        layer.emit(.connectEnded(status: HCIStatus.connectionFailedToBeEstablished.rawValue))
    }
}
