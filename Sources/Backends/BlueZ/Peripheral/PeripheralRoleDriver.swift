#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import Dispatch
import FoundationEssentials
import Synchronization

/// Runs a ``PeripheralRoleMachine``.
// Invariant of `@unchecked Sendable`: the variables are used on the daemon's queue only.
final class PeripheralRoleDriver: RoleDriver, @unchecked Sendable {
    /// The sockets of the daemon's subscriptions.
    private struct Served: Sendable {
        var sockets: [SocketID: WriteSocket] = [:]
        /// Whether the last subscription found no free descriptor, which was logged.
        var isOutOfDescriptors = false
    }

    /// The number of peripheral roles in this process, which gives the objects of each a path.
    private static let roles = Atomic(0)

    let core: RoleDriverCore<PeripheralRoleMachine>
    private var served = Served()

    init(
        selector: AdapterSelector, daemon: BlueZDaemon, adapterTimings: BlueZTimings, timings: PeripheralTimings,
        network: any ChannelNetwork
    ) {
        let number = Self.roles.add(1, ordering: .relaxed).newValue
        let base = ObjectPath.root.appending("org").appending("corebluetooth").appending("role\(number)")
        core = RoleDriverCore(
            PeripheralRoleMachine(
                selector: selector, objects: daemon.objects, base: base, adapterTimings: adapterTimings,
                timings: timings),
            daemon: daemon)
        addChannels(of: network)
    }

    // MARK: Effects, on the daemon's queue

    func perform(_ effect: PeripheralRoleEffect) {
        switch effect {
        case .call(let id, let call): make(call, id)
        case .deliver(let manager, let event): deliver(event, to: manager)
        case .export(let object): export(object)
        case .withdraw(let path): daemon.exports.withdraw(path)
        case .broadcast(let path, let value): broadcast(path, value)
        case .answer(let number, let values): answer(number, values)
        case .refuse(let number, let error): refuse(number, error)
        case .open(let id, let number, let mtu): open(id, number, mtu)
        case .send(let id, let value): served.sockets[id]?.send(value)
        case .close(let id): served.sockets.removeValue(forKey: id)?.close()
        case .listen(let manager, let operation, let local, let isEncryptionRequired):
            let result = listen(at: local, isEncryptionRequired: isEncryptionRequired)
            process(.listening(manager, operation, result, isEncryptionRequired: isEncryptionRequired))
        case .stopListening(let psm): _ = core.contents.channels?.stopListening(psm)
        case .channel(let channel, let action): core.contents.channels?.perform(action, on: channel)
        case .startTimer(let key, let delay): startTimer(key, delay)
        case .stopTimer(let key): stopTimer(key)
        case .pairingNeedChanged(let isNeeded): pairingNeedChanged(to: isNeeded)
        case .log(let message): message.write()
        }
    }

    private func export(_ object: ExportedObject) {
        guard object.kind != .application else { return daemon.exports.export([], at: object.path, isManager: true) }
        let interface = object.kind.interface(object.properties) { [weak self] call in
            if let self { process(.called(add(call))) }
        }
        daemon.exports.export([interface], at: object.path)
    }

    private func broadcast(_ path: ObjectPath, _ value: Data) {
        let changed: [String: DBusValue] = ["Value": .bytes(Array(value))]
        // The value is not kept, so that every value is sent, and none can be read later.
        daemon.exports.emit(
            path, ObjectModel.properties, "PropertiesChanged",
            [.string(ExportedObject.Kind.characteristic.rawValue), .properties(changed), .strings([])])
    }

    private func open(_ id: SocketID, _ number: IncomingCall.Number, _ mtu: UInt16) {
        let pair = WriteSocket.pair(on: daemon.queue) { [weak self] event in self?.process(.socket(id, event)) }
        guard let pair else {
            refuse(number, DBusError(name: DBusError.Name.failed, message: "no descriptors left"))
            let isNew = !served.isOutOfDescriptors
            served.isOutOfDescriptors = true
            if isNew { BlueZLog.error("out of file descriptors: subscriptions are refused") }
            return process(.socket(id, .closed))
        }
        served.sockets[id] = pair.socket
        served.isOutOfDescriptors = false
        answer(number, [.fileDescriptor(pair.daemonsEnd), .uint16(mtu)])
    }

    // MARK: Channels

    private func listen(at local: L2CAPAddress, isEncryptionRequired: Bool) -> Result<UInt16, BackendError> {
        // The PSM is set before the callback can use it, because both run on the queue.
        let number = Lock<UInt16>(0)
        let accepted: @Sendable (ChannelPool.Opening, L2CAPAddress) -> Void = { [weak self] opening, peer in
            self?.process(.channelAccepted(number.withLock { $0 }, opening, peer))
        }
        do throws(BackendError) {
            guard let channels = core.contents.channels else {
                throw BackendError(.unknown, operation: "publish channel")
            }
            let psm = try channels.listen(
                at: local, isEncryptionRequired: isEncryptionRequired, accepted: accepted)
            number.withLock { $0 = psm }
            return .success(psm)
        } catch {
            return .failure(error)
        }
    }
}

extension ExportedObject.Kind {
    /// Returns the BlueZ interface of an object of this kind.
    fileprivate func interface(
        _ properties: [String: DBusValue], _ handler: @escaping @Sendable (DBusCall) -> Void
    ) -> DBusInterface {
        var interface = DBusInterface(rawValue, properties: properties)
        switch self {
        case .application, .service: break
        case .characteristic:
            interface.on("ReadValue", "a{sv}", handler: handler)
            interface.on("WriteValue", "aya{sv}", handler: handler)
            guard properties["NotifyAcquired"] != nil else { break }
            interface.on("AcquireNotify", "a{sv}", handler: handler)
            for member in ["StartNotify", "StopNotify", "Confirm"] { interface.on(member, handler: handler) }
        case .descriptor: interface.on("ReadValue", "a{sv}", handler: handler)
        case .advertisement: interface.on("Release", handler: handler)
        }
        return interface
    }
}
#endif
