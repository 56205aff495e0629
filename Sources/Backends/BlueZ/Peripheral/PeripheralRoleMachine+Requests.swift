#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothValues
import FoundationEssentials

/// Calls of the daemon to objects of this process: reads, writes, subscriptions.
extension PeripheralRoleMachine {
    mutating func handle(_ call: IncomingCall) {
        guard let manager = manager(of: call.path) else {
            return refuse(call, DBusError.Name.unknownObject, "no longer published")
        }
        if call.member == "Release" { return released(call, by: manager) }
        guard let attribute = managers[manager]?.applications.attribute(at: call.path) else {
            return refuse(call, DBusError.Name.unknownObject, "no longer published")
        }
        switch (call.member, attribute) {
        case ("ReadValue", _): read(call, attribute, of: manager)
        case ("WriteValue", .characteristic(let characteristic)): write(call, characteristic, of: manager)
        case ("AcquireNotify", .characteristic(let characteristic)): acquire(call, characteristic, of: manager)
        case ("StartNotify", .characteristic(let characteristic)): startNotify(call, characteristic, of: manager)
        case ("StopNotify", .characteristic(let characteristic)): stopNotify(call, characteristic, of: manager)
        // A central has confirmed an indication; the call does not name the central.
        case ("Confirm", .characteristic): perform(.answer(call.number, []))
        default: refuse(call, "org.bluez.Error.NotSupported", "not supported")
        }
    }

    mutating func refuse(_ call: IncomingCall, _ name: String, _ message: String) {
        perform(.refuse(call.number, DBusError(name: name, message: message)))
    }

    // MARK: Reads and writes

    private mutating func read(
        _ call: IncomingCall, _ attribute: ApplicationTree.Attribute, of manager: HostLedger.Manager
    ) {
        let options = call.arguments.first?.propertiesValue ?? [:]
        let offset = Int(options["offset"]?.uint16Value ?? 0)
        switch attribute {
        case .descriptor(let descriptor): answer(call, descriptor.value, from: offset)
        case .characteristic(let characteristic):
            if let value = characteristic.staticValue, characteristic.permissions.allowReading {
                return answer(call, value, from: offset)
            }
            guard let peer = central(options), state == .poweredOn else {
                return perform(.refuse(call.number, ServerError.refusal(0x0E)))
            }
            confirmLeaving(peer)
            let mtu = noteMTU(options, of: peer)
            let id = hold(call, of: peer, for: manager)
            deliver(
                manager,
                .readRequested(request: id, central: peer, attribute: characteristic.id, offset: offset, mtu: mtu))
        }
    }

    private mutating func answer(_ call: IncomingCall, _ value: Data, from offset: Int) {
        guard offset <= value.count else { return perform(.refuse(call.number, ServerError.refusal(0x07))) }
        perform(.answer(call.number, [.bytes(Array(value.dropFirst(offset)))]))
    }

    private mutating func write(
        _ call: IncomingCall, _ characteristic: ServiceDefinition.Characteristic, of manager: HostLedger.Manager
    ) {
        guard call.arguments.count == 2, let bytes = call.arguments[0].bytesValue,
            let options = call.arguments[1].propertiesValue
        else { return refuse(call, DBusError.Name.invalidArguments, "a value and options are expected") }
        guard let peer = central(options), state == .poweredOn else {
            return perform(.refuse(call.number, ServerError.refusal(0x0E)))
        }
        // Asks whether a prepared write is allowed, which the flags of the attribute have decided already.
        if options["prepare-authorize"]?.boolValue == true { return perform(.answer(call.number, [])) }
        confirmLeaving(peer)
        let mtu = noteMTU(options, of: peer)
        let part = WritePart(
            attribute: characteristic.id, offset: Int(options["offset"]?.uint16Value ?? 0), value: Data(bytes))
        let wantsResponse = !characteristic.isWriteAcknowledgedByDaemon
        // BlueZ pitfall: a write without a timely answer fails (https://github.com/bluez/bluez/issues/317).
        if !wantsResponse { perform(.answer(call.number, [])) }
        let id = wantsResponse ? hold(call, of: peer, for: manager) : RequestID(rawValue: outputs.newNumber())
        deliver(
            manager,
            .writeRequested(request: id, central: peer, mtu: mtu, wantsResponse: wantsResponse, parts: [part]))
    }

    private mutating func hold(_ call: IncomingCall, of peer: PeerID, for manager: HostLedger.Manager) -> RequestID {
        let id = RequestID(rawValue: outputs.newNumber())
        requests[id] = Request(manager: manager, call: call.number, peer: peer, path: call.path)
        start(.request(id), timings.request)
        return id
    }

    /// Records the MTU of a link, which each call reports.
    mutating func noteMTU(_ options: [String: DBusValue], of peer: PeerID) -> Int {
        guard let reported = options["mtu"]?.uint16Value else { return centrals.mtus[peer] ?? ATTLimits.minimumMTU }
        let mtu = max(ATTLimits.minimumMTU, min(Int(reported), ATTLimits.maximumMTU))
        guard centrals.mtus.updateValue(mtu, forKey: peer) != mtu else { return mtu }
        for manager in managers.keys.sorted() where managers[manager]?.sessions[peer] != nil {
            deliver(manager, .mtuChanged(central: peer, mtu: mtu))
        }
        return mtu
    }

    // MARK: Responses

    mutating func respond(_ manager: HostLedger.Manager, _ id: RequestID, _ code: UInt8, _ value: Data?) {
        guard let request = requests[id], request.manager == manager else { return }
        requests[id] = nil
        stop(.request(id))
        guard code == 0 else { return perform(.refuse(request.call, ServerError.refusal(code))) }
        perform(.answer(request.call, value.map { [.bytes(Array($0))] } ?? []))
    }

    /// Ends a request that BlueZ has answered itself, because the app was too slow.
    mutating func expire(_ id: RequestID) {
        guard let request = requests.removeValue(forKey: id) else { return }
        let uuid = managers[request.manager]?.applications.characteristic(at: request.path)?.uuid.text ?? "?"
        log(
            .warning,
            "characteristic \(uuid) was not answered for in \(timings.request): BlueZ answered the central with 0x0E")
        perform(.refuse(request.call, ServerError.refusal(0x0E)))
        deliver(request.manager, .requestExpired(request: id))
    }

    /// Removes a request that no longer needs the app's answer.
    mutating func drop(_ id: RequestID, _ request: Request) {
        requests[id] = nil
        stop(.request(id))
        perform(.refuse(request.call, ServerError.refusal(0x0E)))
    }

    /// Ends the requests of a central or below a path, and reports them as expired.
    mutating func expireRequests(where condition: (Request) -> Bool) {
        for (id, request) in requests.sorted(by: { $0.key < $1.key }) where condition(request) {
            drop(id, request)
            deliver(request.manager, .requestExpired(request: id))
        }
    }
}
#endif
