import BluetoothBackend
import BluetoothCapture
import BluetoothEmulator
import BluetoothHCI
import BluetoothValues
import Foundation
import Testing

@testable import BluetoothRecording

/// The matching of responses with their requests.
@Suite struct CapturedClientTests {
    private typealias Outcome = CapturedClient.Outcome
    private typealias Answer = CapturedClient.Answer

    /// Returns the outcomes of a conversation with a packet each 10 ms; requests are marked with true.
    private func outcomes(_ packets: [(isRequest: Bool, pdu: ATTPDU)], ends: Bool = false) -> [Outcome] {
        var client = CapturedClient()
        var outcomes: [Outcome] = []
        for (index, packet) in packets.enumerated() {
            client.add(packet.pdu, isFromDevice: !packet.isRequest, at: .milliseconds(10 * index)) {
                outcomes.append($0)
            }
        }
        if ends { client.finish { outcomes.append($0) } }
        return outcomes
    }

    private func answer(_ value: [UInt8] = [], sent: Int = 0, took: Int = 10, error: UInt8? = nil) -> Answer {
        Answer(
            value: Data(value), error: error.map { .init(rawValue: $0) }, sentAt: .milliseconds(sent),
            duration: .milliseconds(took))
    }

    @Test func readsWritesAndErrorsHaveTheirTimes() {
        let found = outcomes([
            (true, .readRequest(3)), (false, .readResponse([1])),
            (true, .writeRequest(4, [2])), (false, .writeResponse),
            (true, .readRequest(5)), (false, .error(request: 0x0A, handle: 5, code: 2)),
            (true, .writeRequest(4, [3])), (false, .error(request: 0x12, handle: 4, code: 0x80)),
        ])
        #expect(
            found == [
                .read(3, answer([1])), .written(4, Data([2]), answer(sent: 20)),
                .read(5, answer(sent: 40, error: 2)), .written(4, Data([3]), answer(sent: 60, error: 0x80)),
            ])
    }

    @Test func aLongValueIsReadInParts() {
        let first = [UInt8](repeating: 7, count: 22)
        let whole = outcomes([
            (true, .readRequest(3)), (false, .readResponse(first)),
            (true, .readBlobRequest(3, offset: 22)), (false, .readBlobResponse([8])),
        ])
        #expect(whole == [.read(3, answer(first + [8], took: 30))])
        let exact = outcomes([
            (true, .readRequest(3)), (false, .readResponse(first)),
            (true, .readBlobRequest(3, offset: 22)), (false, .error(request: 0x0C, handle: 3, code: 0x0B)),
        ])
        #expect(exact == [.read(3, answer(first))])
        let followed = outcomes([
            (true, .readRequest(3)), (false, .readResponse(first)), (true, .readRequest(4)),
            (false, .readResponse([1])),
        ])
        #expect(followed == [.read(3, answer(first)), .read(4, answer([1], sent: 20))])
        #expect(
            outcomes([(true, .readRequest(3)), (false, .readResponse(first))], ends: true) == [.read(3, answer(first))])
    }

    @Test func theMTUDecidesWhatIsLong() {
        let value = [UInt8](repeating: 7, count: 22)
        let found = outcomes([
            (true, .mtuRequest(517)), (false, .mtuResponse(185)), (true, .readRequest(3)),
            (false, .readResponse(value)),
        ])
        #expect(found == [.mtu(185), .read(3, answer(value, sent: 20))])
    }

    @Test func aLongWriteIsOneWrite() {
        let found = outcomes([
            (true, .prepareWriteRequest(3, offset: 0, [1, 2])), (false, .prepareWriteResponse(3, offset: 0, [1, 2])),
            (true, .prepareWriteRequest(3, offset: 2, [3])), (false, .prepareWriteResponse(3, offset: 2, [3])),
            (true, .executeWriteRequest), (false, .executeWriteResponse),
        ])
        #expect(found == [.written(3, Data([1, 2, 3]), answer(took: 50))])
    }

    @Test func aPreparedWriteFromAnOffsetKeepsIt() {
        let found = outcomes([
            (true, .prepareWriteRequest(3, offset: 5, [1, 2])), (false, .prepareWriteResponse(3, offset: 5, [1, 2])),
            (true, .prepareWriteRequest(3, offset: 7, [3])), (false, .prepareWriteResponse(3, offset: 7, [3])),
            (true, .executeWriteRequest), (false, .error(request: 0x18, handle: 3, code: 7)),
        ])
        #expect(found == [.written(3, Data([1, 2, 3]), from: 5, answer(took: 50, error: 7))])
    }

    @Test func discoveriesAreRead() {
        let found = outcomes([
            (true, .readByGroupTypeRequest(1...0xFFFF, "2800")),
            (false, .readByGroupTypeResponse([.init(1...9, [0x0D, 0x18])])),
            (true, .readByTypeRequest(1...9, "2803")),
            (false, .readByTypeResponse([.init(2, [0x12, 3, 0, 0x37, 0x2A])])),
            (true, .findInformationRequest(4...9)), (false, .findInformationResponse([.init(4, "2902")])),
            (true, .readByTypeRequest(1...9, "2802")),
            (false, .readByTypeResponse([.init(2, [10, 0, 12, 0, 0x0F, 0x18])])),
            (true, .readByTypeRequest(1...9, "2A00")), (false, .readByTypeResponse([.init(3, [65])])),
            (true, .findInformationRequest(5...9)), (false, .error(request: 4, handle: 5, code: 0x0A)),
        ])
        #expect(
            found == [
                .services([.init(handles: 1...9, uuid: "180D")], isPrimary: true),
                .characteristics([
                    .init(
                        declarationHandle: 2, valueHandle: 3, properties: [.read, .notify], uuid: "2A37",
                        descriptors: [])
                ]),
                .descriptors([.init(4, "2902")]), .included(in: 2, .init(handles: 10...12, uuid: "180F")),
                .read(3, answer([65], sent: 80)),
            ])
    }

    @Test func notificationsAndCommandsNeedNoRequest() {
        let found = outcomes([
            (false, .notification(3, [1])), (false, .indication(4, [2])), (true, .confirmation),
            (true, .writeCommand(5, [3])),
        ])
        #expect(
            found == [
                .notified(3, Data([1]), at: .zero), .notified(4, Data([2]), at: .milliseconds(10)),
                .command(5, Data([3]), at: .milliseconds(30)),
            ])
    }

    @Test func valuesThatComeTogetherAreSeveral() {
        let found = outcomes([
            (true, .readMultipleVariableRequest([3, 5])), (false, .readMultipleVariableResponse([[1], [2, 3]])),
            (true, .readMultipleVariableRequest([3, 5])), (false, .error(request: 0x20, handle: 5, code: 5)),
            (true, .readMultipleRequest([3, 5])), (false, .readMultipleResponse([1, 2, 3])),
            (false, .multipleNotification([.init(3, [1]), .init(5, [2])])),
            (true, .signedWriteCommand(7, [4], signature: [UInt8](repeating: 0, count: 12))),
        ])
        var refused = answer([], sent: 20)
        refused.error = .insufficientAuthentication
        #expect(
            found == [
                .read(3, answer([1])), .read(5, answer([2, 3])), .read(5, refused),
                .notified(3, Data([1]), at: .milliseconds(60)), .notified(5, Data([2]), at: .milliseconds(60)),
                .command(7, Data([4]), at: .milliseconds(70)),
            ], "the lengths of the values of a Read Multiple are the client's knowledge")
    }

    @Test func aWriteThatIsCanceledIsNone() {
        for end in [ATTPDU.executeWriteResponse, .error(request: 0x18, handle: 0, code: 0x0E)] {
            #expect(
                outcomes([
                    (true, .prepareWriteRequest(3, offset: 0, [1])), (false, .prepareWriteResponse(3, offset: 0, [1])),
                    (true, .cancelWriteRequest), (false, end), (true, .executeWriteRequest),
                    (false, .executeWriteResponse),
                ]) == [])
        }
    }

    @Test func servicesAreFoundByTheirUUID() {
        let found = outcomes([
            (true, .findByTypeValueRequest(1...0xFFFF, type: 0x2800, [0x0D, 0x18])),
            (false, .findByTypeValueResponse([1...9, 12...20])),
            (true, .findByTypeValueRequest(21...0xFFFF, type: 0x2800, [0x0D, 0x18])),
            (false, .error(request: 6, handle: 21, code: 0x0A)),
            (true, .findByTypeValueRequest(1...9, type: 0x2A00, [65])), (false, .findByTypeValueResponse([3...3])),
        ])
        #expect(
            found == [
                .services(
                    [.init(handles: 1...9, uuid: "180D"), .init(handles: 12...20, uuid: "180D")], isPrimary: true)
            ])
    }

    /// A phone discovers the device while the device discovers the phone.
    @Test func whatTheDeviceAsksDisturbsNoRequestOfTheHost() {
        let first = [UInt8](repeating: 7, count: 22)
        let found = outcomes([
            (true, .readRequest(3)), (false, .mtuRequest(100)), (true, .mtuResponse(100)),
            (false, .readResponse(first)),
            (false, .readRequest(9)), (true, .error(request: 0x0A, handle: 9, code: 2)),
            (true, .readBlobRequest(3, offset: 22)), (false, .indication(4, [1])), (true, .confirmation),
            (false, .readBlobResponse([8])), (false, .confirmation),
        ])
        #expect(found == [.notified(4, Data([1]), at: .milliseconds(70)), .read(3, answer(first + [8], took: 90))])
    }

    @Test func aResponseWithoutARequestAndTheDevicesOwnRequestsAreIgnored() {
        #expect(outcomes([(false, .readResponse([1])), (false, .readRequest(3)), (true, .readResponse([1]))]) == [])
        #expect(outcomes([(true, .readRequest(3)), (false, .writeResponse)]) == [])
    }
}
