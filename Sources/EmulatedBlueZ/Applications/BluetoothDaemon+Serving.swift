#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import BluetoothValues
import Glibc

// Reads and writes of centrals, which the clients' applications answer.
extension BluetoothDaemon {
    mutating func handle(_ event: PeripheralEvent, on index: Int) {
        switch event {
        case .serviceAdded(let operation): serviceAdded(operation, nil, on: index)
        case .operationFailed(let operation, let error): serviceAdded(operation, error, on: index)
        case .readRequested(let request, let central, let attribute, let offset, let mtu):
            readRequested(request, central, attribute, offset: offset, mtu: mtu, on: index)
        case .writeRequested(let request, let central, let mtu, let wantsResponse, let parts):
            writeRequested(request, central, mtu: mtu, wantsResponse: wantsResponse, parts, on: index)
        case .subscribed(let central, let attribute, let mtu, let credits):
            subscribed(central, attribute, mtu: mtu, credits: credits, on: index)
        case .unsubscribed(let central, let attribute): unsubscribed(central, attribute, on: index)
        case .notifyCredits(let central, let count): valuesSent(count, to: central, on: index)
        case .mtuChanged(let central, let mtu): adapters[index].applications.subscribers[central]?.mtu = mtu
        case .stateChanged, .authorizationChanged, .restored, .advertisingStarted, .advertisingEnded, .requestExpired,
            .channelPublished, .channelUnpublished, .channelOpened, .channel:
            break  // the state comes from the central role, and the other events are not visible in BlueZ
        }
    }

    /// The options of a call for a central.
    private func options(_ central: PeerID, mtu: Int, offset: Int, on index: Int) -> DBusValue {
        var options: [String: DBusValue] = ["link": .string("LE"), "mtu": .uint16(UInt16(clamping: mtu))]
        if let path = adapters[index].devices[central]?.path { options["device"] = .objectPath(path) }
        if offset > 0 { options["offset"] = .uint16(UInt16(clamping: offset)) }
        return .properties(options)
    }

    // MARK: Reads

    private mutating func readRequested(
        _ request: RequestID, _ central: PeerID, _ attribute: AttributeID, offset: Int, mtu: Int, on index: Int
    ) {
        guard let found = adapters[index].applications.served[attribute] else {
            return respond(request, code: Self.unlikelyError, on: index)
        }
        self.request(
            .read(adapter: index, request), of: found.owner.client, found.path, found.interface, "ReadValue",
            [options(central, mtu: mtu, offset: offset, on: index)],
            deadline: configuration.attributeDeadline)
    }

    mutating func readAnswered(
        _ request: RequestID, _ result: Result<[DBusValue], DBusError>, on index: Int
    ) {
        switch result {
        case .success(let values):
            guard let bytes = values.first?.bytesValue else {
                return respond(request, code: Self.unlikelyError, on: index)
            }
            let value = Data(bytes.prefix(ATTLimits.longestValue))
            output(.peripheral(adapter: index, .respond(request: request, attCode: 0, value: value)))
        case .failure(let error):
            respond(request, code: attributeCode(error, isWrite: false), on: index)
        }
    }

    private mutating func respond(_ request: RequestID, code: UInt8, on index: Int) {
        output(.peripheral(adapter: index, .respond(request: request, attCode: code, value: nil)))
    }

    // MARK: Writes

    /// Joins consecutive parts, and passes each run to the client.
    private mutating func writeRequested(
        _ request: RequestID, _ central: PeerID, mtu: Int, wantsResponse: Bool, _ parts: [WritePart], on index: Int
    ) {
        let runs = Self.joined(parts)
        var isAnswered = !wantsResponse
        // A write to an attribute that accepts commands is answered before the client is asked, even a request.
        let isCommandable = runs.allSatisfy { run in
            adapters[index].applications.characteristics[run.attribute]?.properties.contains(.writeWithoutResponse)
                == true
        }
        if wantsResponse, isCommandable {
            isAnswered = true
            respond(request, code: 0, on: index)
        }
        adapters[index].applications.writes[request] = Applications.Write(isAnswered: isAnswered, remaining: runs.count)
        for run in runs {
            guard let found = adapters[index].applications.served[run.attribute] else {
                partWritten(request, code: Self.unlikelyError, on: index)
                continue
            }
            self.request(
                .write(adapter: index, request), of: found.owner.client, found.path, found.interface, "WriteValue",
                [.bytes(Array(run.value)), options(central, mtu: mtu, offset: run.offset, on: index)],
                deadline: configuration.attributeDeadline)
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
        _ request: RequestID, _ result: Result<[DBusValue], DBusError>, on index: Int
    ) {
        switch result {
        case .success: partWritten(request, code: 0, on: index)
        case .failure(let error): partWritten(request, code: attributeCode(error, isWrite: true), on: index)
        }
    }

    private mutating func partWritten(_ request: RequestID, code: UInt8, on index: Int) {
        guard var write = adapters[index].applications.writes[request] else { return }
        write.remaining -= 1
        if write.code == 0 { write.code = code }
        adapters[index].applications.writes[request] = write.remaining > 0 ? write : nil
        guard write.remaining == 0, !write.isAnswered else { return }
        respond(request, code: write.code, on: index)
    }

    // MARK: Errors

    private static let unlikelyError: UInt8 = 0x0E

    /// The ATT error for an error of a client.
    ///
    /// Source: BlueZ, `src/gatt-database.c`, `dbus_error_to_att_ecode`.
    private func attributeCode(_ error: DBusError, isWrite: Bool) -> UInt8 {
        switch error.name {
        case "org.bluez.Error.NotPermitted": isWrite ? 0x03 : 0x02
        case "org.bluez.Error.NotAuthorized": 0x08
        case "org.bluez.Error.InvalidOffset": 0x07
        case "org.bluez.Error.InvalidValueLength": 0x0D
        case "org.bluez.Error.NotSupported": 0x06
        case "org.bluez.Error.InProgress": 0xFE
        case "org.bluez.Error.ImproperlyConfigured" where dialect >= .bluez5_82: 0xFD
        case "org.bluez.Error.Failed": Self.applicationCode(error.message)
        default: Self.unlikelyError
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
