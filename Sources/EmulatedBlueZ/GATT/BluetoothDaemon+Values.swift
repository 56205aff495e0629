#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import BluetoothValues
import DequeModule

// Reads and writes of characteristics and descriptors.
extension BluetoothDaemon {
    /// The client characteristic configuration, which BlueZ writes itself.
    private static let clientConfiguration = BluetoothUUID(0x2902)

    mutating func handleCharacteristicCall(
        _ call: ClientCall, of peer: PeerID, on index: Int
    ) throws(DBusError) {
        guard let id = adapters[index].devices[peer]?.database.attributes[call.path] else {
            throw BlueZError.unknown(call, isObjectThere: false)
        }
        switch call.member {
        case "ReadValue": try read(id, call, of: peer, on: index)
        case "WriteValue": try write(id, call, of: peer, on: index)
        case "StartNotify": try startNotify(id, call, of: peer, on: index)
        case "StopNotify": try stopNotify(id, call, of: peer, on: index)
        case "AcquireNotify": try acquireNotify(id, call, of: peer, on: index)
        case "AcquireWrite": try acquireWrite(id, call, of: peer, on: index)
        default: throw BlueZError.unknown(call, isObjectThere: true)
        }
    }

    mutating func handleDescriptorCall(_ call: ClientCall, of peer: PeerID, on index: Int) throws(DBusError) {
        guard let id = adapters[index].devices[peer]?.database.attributes[call.path],
            let descriptor = adapters[index].devices[peer]?.database.descriptors[id]
        else { throw BlueZError.unknown(call, isObjectThere: false) }
        guard adapters[index].devices[peer]?.connection.link != nil else { throw BlueZError.failed("Not connected") }
        let options = try options(of: call)
        if call.member == "ReadValue" {
            let isFirst = descriptor.reads.calls.isEmpty
            guard isFirst || descriptor.reads.offset == options.offset else { throw BlueZError.busy }
            adapters[index].devices[peer]?.database.descriptors[id]?.reads.offset = options.offset
            adapters[index].devices[peer]?.database.descriptors[id]?.reads.calls.append(call.id)
            if isFirst { send(.read(id), for: .readDescriptor(id), to: peer, on: index) }
            return
        }
        guard descriptor.record.uuid != Self.clientConfiguration else {
            throw BlueZError.notPermitted("Write not permitted")
        }
        guard !descriptor.isWriting else { throw BlueZError.busy }
        let value = Data(call.arguments.first?.bytesValue ?? [])
        guard options.canWrite(value) else { throw BlueZError.failed("Failed to initiate write") }
        adapters[index].devices[peer]?.database.descriptors[id]?.isWriting = true
        send(
            .write(id, value, offset: options.offset), for: .writeDescriptor(id, call.id), to: peer, on: index)
    }

    // MARK: Options

    private struct ValueOptions {
        var offset: UInt16 = 0
        /// The kind of write of a characteristic, in lower case; any text.
        var type: String?

        /// Whether `bluetoothd` begins a write; a long write, with an offset, needs at least one byte and an end that
        /// an offset can express.
        ///
        /// Source: BlueZ, `src/shared/gatt-client.c`, `bt_gatt_client_write_long_value`.
        func canWrite(_ value: Data) -> Bool {
            offset == 0 || !value.isEmpty && Int(offset) + value.count <= Int(UInt16.max)
        }
    }

    /// The options of a read or a write.
    ///
    /// Source: BlueZ, `src/gatt-client.c`, `parse_options`, which compares without regard to case.
    ///
    /// - Parameter hasType: Whether `type` is an option, as only for a write of a characteristic; otherwise it is
    ///   ignored.
    private func options(of call: ClientCall, hasType: Bool = false) throws(DBusError) -> ValueOptions {
        var options = ValueOptions()
        for (key, value) in call.arguments.last?.propertiesValue ?? [:] {
            switch (key.lowercased(), value) {
            case ("offset", .uint16(let offset)): options.offset = offset
            case ("type", .string(let type)) where hasType: options.type = type.lowercased()
            case ("offset", _): throw BlueZError.invalidArguments
            case ("type", _) where hasType: throw BlueZError.invalidArguments
            default: break
            }
        }
        return options
    }

    // MARK: Reading

    private mutating func read(
        _ id: AttributeID, _ call: ClientCall, of peer: PeerID, on index: Int
    ) throws(DBusError) {
        guard adapters[index].devices[peer]?.connection.link != nil else { throw BlueZError.failed("Not connected") }
        guard let reads = adapters[index].devices[peer]?.database.characteristics[id]?.reads else { return }
        let options = try options(of: call)
        guard reads.calls.isEmpty || reads.offset == options.offset else { throw BlueZError.busy }
        adapters[index].devices[peer]?.database.characteristics[id]?.reads.offset = options.offset
        adapters[index].devices[peer]?.database.characteristics[id]?.reads.calls.append(call.id)
        if reads.calls.isEmpty { send(.read(id), for: .read(id), to: peer, on: index) }
    }

    /// Finishes a read: changes the property, then answers the calls.
    private mutating func finish(
        _ reads: RemoteDatabase.PendingReads, _ response: LinkResponse, _ interface: String, _ path: ObjectPath
    ) {
        switch response {
        case .value(let value) where reads.offset <= value.count:
            let bytes = Array(value.dropFirst(Int(reads.offset)))
            set("Value", .bytes(bytes), of: interface, at: path, isRepeated: true)
            for call in reads.calls { answer(call, [.bytes(bytes)]) }
        case .value:
            for call in reads.calls { refuse(call, BlueZError.invalidArguments("Invalid offset")) }
        case .failure(let error):
            for call in reads.calls { refuse(call, BlueZError.attribute(error)) }
        default:
            for call in reads.calls { refuse(call, BlueZError.failed("Operation failed")) }
        }
    }

    // MARK: Writing

    private mutating func write(
        _ id: AttributeID, _ call: ClientCall, of peer: PeerID, on index: Int
    ) throws(DBusError) {
        guard let link = adapters[index].devices[peer]?.connection.link else {
            throw BlueZError.failed("Not connected")
        }
        guard let characteristic = adapters[index].devices[peer]?.database.characteristics[id] else { return }
        guard characteristic.writeSocket == nil else { throw BlueZError.notPermitted("Write acquired") }
        guard !characteristic.isWriting else { throw BlueZError.busy }
        let options = try options(of: call, hasType: true)
        let value = Data(call.arguments.first?.bytesValue ?? [])
        let type = options.type ?? characteristic.defaultWriteType
        guard let type, ["reliable", "request", "command"].contains(type) else { throw BlueZError.notSupported }
        guard type == "command" else {
            guard value.count <= ATTLimits.longestValue else { throw BlueZError.invalidArguments("Invalid Length") }
            guard options.canWrite(value) else { throw BlueZError.failed("Failed to initiate write") }
            adapters[index].devices[peer]?.database.characteristics[id]?.isWriting = true
            return send(
                .write(id, value, offset: options.offset), for: .write(id, call.id), to: peer, on: index)
        }
        // A write command has no offset.
        guard options.offset == 0 else { throw BlueZError.notSupported }
        guard value.count <= ATTLimits.written(mtu: link.mtu), enqueue(value, id, to: peer, on: index) else {
            throw BlueZError.failed("Failed to initiate write")
        }
        answer(call.id)
    }

    /// Sends a write command, or queues it until the controller accepts it.
    ///
    /// - Returns: Whether the queue has room for it.
    mutating func enqueue(_ value: Data, _ attribute: AttributeID, to peer: PeerID, on index: Int) -> Bool {
        guard let count = adapters[index].devices[peer]?.connection.link?.commands.count,
            count < DaemonLimits.queuedCommands
        else { return false }
        adapters[index].devices[peer]?.connection.link?.commands.append((attribute, value))
        sendCommands(to: peer, on: index)
        return true
    }

    /// Sends as many write commands as the controller accepts, and after the last one the requests that wait for it.
    private mutating func sendCommands(to peer: PeerID, on index: Int) {
        while let link = adapters[index].devices[peer]?.connection.link, link.credits > 0,
            let command = adapters[index].devices[peer]?.connection.link?.commands.popFirst()
        {
            adapters[index].devices[peer]?.connection.link?.credits -= 1
            output(
                .central(
                    adapter: index,
                    .writeCommand(link: link.id, attribute: command.attribute, value: command.value)))
        }
        guard let link = adapters[index].devices[peer]?.connection.link, link.commands.isEmpty else { return }
        adapters[index].devices[peer]?.connection.link?.requests = []
        for (operation, request) in link.requests {
            output(.central(adapter: index, .request(link: link.id, operation: operation, request)))
        }
    }

    mutating func grantCredits(_ count: Int, _ link: LinkID, on index: Int) {
        guard let peer = adapters[index].linkTable.links[link] else { return }
        adapters[index].devices[peer]?.connection.link?.credits += count
        sendCommands(to: peer, on: index)
    }

    // MARK: Responses

    mutating func attributeResponded(
        _ response: LinkResponse, _ purpose: LinkPurpose, of peer: PeerID, on index: Int
    ) {
        switch purpose {
        case .read(let id):
            guard let found = adapters[index].devices[peer]?.database.characteristics[id] else { return }
            adapters[index].devices[peer]?.database.characteristics[id]?.reads = RemoteDatabase.PendingReads()
            finish(found.reads, response, BlueZInterfaces.characteristic, found.path)
        case .readDescriptor(let id):
            guard let found = adapters[index].devices[peer]?.database.descriptors[id] else { return }
            adapters[index].devices[peer]?.database.descriptors[id]?.reads = RemoteDatabase.PendingReads()
            finish(found.reads, response, BlueZInterfaces.descriptor, found.path)
        case .write(let id, let call):
            adapters[index].devices[peer]?.database.characteristics[id]?.isWriting = false
            written(response, call)
        case .writeDescriptor(let id, let call):
            adapters[index].devices[peer]?.database.descriptors[id]?.isWriting = false
            written(response, call)
        case .subscribe(let id): subscribed(response, id, of: peer, on: index)
        case .acquireNotify(let id, let call, let sender):
            notifyAcquired(response, id, call, sender, of: peer, on: index)
        case .batteryLevel:
            if case .value(let value) = response { showBatteryLevel(value, of: peer, on: index) }
        case .unsubscribe, .services, .includes, .characteristics, .descriptors: break
        }
    }

    private mutating func written(_ response: LinkResponse, _ call: ClientCallID) {
        if case .failure(let error) = response { refuse(call, BlueZError.attribute(error)) } else { answer(call) }
    }

    /// Fails all pending operations of a link that has ended.
    mutating func failOperations(of peer: PeerID, on index: Int) {
        let failure = LinkResponse.failure(BackendError(.notConnected, operation: "request"))
        for (operation, entry) in adapters[index].linkTable.operations.sorted(by: { $0.key < $1.key })
        where entry.peer == peer {
            adapters[index].linkTable.operations[operation] = nil
            if !entry.purpose.isDiscovery { attributeResponded(failure, entry.purpose, of: peer, on: index) }
        }
        for id in adapters[index].devices[peer]?.database.characteristics.keys.sorted() ?? [] {
            adapters[index].devices[peer]?.database.characteristics[id]?.isSubscribed = false
        }
    }

    /// Refuses the pending reads of an attribute that is removed.
    mutating func refuseReads(_ reads: RemoteDatabase.PendingReads) {
        for call in reads.calls { refuse(call, BlueZError.failed("Operation failed")) }
    }
}

extension RemoteDatabase.Characteristic {
    /// The kind of write if the client gives none; nil if the characteristic cannot be written.
    fileprivate var defaultWriteType: String? {
        if properties.contains(.write) { return "request" }
        if properties.contains(.writeWithoutResponse) { return "command" }
        return nil
    }
}
#endif
