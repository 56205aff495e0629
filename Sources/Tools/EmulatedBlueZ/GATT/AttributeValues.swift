#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import BluetoothValues

/// The options of a read or a write.
///
/// Pure. Source: BlueZ, `src/gatt-client.c`, `parse_options`, which compares without regard to case.
private struct ValueOptions {
    private(set) var offset: UInt16 = 0
    /// The kind of write of a characteristic, in lower case; any text.
    private(set) var type: String?

    /// - Parameter hasType: Whether `type` is an option, as only for a write of a characteristic; otherwise it is
    ///   ignored.
    init(_ call: ClientCall, hasType: Bool = false) throws(DBusError) {
        for (key, value) in call.arguments.last?.propertiesValue ?? [:] {
            switch (key.lowercased(), value) {
            case ("offset", .uint16(let offset)): self.offset = offset
            case ("type", .string(let type)) where hasType: self.type = type.lowercased()
            case ("offset", _): throw BlueZError.invalidArguments
            case ("type", _) where hasType: throw BlueZError.invalidArguments
            default: break
            }
        }
    }

    /// Whether `bluetoothd` begins a write; a long write, with an offset, needs at least one byte and an end that
    /// an offset can express.
    ///
    /// Source: BlueZ, `src/shared/gatt-client.c`, `bt_gatt_client_write_long_value`.
    func canWrite(_ value: Data) -> Bool {
        offset == 0 || !value.isEmpty && Int(offset) + value.count <= Int(UInt16.max)
    }
}

extension RemoteDatabase.PendingReads {
    /// Adds a client's read.
    ///
    /// - Returns: Whether no other read is in progress.
    fileprivate mutating func add(_ call: ClientCall) throws(DBusError) -> Bool {
        let options = try ValueOptions(call)
        let isFirst = calls.isEmpty
        guard isFirst || offset == options.offset else { throw BlueZError.busy }
        offset = options.offset
        calls.append(call.id)
        return isFirst
    }

    /// Finishes the reads: changes the property, then answers the calls.
    mutating func finish(
        _ response: LinkResponse, of interface: String, at path: ObjectPath, _ context: inout DaemonContext
    ) {
        switch response {
        case .value(let value) where offset <= value.count:
            let bytes = Array(value.dropFirst(Int(offset)))
            context.set("Value", .bytes(bytes), of: interface, at: path, isRepeated: true)
            for call in calls { context.answer(call, [.bytes(bytes)]) }
        case .value: refuse(BlueZError.invalidArguments("Invalid offset"), &context)
        case .failure(let error): refuse(BlueZError.attribute(error), &context)
        default: refuse(BlueZError.failed("Operation failed"), &context)
        }
        self = Self()
    }

    func refuse(_ error: DBusError, _ context: inout DaemonContext) {
        for call in calls { context.refuse(call, error) }
    }
}

// Reads and writes of characteristics.
extension RemoteDatabase.Characteristic {
    mutating func read(
        _ call: ClientCall, on link: inout DaemonLink?, _ context: inout DaemonContext
    ) throws(DBusError) {
        guard link != nil else { throw BlueZError.failed("Not connected") }
        if try reads.add(call) { link?.send(.read(id), for: .read(id), &context) }
    }

    mutating func write(
        _ call: ClientCall, on link: inout DaemonLink?, _ context: inout DaemonContext
    ) throws(DBusError) {
        guard let mtu = link?.mtu else { throw BlueZError.failed("Not connected") }
        guard writeSocket == nil else { throw BlueZError.notPermitted("Write acquired") }
        guard !isWriting else { throw BlueZError.busy }
        let options = try ValueOptions(call, hasType: true)
        let value = Data(call.arguments.first?.bytesValue ?? [])
        guard let type = options.type ?? defaultWriteType, ["reliable", "request", "command"].contains(type) else {
            throw BlueZError.notSupported
        }
        guard type == "command" else {
            guard value.count <= ATTLimits.longestValue else { throw BlueZError.invalidArguments("Invalid Length") }
            guard options.canWrite(value) else { throw BlueZError.failed("Failed to initiate write") }
            isWriting = true
            link?.send(.write(id, value, offset: options.offset), for: .write(id, call.id), &context)
            return
        }
        // A write command has no offset.
        guard options.offset == 0 else { throw BlueZError.notSupported }
        guard value.count <= ATTLimits.written(mtu: mtu), link?.enqueue(value, id, &context) == true else {
            throw BlueZError.failed("Failed to initiate write")
        }
        context.answer(call.id)
    }

    /// The kind of write if the client gives none; nil if the characteristic cannot be written.
    private var defaultWriteType: String? {
        if properties.contains(.write) { return "request" }
        if properties.contains(.writeWithoutResponse) { return "command" }
        return nil
    }
}

// Reads and writes of descriptors.
extension RemoteDatabase.Descriptor {
    /// The client characteristic configuration, which BlueZ writes itself.
    private static let clientConfiguration = BluetoothUUID(0x2902)

    mutating func handle(
        _ call: ClientCall, on link: inout DaemonLink?, _ context: inout DaemonContext
    ) throws(DBusError) {
        guard link != nil else { throw BlueZError.failed("Not connected") }
        if call.member == "ReadValue" {
            if try reads.add(call) { link?.send(.read(record.id), for: .readDescriptor(record.id), &context) }
            return
        }
        let options = try ValueOptions(call)
        guard record.uuid != Self.clientConfiguration else { throw BlueZError.notPermitted("Write not permitted") }
        guard !isWriting else { throw BlueZError.busy }
        let value = Data(call.arguments.first?.bytesValue ?? [])
        guard options.canWrite(value) else { throw BlueZError.failed("Failed to initiate write") }
        isWriting = true
        link?.send(
            .write(record.id, value, offset: options.offset), for: .writeDescriptor(record.id, call.id), &context)
    }
}
#endif
