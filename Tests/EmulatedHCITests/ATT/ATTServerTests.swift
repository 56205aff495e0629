import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import Testing

@testable import EmulatedHCI

/// The order of packets, and reads.
///
/// Source: Core Specification, Vol 3, Part F, 3.3 and 3.4.
struct ATTServerTests {
    // MARK: The MTU

    @Test(arguments: [(0, 23), (22, 23), (23, 23), (100, 100), (247, 247), (0xFFFF, 247)] as [(UInt16, Int)])
    func theMTUIsTheLesserOfBoth(_ wanted: UInt16, _ agreed: Int) {
        var attributes = ServedAttributes()
        #expect(attributes.send(.mtuRequest(wanted)) == [.mtuResponse(247)])
        #expect(attributes.server.mtu == agreed)
    }

    @Test func theMTUAppliesAfterTheResponse() {
        var server = ATTServer(.of(ServedAttributes.sample), maximumMTU: 247)
        #expect(server.receive(ATTPDU.mtuRequest(100).bytes) == [.exchange])
        #expect(server.mtu == 23)
        #expect(server.completed(.written) == [.send(.mtuResponse(247))])
        #expect(server.mtu == 100)
    }

    // MARK: Order

    @Test func aSecondRequestWaitsForTheResponseToTheFirst() {
        var server = ATTServer(.of(ServedAttributes.sample), maximumMTU: 247)
        #expect(server.receive(ATTPDU.readRequest(3).bytes) == [.request(.read(.at(3)))])
        #expect(server.receive(ATTPDU.readRequest(5).bytes) == [])
        #expect(server.receive(ATTPDU.mtuRequest(50).bytes) == [])
        #expect(
            server.completed(.value(Data([1]))) == [.send(.readResponse([1])), .request(.read(.at(5)))])
        #expect(server.completed(.value(Data([2]))) == [.send(.readResponse([2])), .exchange])
        #expect(server.completed(.written) == [.send(.mtuResponse(247))])
    }

    @Test func commandsAndConfirmationsDoNotWaitForAResponse() {
        var server = ATTServer(.of(ServedAttributes.sample), maximumMTU: 247)
        _ = server.receive(ATTPDU.readRequest(3).bytes)
        #expect(server.receive(ATTPDU.writeCommand(0x19, [9]).bytes) == [.writeCommand(.at(0x19), Data([9]))])
        #expect(server.receive(ATTPDU.confirmation.bytes) == [])
    }

    @Test func requestsThatWaitAreBounded() {
        var server = ATTServer(.of(ServedAttributes.sample), maximumMTU: 247)
        for _ in 0..<1_000 { _ = server.receive(ATTPDU.readRequest(3).bytes) }
        var answered = 0
        while case .send? = server.completed(.value(Data())).first { answered += 1 }
        #expect(answered == 1 + ATTServer.queueLength)
    }

    @Test func anAnswerWithoutARequestIsIgnored() {
        var server = ATTServer(.of(ServedAttributes.sample), maximumMTU: 247)
        #expect(server.completed(.value(Data([1]))) == [])
    }

    // MARK: Malformed packets

    @Test(arguments: [0x14, 0x1A, 0x22, 0x24, 0x3E, 0xB0] as [UInt8])
    func anUnknownRequestIsNotSupported(_ opcode: UInt8) {
        var attributes = ServedAttributes()
        #expect(attributes.send([opcode, 1, 2, 3]) == [.refused(opcode, 0, .requestNotSupported)])
    }

    @Test(
        arguments: [
            [0x02], [0x02, 1], [0x04, 1, 0, 2], [0x06, 1, 0, 2, 0, 0], [0x08, 1, 0, 2, 0, 1],
            [0x08, 1, 0, 2, 0, 1, 2, 3],
            [0x0A], [0x0A, 3], [0x0C, 3, 0, 1], [0x0E], [0x0E, 3, 0], [0x0E, 3, 0, 5], [0x10, 1, 0, 2, 0], [0x12, 3],
            [0x16, 3, 0, 0], [0x18], [0x18, 2], [0x20, 3, 0],
        ] as [[UInt8]])
    func aMalformedRequestIsAnInvalidPDU(_ bytes: [UInt8]) {
        var attributes = ServedAttributes()
        #expect(attributes.send(bytes) == [.refused(bytes[0], 0, .invalidPDU)])
    }

    @Test(
        arguments: [
            [], [0x52], [0x52, 1], [0x54, 1, 2], [0xD2, 1, 2, 3], [0x01, 1, 2, 3, 4], [0x0B, 1], [0x13],
            [0x1B, 1, 0, 2],
            [0x1D, 1, 0, 2], [0x55], [0xFF],
        ] as [[UInt8]])
    func commandsAndPacketsOfServersHaveNoAnswer(_ bytes: [UInt8]) {
        var attributes = ServedAttributes()
        #expect(attributes.send(bytes) == [])
        #expect(attributes.commands == [:])
        #expect(attributes.send(.readRequest(3)) == [.readResponse([])])
    }

    @Test func aSignedWriteCommandIsIgnored() {
        var attributes = ServedAttributes()
        let command = ATTPDU.signedWriteCommand(0x19, [1], signature: [UInt8](repeating: 0, count: 12))
        _ = attributes.send(.mtuRequest(100))
        #expect(attributes.send(command) == [])
        #expect(attributes.commands == [:])
    }

    @Test func aPacketThatIsLongerThanTheMTUIsInvalid() {
        var attributes = ServedAttributes()
        let value = [UInt8](repeating: 1, count: 21)
        #expect(attributes.send(.writeRequest(0x19, value)) == [.refused(0x12, 0, .invalidPDU)])
        #expect(attributes.send(.writeCommand(0x19, value)) == [])
        #expect(attributes.commands == [:])
        #expect(attributes.send(.writeRequest(0x19, Array(value.dropLast()))) == [.writeResponse])
    }

    /// The handles of an L2CAP packet of the greatest length.
    @Test func aReadOfThirtyThousandHandlesIsInvalid() {
        var attributes = ServedAttributes()
        let handles = [UInt16](repeating: 1, count: 30_000)
        #expect(attributes.send(.readMultipleRequest(handles)) == [.refused(0x0E, 0, .invalidPDU)])
        #expect(attributes.send(.readMultipleVariableRequest(handles)) == [.refused(0x20, 0, .invalidPDU)])
    }

    @Test(arguments: 0..<50) func randomBytesHaveAtMostOneAnswerWithinTheMTU(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed, stream: "ATT server")
        var attributes = ServedAttributes()
        for _ in 0..<200 {
            let known: [UInt8] = [0x02, 0x04, 0x06, 0x08, 0x0A, 0x0C, 0x0E, 0x10, 0x12, 0x16, 0x18, 0x1E, 0x20, 0x52]
            let opcode = known[Int(generator.below(UInt64(known.count)))]
            let rest = (0..<generator.below(12)).map { _ in UInt8(generator.below(generator.happens(0.5) ? 4 : 256)) }
            let mtu = max(23, attributes.server.mtu)
            let sent = attributes.send([opcode] + rest)
            #expect(sent.count <= 1)
            #expect(sent.allSatisfy { $0.bytes.count <= max(mtu, attributes.server.mtu) })
        }
        #expect(attributes.send(.readRequest(0x2F)) == [.refused(0x0A, 0x2F, .invalidHandle)])
    }

    // MARK: Reads

    @Test func aValueIsReadFromTheDevice() {
        var attributes = ServedAttributes()
        attributes.values = [3: Array("Name".utf8)]
        #expect(attributes.send(.readRequest(3)) == [.readResponse(Array("Name".utf8))])
        #expect(attributes.requests == [.read(.at(3))])
    }

    @Test func aDeclarationIsReadFromTheTable() {
        var attributes = ServedAttributes()
        #expect(attributes.send(.readRequest(0x10)) == [.readResponse([0x0D, 0x18])])
        #expect(attributes.requests == [])
        #expect(attributes.exchanges == 1)
    }

    @Test(arguments: [0, 0x20, 0xFFFF] as [UInt16])
    func anUnknownHandleIsInvalid(_ handle: UInt16) {
        var attributes = ServedAttributes()
        let refused = { (opcode: UInt8) in [ATTPDU.refused(opcode, handle, .invalidHandle)] }
        #expect(attributes.send(.readRequest(handle)) == refused(0x0A))
        #expect(attributes.send(.readBlobRequest(handle, offset: 1)) == refused(0x0C))
        #expect(attributes.send(.readMultipleRequest([3, handle])) == refused(0x0E))
        #expect(attributes.send(.readMultipleVariableRequest([3, handle])) == refused(0x20))
        #expect(attributes.send(.writeRequest(handle, [1])) == refused(0x12))
        #expect(attributes.send(.prepareWriteRequest(handle, offset: 0, [1])) == refused(0x16))
        #expect(attributes.send(.writeCommand(handle, [1])) == [])
    }

    @Test func theCodeOfTheDeviceReachesTheClient() {
        var attributes = ServedAttributes()
        attributes.refusals = [3: 0x80, 5: 0x05]
        #expect(attributes.send(.readRequest(3)) == [.refused(0x0A, 3, 0x80)])
        #expect(attributes.send(.readBlobRequest(3, offset: 4)) == [.refused(0x0C, 3, 0x80)])
        #expect(attributes.send(.readMultipleRequest([1, 3])) == [.refused(0x0E, 3, 0x80)])
        #expect(attributes.send(.readMultipleVariableRequest([1, 5])) == [.refused(0x20, 5, 0x05)])
        #expect(attributes.send(.writeRequest(3, [1])) == [.refused(0x12, 3, 0x80)])
    }

    @Test func anErrorWithoutACodeIsUnlikely() {
        var server = ATTServer(.of(ServedAttributes.sample), maximumMTU: 247)
        _ = server.receive(ATTPDU.readRequest(3).bytes)
        let failure = LinkResponse.failure(BackendError(.notConnected, operation: "read"))
        #expect(server.completed(failure) == [.send(.refused(0x0A, 3, .unlikelyError))])
    }

    @Test func aLongValueIsReadInPartsFromOneReadOfTheDevice() {
        var attributes = ServedAttributes()
        let value = (0..<50).map { UInt8($0) }
        attributes.values = [3: value]
        #expect(attributes.send(.readRequest(3)) == [.readResponse(Array(value[..<22]))])
        // A changed value has no part in the blobs of the earlier one.
        attributes.values = [3: [9]]
        #expect(attributes.send(.readBlobRequest(3, offset: 22)) == [.readBlobResponse(Array(value[22..<44]))])
        #expect(attributes.send(.readBlobRequest(3, offset: 44)) == [.readBlobResponse(Array(value[44...]))])
        #expect(attributes.requests == [.read(.at(3))])
        #expect(attributes.send(.readRequest(3)) == [.readResponse([9])])
    }

    @Test func aBlobAtTheEndIsEmptyAndBeyondItIsAnInvalidOffset() {
        var attributes = ServedAttributes()
        attributes.values = [3: [1, 2, 3]]
        #expect(attributes.send(.readBlobRequest(3, offset: 0)) == [.readBlobResponse([1, 2, 3])])
        #expect(attributes.send(.readBlobRequest(3, offset: 3)) == [.readBlobResponse([])])
        #expect(attributes.send(.readBlobRequest(3, offset: 4)) == [.refused(0x0C, 3, .invalidOffset)])
        #expect(attributes.send(.readBlobRequest(1, offset: 1)) == [.readBlobResponse([0x18])])
        #expect(attributes.send(.readBlobRequest(1, offset: 3)) == [.refused(0x0C, 1, .invalidOffset)])
    }

    @Test func aBlobOfAnotherValueIsReadAnew() {
        var attributes = ServedAttributes()
        attributes.values = [3: [1, 2, 3], 5: [4, 5, 6]]
        _ = attributes.send(.readRequest(3))
        #expect(attributes.send(.readBlobRequest(5, offset: 1)) == [.readBlobResponse([5, 6])])
        #expect(attributes.requests == [.read(.at(3)), .read(.at(5))])
    }

    @Test func aWriteEndsTheBlobsOfAnEarlierValue() {
        var attributes = ServedAttributes()
        attributes.values = [0x19: [1, 2, 3]]
        _ = attributes.send(.readRequest(0x19))
        _ = attributes.send(.writeRequest(0x19, [7, 8, 9]))
        #expect(attributes.send(.readBlobRequest(0x19, offset: 1)) == [.readBlobResponse([8, 9])])
    }

    @Test func severalValuesAreReadOneAfterTheOther() {
        var attributes = ServedAttributes()
        attributes.values = [3: [1, 2], 5: [3]]
        #expect(attributes.send(.readMultipleRequest([3, 1, 5])) == [.readMultipleResponse([1, 2, 0x00, 0x18, 3])])
        #expect(
            attributes.send(.readMultipleVariableRequest([5, 1, 3])) == [
                .readMultipleVariableResponse([[3], [0x00, 0x18], [1, 2]])
            ])
        #expect(attributes.requests == [.read(.at(3)), .read(.at(5)), .read(.at(5)), .read(.at(3))])
    }

    @Test func severalValuesAreTruncatedToTheMTU() {
        var attributes = ServedAttributes()
        let (first, second) = ([UInt8](repeating: 1, count: 15), [UInt8](repeating: 2, count: 15))
        attributes.values = [3: first, 5: second]
        #expect(
            attributes.send(.readMultipleRequest([3, 5]))
                == [.readMultipleResponse(first + Array(second.prefix(7)))])
        // Each value follows its whole length.
        let response = attributes.send(.readMultipleVariableRequest([3, 5]))
        #expect(response == [.readMultipleVariableResponse([first, [2, 2, 2]], omitted: 12)])
        #expect(response.map(\.bytes) == [[0x21, 15, 0] + first + [15, 0, 2, 2, 2]])
    }
}
