import BluetoothBackend
import BluetoothCapture
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import BluetoothValues

/// The client's side of the Attribute Protocol on a captured link: matches responses with their requests.
///
/// Source: Core Specification, Vol 3, Part F, 3.3: one request at a time.
struct CapturedClient: Sendable {
    /// The outcome of a request, or a message without a response.
    enum Outcome: Hashable, Sendable {
        case mtu(Int)
        case services([Service], isPrimary: Bool)
        case included(in: UInt16, Service)
        case characteristics([TappedCharacteristic])
        case descriptors([ATTPDU.HandleAndUUID])
        case read(UInt16, Answer)
        case written(UInt16, Data, from: UInt16 = 0, Answer)
        case command(UInt16, Data, at: Duration)
        case notified(UInt16, Data, at: Duration)
    }

    struct Service: Hashable, Sendable {
        var handles: ClosedRange<UInt16>
        var uuid: BluetoothUUID
    }

    /// The answer to a request; the value is that of a read, otherwise empty.
    struct Answer: Hashable, Sendable {
        var value = Data()
        var error: ATTCode?
        var sentAt: Duration
        var duration: Duration
    }

    private struct Request: Sendable {
        var pdu: ATTPDU
        var sentAt: Duration
    }

    /// A value that further reads may continue.
    private struct Reading: Sendable {
        var handle: UInt16
        var answer: Answer
    }

    /// A long write in parts, of 512 bytes at most.
    private struct Preparation: Sendable {
        var handle: UInt16
        /// The offset of the first part.
        var offset: UInt16
        var value = Data()
        var sentAt: Duration
    }

    private static let primaryService: UInt16 = 0x2800
    private static let secondaryService: UInt16 = 0x2801

    private var request: Request?
    private var reading: Reading?
    private var preparation: Preparation?
    private var mtu = ATTLimits.minimumMTU

    /// Adds a packet.
    ///
    /// Both sides of a link may be clients of each other; requests of the device and their responses are skipped.
    ///
    /// - Parameter isFromDevice: Whether the server sent it.
    mutating func add(_ pdu: ATTPDU, isFromDevice: Bool, at time: Duration, _ receive: (Outcome) -> Void) {
        guard pdu.isOfClient != isFromDevice else { return }
        if isFromDevice {
            switch pdu {
            case .notification(let handle, let value), .indication(let handle, let value):
                receive(.notified(handle, Data(value), at: time))
            case .multipleNotification(let values):
                for value in values { receive(.notified(value.handle, Data(value.value), at: time)) }
            default: answer(pdu, at: time, receive)
            }
            return
        }
        switch pdu {
        case .writeCommand(let handle, let value), .signedWriteCommand(let handle, let value, _):
            receive(.command(handle, Data(value), at: time))
        case .confirmation: break
        default: send(pdu, at: time, receive)
        }
    }

    /// Ends a read that could have continued, because the link ends.
    mutating func finish(_ receive: (Outcome) -> Void) {
        if let reading = reading.take() { receive(.read(reading.handle, reading.answer)) }
    }

    // MARK: Requests

    private mutating func send(_ pdu: ATTPDU, at time: Duration, _ receive: (Outcome) -> Void) {
        switch pdu {
        case .readBlobRequest(let handle, let offset)
        where reading?.handle == handle && reading?.answer.value.count == Int(offset):
            break
        default: finish(receive)
        }
        if case .prepareWriteRequest(let handle, let offset, _) = pdu, preparation?.handle != handle {
            preparation = Preparation(handle: handle, offset: offset, sentAt: time)
        }
        request = Request(pdu: pdu, sentAt: time)
    }

    // MARK: Responses

    private mutating func answer(_ pdu: ATTPDU, at time: Duration, _ receive: (Outcome) -> Void) {
        guard let request = request.take() else { return }
        var answer = Answer(sentAt: request.sentAt, duration: max(.zero, time - request.sentAt))
        if case .error(_, let handle, let code) = pdu {
            // Code 0 is not an error.
            guard code != 0 else { return }
            answer.error = ATTCode(rawValue: code)
            return fail(request.pdu, at: handle, answer, receive)
        }
        switch (request.pdu, pdu) {
        case (.mtuRequest(let own), .mtuResponse(let other)):
            mtu = max(ATTLimits.minimumMTU, Int(min(own, other)))
            receive(.mtu(mtu))
        case (.readRequest(let handle), .readResponse(let value)):
            answer.value = Data(value)
            read(Reading(handle: handle, answer: answer), part: value.count, receive)
        case (.readBlobRequest, .readBlobResponse(let value)):
            guard var known = reading else { break }
            known.answer.value += Data(value)
            known.answer.duration = max(.zero, time - known.answer.sentAt)
            read(known, part: value.count, receive)
        case (.writeRequest(let handle, let value), .writeResponse):
            receive(.written(handle, Data(value), answer))
        case (.prepareWriteRequest(_, let offset, let part), .prepareWriteResponse):
            if let known = preparation, Int(offset) == Int(known.offset) + known.value.count,
                known.value.count + part.count <= ATTLimits.longestValue
            {
                preparation?.value += Data(part)
            }
        case (.executeWriteRequest, .executeWriteResponse): endPreparation(answer, receive)
        case (.cancelWriteRequest, .executeWriteResponse): preparation = nil
        case (.readMultipleVariableRequest(let handles), .readMultipleVariableResponse(let values, let omitted)):
            for (handle, value) in zip(handles, values.dropLast(omitted == 0 ? 0 : 1)) {
                valueFound(ATTPDU.HandleAndValue(handle, value), answer, receive)
            }
        default: discovered(request.pdu, pdu, answer, receive)
        }
    }

    /// Handles a part of a read; a Read Blob may follow a full response.
    private mutating func read(_ reading: Reading, part: Int, _ receive: (Outcome) -> Void) {
        let isFull = part == mtu - 1 && reading.answer.value.count < ATTLimits.longestValue
        self.reading = isFull ? reading : nil
        if !isFull { receive(.read(reading.handle, reading.answer)) }
    }

    /// - Parameter handle: The attribute that the error concerns.
    private mutating func fail(
        _ request: ATTPDU, at handle: UInt16, _ answer: Answer, _ receive: (Outcome) -> Void
    ) {
        switch request {
        case .readMultipleRequest, .readMultipleVariableRequest: receive(.read(handle, answer))
        case .cancelWriteRequest: preparation = nil
        case .readRequest(let handle): receive(.read(handle, answer))
        // The value had no more bytes.
        case .readBlobRequest: finish(receive)
        case .writeRequest(let handle, let value): receive(.written(handle, Data(value), answer))
        case .prepareWriteRequest, .executeWriteRequest: endPreparation(answer, receive)
        default: break
        }
    }

    private mutating func endPreparation(_ answer: Answer, _ receive: (Outcome) -> Void) {
        guard let known = preparation.take() else { return }
        var answer = answer
        answer.duration += answer.sentAt - known.sentAt
        answer.sentAt = known.sentAt
        receive(.written(known.handle, known.value, from: known.offset, answer))
    }

    // MARK: Discovering

    private func discovered(_ request: ATTPDU, _ response: ATTPDU, _ answer: Answer, _ receive: (Outcome) -> Void) {
        switch (request, response) {
        case (.readByGroupTypeRequest(_, let type), .readByGroupTypeResponse(let groups)):
            let services = groups.compactMap { group in
                BluetoothUUID(attBytes: group.value).map { Service(handles: group.handles, uuid: $0) }
            }
            receive(.services(services, isPrimary: type.bits16 == Self.primaryService))
        case (.findByTypeValueRequest(_, let type, let value), .findByTypeValueResponse(let groups)):
            // Services of one UUID; the values of other types are not UUIDs.
            guard [Self.primaryService, Self.secondaryService].contains(type), let uuid = BluetoothUUID(attBytes: value)
            else { break }
            receive(
                .services(groups.map { Service(handles: $0, uuid: uuid) }, isPrimary: type == Self.primaryService))
        case (.readByTypeRequest(_, let type), .readByTypeResponse(let found)):
            switch type.bits16 {
            case 0x2802: for entry in found { include(entry, receive) }
            case 0x2803: receive(.characteristics(found.compactMap { TappedCharacteristic($0) }))
            default: for entry in found { valueFound(entry, answer, receive) }
            }
        case (.findInformationRequest, .findInformationResponse(let found)): receive(.descriptors(found))
        default: break
        }
    }

    /// Handles a value that was read by its UUID.
    private func valueFound(_ entry: ATTPDU.HandleAndValue, _ answer: Answer, _ receive: (Outcome) -> Void) {
        var answer = answer
        answer.value = Data(entry.value)
        receive(.read(entry.handle, answer))
    }

    /// Handles an included service; its declaration contains a UUID of 16 bits, and the client reads a longer one
    /// separately.
    private func include(_ entry: ATTPDU.HandleAndValue, _ receive: (Outcome) -> Void) {
        guard entry.value.count == 6, let uuid = BluetoothUUID(attBytes: entry.value[4...]) else { return }
        let first = UInt16(entry.value[0]) | UInt16(entry.value[1]) << 8
        let last = UInt16(entry.value[2]) | UInt16(entry.value[3]) << 8
        guard first <= last else { return }
        receive(.included(in: entry.handle, Service(handles: first...last, uuid: uuid)))
    }
}
