import BluetoothBackend
import BluetoothCapture
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import Dispatch
import Logging

/// Performs the commands of a controller in an emulated world: its host is one of the world's hosts.
// Invariant: all variables are used on `queue` only.
final class EmulatedLinkLayer: @unchecked Sendable {
    static let logger = Logger(label: "EmulatedHCI")

    let host: EmulatedHost
    let queue: DispatchQueue
    /// The keys of pairings with the host.
    var bonds: SecurityBonds
    private let receive: @Sendable (LinkLayerEvent) -> Void
    private var central: CentralSide?
    private(set) var peripheral: PeripheralSide?
    private var tap: EmulatorTap?
    private var lastHandle: UInt16 = 0x3F
    private var isSilent = false

    var emulator: Emulator { host.emulator }

    /// - Parameters:
    ///   - queue: The serial queue on which all methods are called.
    ///   - bonds: The keys of earlier pairings with the host.
    ///   - receive: Receives the events; called on the queue.
    init(
        _ host: EmulatedHost, on queue: DispatchQueue, bonds: SecurityBonds,
        _ receive: @escaping @Sendable (LinkLayerEvent) -> Void
    ) { (self.host, self.queue, self.bonds, self.receive) = (host, queue, bonds, receive) }

    func begin() {
        ExternalHosts.shared.add(self)
        central = CentralSide(of: self)
        peripheral = PeripheralSide(of: self)
        tap = host.emulator.tap([.advertising, .devices, .links, .externalHosts]) { [weak self, queue] event in
            queue.async { [weak self] in self?.handle(event) }
        }
    }

    /// Leaves the world: links end, and the host's devices are gone.
    func end() {
        tap?.cancel()
        central?.end()
        peripheral?.end()
        ExternalHosts.shared.remove(self)
        (tap, central, peripheral) = (nil, nil, nil)
    }

    func emit(_ event: LinkLayerEvent) {
        if !isSilent { receive(event) }
    }

    /// Ends all reports, because an adapter that is unplugged cannot send any.
    func fallSilent() { isSilent = true }

    /// Calls `body` on the queue after a time of the world.
    func after(_ duration: Duration, _ body: @escaping @Sendable () -> Void) -> any BackendTimer {
        emulator.clock.schedule(after: duration) { [queue] in queue.async(execute: body) }
    }

    /// Returns a handle that no link has, 0x0040...0x0EFF.
    func nextHandle() -> UInt16 {
        repeat {
            lastHandle = lastHandle < 0x0EFF ? lastHandle + 1 : 0x40
        } while central?.links[lastHandle] != nil || peripheral?.link(lastHandle) != nil
        return lastHandle
    }

    // MARK: Commands

    func perform(_ command: LinkLayerCommand) {
        switch command {
        case .scan(let settings): central?.scan(settings)
        case .connect(let peers, let settings): central?.connect(to: peers, settings)
        case .cancelConnect: central?.cancelConnect()
        case .advertise(let set, let settings): peripheral?.advertise(set, settings)
        case .readSignalStrength(let handle):
            if central?.links[handle]?.readSignalStrength() == nil { emit(.signalStrength(handle: handle, 127)) }
        case .updateParameters(let handle, let parameters):
            guard let number = central?.links[handle]?.number ?? peripheral?.link(handle)?.number else { return }
            emulator.control(link: number, .setParameters(ConnectionParameters(parameters)))
        // No device of the world asks its central; the parameters of the host's own devices apply without a question.
        case .answerParametersRequest: break
        case .disconnect(let handle, let reason):
            central?.links[handle]?.close()
            peripheral?.link(handle)?.close(reason: reason)
        case .send(let handle, let channel, let payload):
            central?.links[handle]?.send(payload, on: channel)
            peripheral?.link(handle)?.send(payload, on: channel)
        case .encrypt(let handle, let key, let random, let diversifier):
            // In HCI's order here, in that of the air below.
            central?.links[handle]?.encrypt(key: key.reversed(), random: random, diversifier: diversifier)
        case .answerKeyRequest(let handle, let key): peripheral?.link(handle)?.answerKeyRequest(key?.reversed())
        case .reset:
            central?.reset()
            peripheral?.removeAll()
        }
    }

    // MARK: Events

    private func handle(_ event: TapEvent) {
        switch event.kind {
        case .advertising(let packet): central?.heard(packet)
        case .deviceAdded(let device), .deviceChanged(let device): central?.air.devices[device.number] = device
        case .deviceRemoved(let device): central?.air.devices[device] = nil
        case .connectionOpened(let connection): peripheral?.opened(connection)
        case .connectionClosed(let number, .peripheral, let reason): peripheral?.closed(number, reason)
        case .parametersChanged(let number, let parameters):
            guard let handle = central?.link(number: number)?.handle ?? peripheral?.link(number: number)?.handle else {
                return
            }
            emit(.parametersChanged(handle: handle, status: 0, HCIConnectionParameters(parameters)))
        case .externalPairingRequested(let number):
            guard let security = security(number) else {
                return emulator.control(link: number, .endPairing(.failed(.notConnected)))
            }
            security.secure()
        case .externalPairingAnswered(let number, let answer): security(number)?.answer(answer)
        case .externalPacket(let number, let side, let channel, let payload):
            if let handle = central?.link(number: number)?.handle {
                emit(side == .central ? .sent(handle: handle) : .received(handle: handle, channel: channel, payload))
            }
            if let handle = peripheral?.link(number: number)?.handle {
                emit(side == .peripheral ? .sent(handle: handle) : .received(handle: handle, channel: channel, payload))
            }
        default: break
        }
    }

    private func security(_ number: UInt32) -> LinkSecurity? {
        central?.link(number: number)?.security ?? peripheral?.link(number: number)?.security
    }

    /// Ends a link whose ends have different keys: the first encrypted packet is not authentic.
    func endForWrongKey(_ handle: UInt16) {
        central?.remove(handle)?.close()
        peripheral?.forget(handle)
        emit(.disconnected(handle: handle, reason: HCIStatus.connectionTerminatedDueToMICFailure.rawValue))
    }
}

extension DisconnectReason {
    /// The error code with which a controller reports the end of a link.
    var status: HCIStatus {
        switch self {
        case .local: .connectionTerminatedByLocalHost
        case .remote, .unknown: .remoteUserTerminatedConnection
        case .timeout: .connectionTimeout
        case .authentication: .authenticationFailure
        }
    }
}

extension ConnectionParameters {
    init(_ parameters: HCIConnectionParameters) {
        self.init(
            interval: parameters.interval, peripheralLatency: parameters.latency,
            supervisionTimeout: parameters.supervisionTimeout)
    }
}
