#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport

// The attributes of a device: its services as the link discovers them, and the calls of clients for them.
extension DaemonDevice {
    mutating func handleCharacteristicCall(_ call: ClientCall, _ context: inout DaemonContext) throws(DBusError) {
        guard let id = database.attributes[call.path] else { throw BlueZError.unknown(call, isObjectThere: false) }
        switch call.member {
        case "ReadValue": try database.characteristics[id]?.read(call, on: &connection.link, &context)
        case "WriteValue": try database.characteristics[id]?.write(call, on: &connection.link, &context)
        case "StartNotify":
            guard connection.disconnect == nil else { throw BlueZError.notConnected }
            try database.characteristics[id]?.startNotify(call, on: &connection.link, &context)
        case "StopNotify": try database.characteristics[id]?.stopNotify(call, on: &connection.link, &context)
        case "AcquireNotify": try database.characteristics[id]?.acquireNotify(call, on: &connection.link, &context)
        case "AcquireWrite": try database.characteristics[id]?.acquireWrite(call, on: connection.link, &context)
        default: throw BlueZError.unknown(call, isObjectThere: true)
        }
    }

    mutating func handleDescriptorCall(_ call: ClientCall, _ context: inout DaemonContext) throws(DBusError) {
        guard let id = database.attributes[call.path], database.descriptors[id] != nil else {
            throw BlueZError.unknown(call, isObjectThere: false)
        }
        try database.descriptors[id]?.handle(call, on: &connection.link, &context)
    }

    /// Ends the sessions of a client that left the bus.
    mutating func endSessions(of client: String, _ context: inout DaemonContext) {
        for id in database.characteristics.keys.sorted() {
            database.characteristics[id]?.forget(client, on: &connection.link, &context)
        }
    }

    mutating func notified(_ value: Data, _ id: AttributeID, _ context: inout DaemonContext) {
        guard let found = database.characteristics[id] else { return }
        if found.record.uuid == Battery.level { context.showBatteryLevel(value, at: path) }
        found.notified(value, &context)
    }

    mutating func socketClosed(_ socket: ClientSocketID, _ id: AttributeID, _ context: inout DaemonContext) {
        database.characteristics[id]?.socketClosed(socket, on: &connection.link, &context)
    }

    // MARK: Responses

    mutating func responded(_ response: LinkResponse, to operation: OperationID, _ context: inout DaemonContext) {
        guard let purpose = connection.link?.takePurpose(of: operation) else { return }
        guard case .discovery(let parent) = purpose else { return responded(response, purpose, &context) }
        if let attributes = connection.link?.discovered(response, within: parent, to: operation, &context) {
            showAttributes(attributes, &context)
        }
    }

    private mutating func responded(_ response: LinkResponse, _ purpose: LinkPurpose, _ context: inout DaemonContext) {
        switch purpose {
        case .read(let id):
            guard let path = database.characteristics[id]?.path else { return }
            database.characteristics[id]?.reads.finish(
                response, of: BlueZInterfaces.characteristic, at: path, &context)
        case .readDescriptor(let id):
            guard let path = database.descriptors[id]?.path else { return }
            database.descriptors[id]?.reads.finish(response, of: BlueZInterfaces.descriptor, at: path, &context)
        case .write(let id, let call):
            database.characteristics[id]?.isWriting = false
            written(response, call, &context)
        case .writeDescriptor(let id, let call):
            database.descriptors[id]?.isWriting = false
            written(response, call, &context)
        case .subscribe(let id): database.characteristics[id]?.subscribed(response, on: &connection.link, &context)
        case .acquireNotify(let id, let call, let sender):
            guard database.characteristics[id] != nil else {
                return context.refuse(call, BlueZError.failed("Not connected"))
            }
            database.characteristics[id]?.notifyAcquired(response, call, sender, on: connection.link, &context)
        case .batteryLevel: if case .value(let value) = response { context.showBatteryLevel(value, at: path) }
        case .unsubscribe, .discovery: break
        }
    }

    private func written(_ response: LinkResponse, _ call: ClientCallID, _ context: inout DaemonContext) {
        if case .failure(let error) = response {
            context.refuse(call, BlueZError.attribute(error))
        } else {
            context.answer(call)
        }
    }

    /// Fails the pending operations of a link that has ended.
    mutating func failOperations(_ purposes: [LinkPurpose], _ context: inout DaemonContext) {
        let failure = LinkResponse.failure(BackendError(.notConnected, operation: "request"))
        for purpose in purposes { responded(failure, purpose, &context) }
        for id in database.characteristics.keys.sorted() { database.characteristics[id]?.isSubscribed = false }
    }

    // MARK: Services

    /// Ends the discovery: exports new services and withdraws those that are gone.
    private mutating func showAttributes(_ attributes: AttributeDirectory, _ context: inout DaemonContext) {
        let found = Dictionary(uniqueKeysWithValues: attributes.records.compactMap(\.service).map { ($0.id, $0) })
        for id in database.services.keys.sorted() where found[id] != database.services[id]?.record {
            database.withdraw(id, on: &connection.link, &context)
        }
        let services = found.values.sorted { ($0.handle ?? 0, $0.id) < ($1.handle ?? 0, $1.id) }
        let mtu = connection.link?.mtu ?? 23
        for service in services where database.services[service.id] == nil {
            database.export(service, attributes, of: path, mtu: mtu, &context)
        }
        for service in services {
            database.showIncludes(attributes[service.id]?.included ?? [], of: service.id, &context)
        }
        database.showMTU(mtu, &context)
        showServices(&context)
        for id in database.characteristics.keys.sorted() {
            database.characteristics[id]?.resumeSubscription(on: &connection.link, &context)
        }
        context.set("ServicesResolved", .boolean(true), of: BlueZInterfaces.device, at: path)
        finishPairing(&context)
        readBatteryLevel(&context)
        readAppearance(&context)
    }

    /// Shows the advertised services and the discovered ones.
    func showServices(_ context: inout DaemonContext) {
        // Generic Access and Generic Attribute have no objects, but are listed.
        let own = database.services.isEmpty ? [] : [BluetoothUUID(0x1800), BluetoothUUID(0x1801)]
        let uuids = Set(heard.services + own + database.services.values.map(\.record.uuid))
        context.set("UUIDs", .strings(uuids.map(\.bluez).sorted()), of: BlueZInterfaces.device, at: path)
    }

    private mutating func readBatteryLevel(_ context: inout DaemonContext) {
        let levels = database.characteristics.filter { $0.value.record.uuid == Battery.level }
        guard let (id, found) = levels.min(by: { $0.key < $1.key }) else { return }
        connection.link?.send(.read(id), for: .batteryLevel, &context)
        if found.canNotify, !found.isSubscribed, found.starting.isEmpty {
            connection.link?.send(.setNotifying(id, true), for: .subscribe(id), &context)
        }
    }

    mutating func mtuChanged(_ mtu: Int, _ context: inout DaemonContext) {
        connection.link?.mtu = mtu
        database.showMTU(mtu, &context)
    }

    /// Withdraws the services that the device reports as removed, and discovers its services again.
    mutating func servicesChanged(removed: [AttributeID], _ context: inout DaemonContext) {
        for id in removed { database.withdraw(id, on: &connection.link, &context) }
        showServices(&context)
        connection.link?.discoverServices(&context)
    }

    /// Removes the objects of all attributes.
    mutating func removeAttributes(_ context: inout DaemonContext) {
        for id in database.services.keys.sorted().reversed() {
            database.withdraw(id, on: &connection.link, &context)
        }
    }

    /// Closes the sockets of a device whose link ended.
    mutating func closeSockets(_ context: inout DaemonContext) {
        for id in database.characteristics.keys.sorted() {
            database.characteristics[id]?.closeSockets(on: &connection.link, &context)
        }
    }
}
#endif
