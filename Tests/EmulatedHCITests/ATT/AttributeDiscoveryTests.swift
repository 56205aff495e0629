import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI
import Testing

@testable import EmulatedHCI

/// Core Specification, Vol 3, Part F, 3.4.3, 3.4.4.1 and 3.4.4.9.
struct AttributeDiscoveryTests {
    private static let long = ServedAttributes.long

    private func ask(_ pdu: ATTPDU, mtu: UInt16 = 247) -> [ATTPDU] {
        var attributes = ServedAttributes()
        _ = attributes.send(.mtuRequest(mtu))
        return attributes.send(pdu)
    }

    @Test(
        arguments: [
            .findInformationRequest(0...9), .findByTypeValueRequest(0...9, type: 0x2800, [0x00, 0x18]),
            .readByTypeRequest(0...9, "2803"), .readByGroupTypeRequest(0...9, "2800"),
        ] as [ATTPDU])
    func aRangeThatBeginsWithHandle0IsInvalid(_ request: ATTPDU) {
        #expect(ask(request) == [.refused(request.opcode, 0, .invalidHandle)])
    }

    @Test(arguments: [0x04, 0x06, 0x08, 0x10] as [UInt8])
    func aRangeThatEndsBeforeItsBeginIsInvalid(_ opcode: UInt8) {
        var attributes = ServedAttributes()
        #expect(attributes.send([opcode, 9, 0, 8, 0, 0x00, 0x28]) == [.refused(opcode, 9, .invalidHandle)])
    }

    @Test(
        arguments: [
            .findInformationRequest(0x40...0xFFFF), .findByTypeValueRequest(0x40...0xFFFF, type: 0x2800, [0x00, 0x18]),
            .readByTypeRequest(0x40...0xFFFF, "2803"), .readByGroupTypeRequest(0x40...0xFFFF, "2800"),
        ] as [ATTPDU])
    func aRangeWithoutMatchIsAnErrorThatNamesItsFirstHandle(_ request: ATTPDU) {
        #expect(ask(request) == [.refused(request.opcode, 0x40, .attributeNotFound)])
    }

    @Test func attributesAreListedWithTypesOfOneWidth() {
        #expect(
            ask(.findInformationRequest(0x17...0x1F)) == [
                .findInformationResponse([.init(0x17, "2A38"), .init(0x18, "2803")])
            ])
        #expect(
            ask(.findInformationRequest(0x19...0x1F)) == [.findInformationResponse([.init(0x19, Self.long(2))])])
    }

    @Test func aListOfAttributesFitsInTheMTU() {
        guard case .findInformationResponse(let found)? = ask(.findInformationRequest(1...9), mtu: 23).first else {
            Issue.record("another response")
            return
        }
        #expect(found.map(\.handle) == [1, 2, 3, 4, 5])
    }

    @Test func servicesAreListedWithUUIDsOfOneWidth() {
        #expect(
            ask(.readByGroupTypeRequest(1...0xFFFF, "2800")) == [
                .readByGroupTypeResponse([
                    .init(1...5, [0x00, 0x18]), .init(6...9, [0x01, 0x18]), .init(0x10...0x1F, [0x0D, 0x18]),
                ])
            ])
        #expect(
            ask(.readByGroupTypeRequest(1...0xFFFF, "2801")) == [
                .readByGroupTypeResponse([.init(0x30...0x33, Self.long(1).attBytes)])
            ])
    }

    @Test func aServiceIsListedIfItsDeclarationIsInTheRange() {
        #expect(
            ask(.readByGroupTypeRequest(2...6, "2800")) == [.readByGroupTypeResponse([.init(6...9, [0x01, 0x18])])])
    }

    @Test(arguments: ["2803", "2A37"] as [BluetoothUUID])
    func otherTypesHaveNoGroups(_ type: BluetoothUUID) {
        #expect(ask(.readByGroupTypeRequest(1...0xFFFF, type)) == [.refused(0x10, 1, .unsupportedGroupType)])
    }

    @Test func aServiceIsFoundByItsUUID() {
        #expect(
            ask(.findByTypeValueRequest(1...0xFFFF, type: 0x2800, [0x0D, 0x18])) == [
                .findByTypeValueResponse([0x10...0x1F])
            ])
        #expect(
            ask(.findByTypeValueRequest(1...0xFFFF, type: 0x2801, Self.long(1).attBytes)) == [
                .findByTypeValueResponse([0x30...0x33])
            ])
        #expect(
            ask(.findByTypeValueRequest(1...0xFFFF, type: 0x2800, [0x0D])) == [.refused(0x06, 1, .attributeNotFound)])
    }

    @Test func declarationsAreListedWithValuesOfOneLength() {
        guard case .readByTypeResponse(let found)? = ask(.readByTypeRequest(0x10...0x1F, "2803")).first else {
            Issue.record("another response")
            return
        }
        // The third one has 128 bits.
        #expect(found.map(\.handle) == [0x12, 0x16])
        #expect(
            ask(.readByTypeRequest(0x17...0x1F, "2803")) == [
                .readByTypeResponse([.init(0x18, [0x0E, 0x19, 0] + Self.long(2).attBytes)])
            ])
        #expect(
            ask(.readByTypeRequest(0x10...0x1F, "2802")) == [.readByTypeResponse([.init(0x11, [0x30, 0, 0x33, 0])])])
    }

    @Test func aValueIsReadByItsTypeFromTheDeviceAlone() {
        var attributes = ServedAttributes()
        attributes.values = [0x13: [1, 2], 0x32: [3, 4]]
        #expect(
            attributes.send(.readByTypeRequest(1...0xFFFF, "2A37")) == [.readByTypeResponse([.init(0x13, [1, 2])])])
        #expect(
            attributes.send(.readByTypeRequest(0x14...0xFFFF, "2A37")) == [
                .readByTypeResponse([.init(0x32, [3, 4])])
            ])
        #expect(attributes.requests == [.read(.at(0x13)), .read(.at(0x32))])
    }

    @Test func aValueThatIsReadByItsTypeIsTruncated() {
        var attributes = ServedAttributes(maximumMTU: 517)
        attributes.values = [0x13: [UInt8](repeating: 7, count: 300)]
        #expect(
            attributes.send(.readByTypeRequest(1...0xFFFF, "2A37")) == [
                .readByTypeResponse([.init(0x13, [UInt8](repeating: 7, count: 19))])
            ])
        _ = attributes.send(.mtuRequest(517))
        // The length of an entry has one byte.
        #expect(
            attributes.send(.readByTypeRequest(1...0xFFFF, "2A37")) == [
                .readByTypeResponse([.init(0x13, [UInt8](repeating: 7, count: 253))])
            ])
    }

    @Test func aRefusedValueIsAnErrorThatNamesItsHandle() {
        var attributes = ServedAttributes()
        attributes.refusals = [0x13: 0x05]
        #expect(
            attributes.send(.readByTypeRequest(1...0xFFFF, "2A37"))
                == [.refused(0x08, 0x13, .insufficientAuthentication)])
    }

    @Test func aDiscoveryTakesARoundTripAndNoRequestToTheDevice() {
        var attributes = ServedAttributes()
        _ = attributes.send(.readByGroupTypeRequest(1...0xFFFF, "2800"))
        _ = attributes.send(.findInformationRequest(1...0xFFFF))
        #expect(attributes.exchanges == 2)
        #expect(attributes.requests == [])
    }

    @Test(arguments: [23, 24, 40, 100, 247, 517] as [UInt16])
    func noResponseIsLongerThanTheMTU(_ mtu: UInt16) {
        var attributes = ServedAttributes(
            (0..<40).map { index in
                let first = UInt16(index * 10 + 1)
                return TappedService(
                    handles: first...first + 9, uuid: index % 3 == 0 ? Self.long(UInt128(index)) : "180D",
                    isPrimary: true, included: [],
                    characteristics: [.at(first + 1, 2, "2A37"), .at(first + 3, 2, Self.long(9))])
            }, maximumMTU: 517)
        attributes.values = [3: [UInt8](repeating: 1, count: 512)]
        _ = attributes.send(.mtuRequest(mtu))
        for first: UInt16 in 1...400 {
            for request: ATTPDU in [
                .findInformationRequest(first...0xFFFF), .readByGroupTypeRequest(first...0xFFFF, "2800"),
                .readByTypeRequest(first...0xFFFF, "2803"), .readByTypeRequest(first...0xFFFF, "2A37"),
                .findByTypeValueRequest(first...0xFFFF, type: 0x2800, [0x0D, 0x18]),
            ] {
                let sent = attributes.send(request).map(\.bytes.count)
                #expect(sent.count == 1)
                #expect(sent.allSatisfy { $0 <= Int(mtu) })
            }
        }
    }
}
