import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import BluetoothValues
import DequeModule

/// The server's side of the Attribute Protocol on a link whose client is a host outside of the emulator.
///
/// Packets of the client go in, requests to the emulated device come out; it performs one at a time. A discovery is answered
/// from the table, after a request of one packet that has no other effect.
///
/// Source: Core Specification, Vol 3, Part F, 3.4.
struct ATTServer: Sendable {
    enum Action: Sendable, Hashable {
        /// Sends a packet to the client.
        case send(ATTPDU)
        /// Sends a request and its response of one packet each over the link.
        case exchange
        case request(LinkRequest)
        case writeCommand(AttributeID, Data)
    }

    /// A request that the device performs.
    private enum Pending: Sendable {
        /// A packet whose response is known.
        case response(ATTPDU)
        /// The ATT MTU applies after the response.
        case mtu(Int)
        case read(handle: UInt16, offset: Int, isBlob: Bool)
        case readByType(handle: UInt16)
        case readMultiple(rest: [UInt16], values: [[UInt8]], handle: UInt16, isVariable: Bool)
        case write(handle: UInt16)
        case configuration(handle: UInt16, value: UInt16)
        case execution(rest: [PreparedWrite], handle: UInt16)
    }

    /// The parts of one prepared write, joined.
    private struct PreparedWrite: Sendable {
        let handle: UInt16
        let offset: UInt16
        var value: [UInt8]
    }

    /// The maximum number of requests that a client sends before the response to the first, which the protocol forbids, and
    /// of indications that wait for a confirmation; further ones are dropped.
    static let queueLength = 64
    /// The maximum number of bytes of a client's prepared writes, which is enough for eight of the longest values.
    static let prepareLength = 8 * ATTLimits.longestValue

    private let maximumMTU: Int
    private(set) var mtu = ATTLimits.minimumMTU
    var table: AttributeList
    private var pending: Pending?
    private var waiting = Deque<[UInt8]>()
    private var prepared: [PreparedWrite] = []
    /// The values of Client Characteristic Configurations that are not 0, by handle.
    private var configurations: [UInt16: UInt16] = [:]
    /// The value of the last read, for the Read Blob requests that follow.
    private var lastRead: (handle: UInt16, value: [UInt8])?
    private var indications = Deque<ATTPDU>()
    private var isIndicating = false

    init(_ table: AttributeList, maximumMTU: Int) { (self.table, self.maximumMTU) = (table, maximumMTU) }

    // MARK: Subscriptions

    /// The values of the Client Characteristic Configurations that are not 0.
    var subscriptions: [AttributeID: UInt16] {
        var found: [AttributeID: UInt16] = [:]
        for (handle, value) in configurations {
            if case .clientConfiguration(let id)? = table[handle]?.content { found[id] = value }
        }
        return found
    }

    /// Restores the Client Characteristic Configuration of a bonded client.
    ///
    /// Source: Core Specification, Vol 3, Part G, 3.3.3.3.
    mutating func restore(_ value: UInt16, of id: AttributeID) {
        if let handle = table.clientConfigurationHandle(of: id) { configurations[handle] = value }
    }

    // MARK: Inputs

    /// Handles a packet of the client.
    mutating func receive(_ bytes: [UInt8]) -> [Action] {
        guard let opcode = bytes.first else { return [] }
        guard bytes.count <= mtu, let pdu = ATTPDU(bytes) else { return malformed(bytes, opcode) }
        switch pdu {
        case .confirmation: return confirmed()
        case .writeCommand(let handle, let value):
            guard case .value(let id)? = table[handle]?.content else { return [] }
            return [.writeCommand(id, Data(value))]
        case .signedWriteCommand: return []
        default: break
        }
        guard pdu.isOfClient else { return [] }
        guard pending == nil else {
            if waiting.count < Self.queueLength { waiting.append(bytes) }
            return []
        }
        return answer(pdu, opcode)
    }

    /// Handles the device's answer to the pending request.
    mutating func completed(_ response: LinkResponse) -> [Action] {
        guard let done = pending.take() else { return [] }
        let actions = finish(done, response)
        guard pending == nil, let next = waiting.popFirst() else { return actions }
        return actions + receive(next)
    }

    /// Handles a notified or indicated value of the device.
    mutating func notified(_ id: AttributeID, _ value: Data) -> [Action] {
        guard let handle = table.handle(of: id), let configuration = table.clientConfigurationHandle(of: id) else {
            return []
        }
        let part = Array(value.prefix(ATTLimits.written(mtu: mtu)))
        switch configurations[configuration] {
        case 2?: return indicate(.indication(handle, part))
        case _?: return [.send(.notification(handle, part))]
        case nil: return []
        }
    }

    /// Handles a change of the device's services: a client that subscribed to Service Changed gets an indication.
    mutating func servicesChanged(to table: AttributeList) -> [Action] {
        configurations = configurations.filter { handle, _ in
            guard case .clientConfiguration(let id)? = table[handle]?.content else { return false }
            return self.table.clientConfigurationHandle(of: id) == handle
        }
        self.table = table
        (lastRead, prepared) = (nil, [])
        guard let changed = table.attributes.first(where: { $0.type == "2A05" }), case .value(let id) = changed.content,
            let configuration = table.clientConfigurationHandle(of: id), configurations[configuration] != nil
        else { return [] }
        return indicate(.indication(changed.handle, [0x01, 0x00, 0xFF, 0xFF]))
    }

    // MARK: Requests

    private mutating func malformed(_ bytes: [UInt8], _ opcode: UInt8) -> [Action] {
        // Clients send even opcodes; commands need no answer.
        guard opcode & 1 == 0, opcode & 0x40 == 0 else { return [] }
        guard Self.knownRequests.contains(opcode) else { return [.send(failure(opcode, 0, .requestNotSupported))] }
        var cursor = ByteCursor(bytes[1...])
        if Self.rangeRequests.contains(opcode), let first = cursor.littleEndian(UInt16.self),
            let last = cursor.littleEndian(UInt16.self), first > last
        {
            return [.send(failure(opcode, first, .invalidHandle))]
        }
        return [.send(failure(opcode, 0, .invalidPDU))]
    }

    private static let rangeRequests: Set<UInt8> = [0x04, 0x06, 0x08, 0x10]
    private static let knownRequests: Set<UInt8> = rangeRequests.union([
        0x02, 0x0A, 0x0C, 0x0E, 0x12, 0x16, 0x18, 0x20,
    ])

    private mutating func answer(_ pdu: ATTPDU, _ opcode: UInt8) -> [Action] {
        switch pdu {
        case .mtuRequest(let wanted):
            pending = .mtu(max(ATTLimits.minimumMTU, min(Int(wanted), maximumMTU)))
            return [.exchange]
        case .findInformationRequest, .findByTypeValueRequest, .readByTypeRequest, .readByGroupTypeRequest:
            return discover(pdu, opcode)
        case .readRequest(let handle): return read(handle, opcode, offset: 0, isBlob: false)
        case .readBlobRequest(let handle, let offset): return read(handle, opcode, offset: Int(offset), isBlob: true)
        case .readMultipleRequest(let handles): return readNext(of: handles, [], opcode, isVariable: false)
        case .readMultipleVariableRequest(let handles): return readNext(of: handles, [], opcode, isVariable: true)
        case .writeRequest(let handle, let value): return write(handle, value, opcode)
        case .prepareWriteRequest(let handle, let offset, let part): return prepare(handle, offset, part, opcode)
        case .executeWriteRequest: return executeNext(of: exchange(&prepared, with: []))
        case .cancelWriteRequest:
            prepared = []
            return respond(.executeWriteResponse)
        default: return respond(failure(opcode, 0, .requestNotSupported))
        }
    }

    /// Sends a response that is known, after a round trip.
    private mutating func respond(_ response: ATTPDU) -> [Action] {
        pending = .response(response)
        return [.exchange]
    }

    private mutating func begin(_ next: Pending, _ request: LinkRequest) -> [Action] {
        pending = next
        return [.request(request)]
    }

    private func failure(_ opcode: UInt8, _ handle: UInt16, _ code: ATTCode) -> ATTPDU {
        .error(request: opcode, handle: handle, code: code.rawValue)
    }

    private mutating func discover(_ pdu: ATTPDU, _ opcode: UInt8) -> [Action] {
        let discovery = AttributeDiscovery(table, mtu: mtu)
        switch discovery.answer(pdu) {
        case .response(let response): return respond(response)
        case .failure(let handle, let code): return respond(failure(opcode, handle, code))
        case .value(let handle):
            guard let attribute = table[handle] else { return respond(failure(opcode, handle, .invalidHandle)) }
            switch attribute.content {
            case .value(let id): return begin(.readByType(handle: handle), .read(id))
            case .declaration, .clientConfiguration:
                let value = constant(of: attribute).prefix(min(253, mtu - 4))
                return respond(.readByTypeResponse([ATTPDU.HandleAndValue(handle, Array(value))]))
            }
        }
    }

    /// The value of a declaration or of a Client Characteristic Configuration; empty for other attributes.
    private func constant(of attribute: AttributeList.Attribute) -> [UInt8] {
        switch attribute.content {
        case .declaration(let value): value
        case .value: []
        case .clientConfiguration: (configurations[attribute.handle] ?? 0).bytes
        }
    }

    private mutating func read(_ handle: UInt16, _ opcode: UInt8, offset: Int, isBlob: Bool) -> [Action] {
        guard let attribute = table[handle] else { return respond(failure(opcode, handle, .invalidHandle)) }
        if case .value(let id) = attribute.content {
            guard isBlob, offset > 0, let lastRead, lastRead.handle == handle else {
                return begin(.read(handle: handle, offset: offset, isBlob: isBlob), .read(id))
            }
            return respond(part(of: lastRead.value, handle, from: offset, isBlob: isBlob))
        }
        return respond(part(of: constant(of: attribute), handle, from: offset, isBlob: isBlob))
    }

    private func part(of value: [UInt8], _ handle: UInt16, from offset: Int, isBlob: Bool) -> ATTPDU {
        guard offset <= value.count else { return failure(0x0C, handle, .invalidOffset) }
        let part = Array(value.dropFirst(offset).prefix(ATTLimits.read(mtu: mtu)))
        return isBlob ? .readBlobResponse(part) : .readResponse(part)
    }

    private mutating func readNext(
        of handles: [UInt16], _ values: [[UInt8]], _ opcode: UInt8, isVariable: Bool
    ) -> [Action] {
        var values = values
        for (index, handle) in handles.enumerated() {
            guard let attribute = table[handle] else { return respond(failure(opcode, handle, .invalidHandle)) }
            if case .value(let id) = attribute.content {
                let rest = Array(handles[(index + 1)...])
                return begin(
                    .readMultiple(rest: rest, values: values, handle: handle, isVariable: isVariable), .read(id))
            }
            values.append(constant(of: attribute))
        }
        // The whole response has one packet.
        let response: ATTPDU =
            isVariable
            ? Self.variableResponse(values, room: mtu - 1)
            : .readMultipleResponse(Array(values.joined().prefix(mtu - 1)))
        return [.send(response)]
    }

    /// Truncates values, each after its length, to a number of bytes.
    private static func variableResponse(_ values: [[UInt8]], room: Int) -> ATTPDU {
        var (fitting, left) = ([[UInt8]](), room)
        for value in values where left >= 2 {
            fitting.append(Array(value.prefix(left - 2)))
            left -= 2 + value.count
        }
        return .readMultipleVariableResponse(fitting, omitted: max(0, -left))
    }

    // MARK: Writing

    private mutating func write(_ handle: UInt16, _ value: [UInt8], _ opcode: UInt8) -> [Action] {
        switch table[handle]?.content {
        case nil: return respond(failure(opcode, handle, .invalidHandle))
        case .declaration?: return respond(failure(opcode, handle, .writeNotPermitted))
        case .value(let id)?: return begin(.write(handle: handle), .write(id, Data(value)))
        case .clientConfiguration(let id)?:
            var cursor = ByteCursor(value)
            guard value.count == 2, let bits = cursor.littleEndian(UInt16.self) else {
                return respond(failure(opcode, handle, .invalidAttributeValueLength))
            }
            // A change from notifications to indications does not concern the device.
            guard (bits & 3 != 0) != (configurations[handle] != nil) else {
                if bits & 3 != 0 { configurations[handle] = bits & 3 }
                return respond(.writeResponse)
            }
            return begin(.configuration(handle: handle, value: bits & 3), .setNotifying(id, bits & 3 != 0))
        }
    }

    private mutating func prepare(
        _ handle: UInt16, _ offset: UInt16, _ part: [UInt8], _ opcode: UInt8
    ) -> [Action] {
        guard let attribute = table[handle] else { return respond(failure(opcode, handle, .invalidHandle)) }
        guard case .value = attribute.content else { return respond(failure(opcode, handle, .writeNotPermitted)) }
        let held = prepared.reduce(0) { $0 + $1.value.count }
        let continuesLast = prepared.last.map { $0.handle == handle && Int($0.offset) + $0.value.count == Int(offset) }
        guard held + part.count <= Self.prepareLength, continuesLast == true || prepared.count < Self.queueLength else {
            return respond(failure(opcode, handle, .prepareQueueFull))
        }
        if continuesLast == true {
            prepared[prepared.count - 1].value += part
        } else {
            prepared.append(PreparedWrite(handle: handle, offset: offset, value: part))
        }
        return respond(.prepareWriteResponse(handle, offset: offset, part))
    }

    private mutating func executeNext(of writes: [PreparedWrite]) -> [Action] {
        guard let write = writes.first else { return respond(.executeWriteResponse) }
        guard case .value(let id)? = table[write.handle]?.content else {
            return respond(failure(0x18, write.handle, .invalidHandle))
        }
        return begin(
            .execution(rest: Array(writes.dropFirst()), handle: write.handle),
            .write(id, Data(write.value), offset: write.offset))
    }

    // MARK: Answers

    private mutating func finish(_ done: Pending, _ response: LinkResponse) -> [Action] {
        switch done {
        case .response(let pdu): return [.send(pdu)]
        case .mtu(let agreed):
            mtu = agreed
            return [.send(.mtuResponse(UInt16(maximumMTU)))]
        case .read(let handle, let offset, let isBlob):
            let opcode: UInt8 = isBlob ? 0x0C : 0x0A
            guard let value = value(response) else { return [.send(failure(opcode, handle, code(response)))] }
            lastRead = (handle, value)
            return [.send(part(of: value, handle, from: offset, isBlob: isBlob))]
        case .readByType(let handle):
            guard let value = value(response) else { return [.send(failure(0x08, handle, code(response)))] }
            lastRead = (handle, value)
            let part = Array(value.prefix(min(253, mtu - 4)))
            return [.send(.readByTypeResponse([ATTPDU.HandleAndValue(handle, part)]))]
        case .readMultiple(let rest, let values, let handle, let isVariable):
            let opcode: UInt8 = isVariable ? 0x20 : 0x0E
            guard let value = value(response) else { return [.send(failure(opcode, handle, code(response)))] }
            return readNext(of: rest, values + [value], opcode, isVariable: isVariable)
        case .write(let handle):
            if case .failure = response { return [.send(failure(0x12, handle, code(response)))] }
            lastRead = nil
            return [.send(.writeResponse)]
        case .configuration(let handle, let value):
            if case .failure = response { return [.send(failure(0x12, handle, code(response)))] }
            configurations[handle] = value == 0 ? nil : value
            return [.send(.writeResponse)]
        case .execution(let rest, let handle):
            if case .failure = response { return [.send(failure(0x18, handle, code(response)))] }
            lastRead = nil
            return rest.isEmpty ? [.send(.executeWriteResponse)] : executeNext(of: rest)
        }
    }

    private func value(_ response: LinkResponse) -> [UInt8]? {
        if case .value(let value) = response { Array(value) } else { nil }
    }

    private func code(_ response: LinkResponse) -> ATTCode {
        guard case .failure(let error) = response, let code = error.attCode else { return .unlikelyError }
        return ATTCode(rawValue: code)
    }

    // MARK: Indications

    private mutating func indicate(_ pdu: ATTPDU) -> [Action] {
        guard isIndicating else {
            isIndicating = true
            return [.send(pdu)]
        }
        if indications.count < Self.queueLength { indications.append(pdu) }
        return []
    }

    private mutating func confirmed() -> [Action] {
        guard let next = indications.popFirst() else {
            isIndicating = false
            return []
        }
        return [.send(next)]
    }
}

extension ATTCode {
    static let invalidPDU: ATTCode = 0x04
    static let unsupportedGroupType: ATTCode = 0x10
}
