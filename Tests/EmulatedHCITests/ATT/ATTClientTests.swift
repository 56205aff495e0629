import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import BluetoothValues
import Testing

@testable import EmulatedHCI

/// Reads, writes and their order.
///
/// Source: Core Specification, Vol 3, Part F, 3.3 and 3.4.
struct ATTClientTests {
    private let silent: (ATTPDU) -> ATTPDU? = { _ in nil }

    // MARK: Reads

    @Test func aShortValueTakesOneRequest() {
        var server = ScriptedServer()
        #expect(server.perform(.read(handle: 3)) { _ in .readResponse([1, 2]) } == .value([1, 2]))
        #expect(server.sent == [.readRequest(3)])
    }

    @Test(arguments: [22, 44]) func aFullPartIsFollowedByABlob(_ length: Int) {
        let value = (0..<length).map { UInt8($0) }
        var server = ScriptedServer()
        let outcome = server.perform(.read(handle: 3)) { request in
            switch request {
            case .readRequest: .readResponse(Array(value[..<22]))
            case .readBlobRequest(_, let offset): .readBlobResponse(Array(value[Int(offset)...].prefix(22)))
            default: nil
            }
        }
        #expect(outcome == .value(value))
        #expect(server.sent.count == 1 + length / 22)
    }

    @Test(arguments: [(0x0B, true), (.invalidOffset, false), (0x0E, false)] as [(ATTCode, Bool)])
    func anErrorInTheMiddleOfALongReadFailsItUnlessTheValueIsNotLong(_ code: ATTCode, isEnd: Bool) {
        let part = [UInt8](repeating: 1, count: 22)
        var server = ScriptedServer()
        let outcome = server.perform(.read(handle: 3)) { request in
            request == .readRequest(3) ? .readResponse(part) : .refused(0x0C, 3, code)
        }
        #expect(outcome == (isEnd ? .value(part) : .failed(code)))
    }

    @Test func aValueWithoutEndEndsAt512Bytes() {
        var server = ScriptedServer()
        let outcome = server.perform(.read(handle: 3)) { _ in .readBlobResponse([UInt8](repeating: 1, count: 22)) }
        #expect(outcome == .value([UInt8](repeating: 1, count: 512)))
        #expect(server.sent.count == 24)
    }

    @Test func aPartThatIsTooLongEndsTheValue() {
        var server = ScriptedServer()
        let long = [UInt8](repeating: 1, count: 2_000)
        #expect(server.perform(.read(handle: 3)) { _ in .readResponse(long) } == .value(Array(long.prefix(512))))
    }

    @Test(arguments: [0x02, 0x05, 0x0F, 0x80] as [ATTCode])
    func theCodeOfTheServerIsTheOutcome(_ code: ATTCode) {
        var server = ScriptedServer()
        #expect(server.perform(.read(handle: 3)) { .refused($0.opcode, 3, code) } == .failed(code))
        #expect(server.perform(.write(handle: 3, [1])) { .refused($0.opcode, 3, code) } == .failed(code))
    }

    // MARK: Writes

    @Test func aShortValueIsWrittenWithOneRequest() {
        var server = ScriptedServer()
        let value = [UInt8](repeating: 1, count: 20)
        #expect(server.perform(.write(handle: 3, value)) { _ in .writeResponse } == .written)
        #expect(server.sent == [.writeRequest(3, value)])
    }

    @Test func aLongValueIsWrittenInParts() {
        var server = ScriptedServer()
        let value = (0..<40).map { UInt8($0) }
        let outcome = server.perform(.write(handle: 3, value)) { request in
            switch request {
            case .prepareWriteRequest(let handle, let offset, let part):
                .prepareWriteResponse(handle, offset: offset, part)
            case .executeWriteRequest: .executeWriteResponse
            default: nil
            }
        }
        #expect(outcome == .written)
        #expect(
            server.sent == [
                .prepareWriteRequest(3, offset: 0, Array(value[..<18])),
                .prepareWriteRequest(3, offset: 18, Array(value[18..<36])),
                .prepareWriteRequest(3, offset: 36, Array(value[36...])), .executeWriteRequest,
            ])
    }

    @Test func aRefusedPartCancelsTheWrite() {
        var server = ScriptedServer()
        let outcome = server.perform(.write(handle: 3, [UInt8](repeating: 1, count: 40))) { request in
            switch request {
            case .prepareWriteRequest(let handle, let offset, let part):
                offset == 0
                    ? .prepareWriteResponse(handle, offset: offset, part) : .refused(0x16, handle, .prepareQueueFull)
            case .cancelWriteRequest: .executeWriteResponse
            default: nil
            }
        }
        #expect(outcome == .failed(.prepareQueueFull))
        #expect(server.sent.last == .cancelWriteRequest)
        #expect(server.perform(.read(handle: 3)) { _ in .readResponse([1]) } == .value([1]))
    }

    @Test func aRefusedExecutionFailsTheWrite() {
        var server = ScriptedServer()
        let outcome = server.perform(.write(handle: 3, [UInt8](repeating: 1, count: 40))) { request in
            if case .prepareWriteRequest(let handle, let offset, let part) = request {
                .prepareWriteResponse(handle, offset: offset, part)
            } else {
                .refused(0x18, 3, .invalidAttributeValueLength)
            }
        }
        #expect(outcome == .failed(.invalidAttributeValueLength))
    }

    @Test(arguments: [513, 70_000]) func aValueThatIsTooLongForAnAttributeIsNotSent(_ length: Int) {
        var server = ScriptedServer()
        let value = [UInt8](repeating: 1, count: length)
        #expect(server.perform(.write(handle: 3, value), silent) == .failed(.invalidAttributeValueLength))
        #expect(server.sent == [])
        #expect(server.perform(.read(handle: 3)) { _ in .readResponse([1]) } == .value([1]))
    }

    @Test func aWriteCommandHasNoResponseAndFitsInOnePacket() {
        var server = ScriptedServer()
        #expect(server.perform(.writeCommand(handle: 3, [UInt8](repeating: 1, count: 100)), silent) == .written)
        #expect(server.sent == [.writeCommand(3, [UInt8](repeating: 1, count: 20))])
    }

    // MARK: Order

    @Test func operationsAreSentOneAtATimeInTheirOrder() {
        var server = ScriptedServer()
        server.perform(.read(handle: 3), silent)
        server.perform(.writeCommand(handle: 4, [1]), silent)
        server.perform(.write(handle: 5, [2]), silent)
        #expect(server.sent == [.readRequest(3)])
        server.receive(.readResponse([7]))
        #expect(server.sent == [.readRequest(3), .writeCommand(4, [1]), .writeRequest(5, [2])])
        server.receive(.writeResponse)
        #expect(server.outcomes == [1: .value([7]), 2: .written, 3: .written])
    }

    @Test func operationsThatWaitAreBounded() {
        var server = ScriptedServer()
        for _ in 0..<ATTClient.queueLength + 1 { server.perform(.read(handle: 3), silent) }
        #expect(server.outcomes == [:])
        #expect(server.perform(.read(handle: 3), silent) == .failed(.unlikelyError))
    }

    @Test func theEndOfTheLinkFailsAllOperations() {
        var server = ScriptedServer()
        for _ in 0..<3 { server.perform(.read(handle: 3), silent) }
        server.end()
        #expect(
            server.outcomes == [1: .failed(.unlikelyError), 2: .failed(.unlikelyError), 3: .failed(.unlikelyError)])
    }

    @Test(
        arguments: [
            .writeResponse, .executeWriteResponse, .mtuResponse(100), .prepareWriteResponse(3, offset: 0, []),
            .findByTypeValueResponse([1...2]), .readByTypeResponse([.init(3, [1])]),
        ] as [ATTPDU])
    func aResponseToAnotherRequestIsIgnored(_ response: ATTPDU) {
        var server = ScriptedServer()
        server.receive(response)
        #expect(server.perform(.read(handle: 3)) { _ in response } == nil)
        server.receive(.readResponse([1]))
        #expect(server.outcomes == [1: .value([1])])
    }

    // MARK: Values that the server sends

    @Test func notificationsAreReportedAtAnyTime() {
        var server = ScriptedServer()
        server.perform(.read(handle: 3), silent)
        server.receive(.notification(5, [1]))
        server.receive(.multipleNotification([.init(5, [2]), .init(6, [3])]))
        #expect(
            server.reports == [
                .notified(handle: 5, [1], isIndication: false), .notified(handle: 5, [2], isIndication: false),
                .notified(handle: 6, [3], isIndication: false),
            ])
    }

    @Test func anIndicationIsConfirmed() {
        var server = ScriptedServer()
        server.receive(.indication(5, [1]))
        #expect(server.reports == [.notified(handle: 5, [1], isIndication: true)])
        #expect(server.sent == [.confirmation])
    }
}
