#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import BluetoothValues
import Glibc

// Reads and writes of centrals, which the clients' applications answer.
extension Applications {
    /// - Parameter devices: The known devices, some of which are centrals.
    mutating func handle(
        _ event: PeripheralEvent, _ devices: [PeerID: DaemonDevice], isPowered: Bool, _ context: inout DaemonContext
    ) {
        switch event {
        case .serviceAdded(let operation): serviceAdded(operation, nil, isPowered: isPowered, &context)
        case .operationFailed(let operation, let error):
            serviceAdded(operation, error, isPowered: isPowered, &context)
        case .readRequested(let request, let central, let attribute, let offset, let mtu):
            let options = Self.options(of: devices[central], mtu: mtu)
            readRequested(request, attribute, offset: offset, options, &context)
        case .writeRequested(let request, let central, let mtu, let wantsResponse, let parts):
            let options = Self.options(of: devices[central], mtu: mtu)
            writeRequested(request, wantsResponse: wantsResponse, parts, options, &context)
        case .subscribed(let central, let attribute, let mtu, let credits):
            let options = Self.options(of: devices[central], mtu: mtu)
            subscribed(central, attribute, mtu: mtu, credits: credits, options, &context)
        case .unsubscribed(let central, let attribute): unsubscribed(central, attribute, &context)
        case .notifyCredits(let central, let count): valuesSent(count, to: central, &context)
        case .mtuChanged(let central, let mtu): subscribers[central]?.mtu = mtu
        case .stateChanged, .authorizationChanged, .restored, .advertisingStarted, .advertisingEnded, .requestExpired,
            .channelPublished, .channelUnpublished, .channelOpened, .channel:
            break  // the state comes from the central role, and the other events are not visible in BlueZ
        }
    }

    /// The options of a call for a central.
    private static func options(of central: DaemonDevice?, mtu: Int) -> [String: DBusValue] {
        var options: [String: DBusValue] = ["link": .string("LE"), "mtu": .uint16(UInt16(clamping: mtu))]
        if let central { options["device"] = .objectPath(central.path) }
        return options
    }

    private static func options(_ options: [String: DBusValue], offset: Int) -> DBusValue {
        var options = options
        if offset > 0 { options["offset"] = .uint16(UInt16(clamping: offset)) }
        return .properties(options)
    }

    // MARK: Reads

    private func readRequested(
        _ request: RequestID, _ attribute: AttributeID, offset: Int, _ options: [String: DBusValue],
        _ context: inout DaemonContext
    ) {
        guard let found = served[attribute] else { return respond(request, code: Self.unlikelyError, &context) }
        context.request(
            .read(adapter: adapter, request), of: found.object, found.interface, "ReadValue",
            [Self.options(options, offset: offset)])
    }

    func readAnswered(_ request: RequestID, _ result: Result<[DBusValue], DBusError>, _ context: inout DaemonContext) {
        switch result {
        case .success(let values):
            guard let bytes = values.first?.bytesValue else {
                return respond(request, code: Self.unlikelyError, &context)
            }
            let value = Data(bytes.prefix(ATTLimits.longestValue))
            context.output(.peripheral(adapter: adapter, .respond(request: request, attCode: 0, value: value)))
        case .failure(let error):
            respond(request, code: Self.attributeCode(error, isWrite: false, context.dialect), &context)
        }
    }

    private func respond(_ request: RequestID, code: UInt8, _ context: inout DaemonContext) {
        context.output(.peripheral(adapter: adapter, .respond(request: request, attCode: code, value: nil)))
    }

    // MARK: Writes

    /// Joins consecutive parts, and passes each run to the client.
    private mutating func writeRequested(
        _ request: RequestID, wantsResponse: Bool, _ parts: [WritePart], _ options: [String: DBusValue],
        _ context: inout DaemonContext
    ) {
        let runs = Self.joined(parts)
        var isAnswered = !wantsResponse
        // A write to an attribute that accepts commands is answered before the client is asked, even a request.
        let isCommandable = runs.allSatisfy { run in
            characteristics[run.attribute]?.properties.contains(.writeWithoutResponse) == true
        }
        if wantsResponse, isCommandable {
            isAnswered = true
            respond(request, code: 0, &context)
        }
        writes[request] = Write(isAnswered: isAnswered, remaining: runs.count)
        for run in runs {
            guard let found = served[run.attribute] else {
                partWritten(request, code: Self.unlikelyError, &context)
                continue
            }
            context.request(
                .write(adapter: adapter, request), of: found.object, found.interface, "WriteValue",
                [.bytes(Array(run.value)), Self.options(options, offset: run.offset)])
        }
    }

    private static func joined(_ parts: [WritePart]) -> [WritePart] {
        parts.reduce(into: []) { runs, part in
            if let last = runs.last, last.attribute == part.attribute, last.offset + last.value.count == part.offset {
                runs[runs.count - 1].value += part.value
            } else {
                runs.append(part)
            }
        }
    }

    mutating func writeAnswered(
        _ request: RequestID, _ result: Result<[DBusValue], DBusError>, _ context: inout DaemonContext
    ) {
        switch result {
        case .success: partWritten(request, code: 0, &context)
        case .failure(let error):
            partWritten(request, code: Self.attributeCode(error, isWrite: true, context.dialect), &context)
        }
    }

    private mutating func partWritten(_ request: RequestID, code: UInt8, _ context: inout DaemonContext) {
        guard var write = writes[request] else { return }
        write.remaining -= 1
        if write.code == 0 { write.code = code }
        writes[request] = write.remaining > 0 ? write : nil
        guard write.remaining == 0, !write.isAnswered else { return }
        respond(request, code: write.code, &context)
    }

    // MARK: Errors

    private static let unlikelyError: UInt8 = 0x0E

    /// The ATT error for an error of a client.
    ///
    /// Source: BlueZ, `src/gatt-database.c`, `dbus_error_to_att_ecode`.
    private static func attributeCode(_ error: DBusError, isWrite: Bool, _ dialect: BlueZDialect) -> UInt8 {
        switch error.name {
        case "org.bluez.Error.NotPermitted": isWrite ? 0x03 : 0x02
        case "org.bluez.Error.NotAuthorized": 0x08
        case "org.bluez.Error.InvalidOffset": 0x07
        case "org.bluez.Error.InvalidValueLength": 0x0D
        case "org.bluez.Error.NotSupported": 0x06
        case "org.bluez.Error.InProgress": 0xFE
        case "org.bluez.Error.ImproperlyConfigured" where dialect >= .bluez5_82: 0xFD
        case "org.bluez.Error.Failed": applicationCode(error.message)
        default: unlikelyError
        }
    }

    /// The application error code in the text of an error, 0x80...0x9F, written as a C integer: `131`, `0x83` or
    /// `0203`.
    private static func applicationCode(_ text: String) -> UInt8 {
        let code = text.withCString { start -> Int? in
            var end: UnsafeMutablePointer<CChar>?
            let number = strtol(start, &end, 0)
            return end?.pointee == 0 ? number : nil
        }
        guard let code else { return 0x80 }
        return (0x80...0x9F).contains(code) ? UInt8(code) : unlikelyError
    }
}
#endif
