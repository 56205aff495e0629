import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import Testing

@testable import EmulatedHCI

/// Writes, subscriptions, notifications and indications.
///
/// Source: Core Specification, Vol 3, Part F, 3.4.5 to 3.4.7.
struct ATTServerWritingTests {
    // MARK: Writes

    @Test func aWriteReachesTheDevice() {
        var attributes = ServedAttributes()
        #expect(attributes.send(.writeRequest(0x19, [1, 2])) == [.writeResponse])
        #expect(attributes.requests == [.write(.at(0x19), Data([1, 2]))])
        #expect(attributes.send(.writeCommand(0x19, [3])) == [])
        #expect(attributes.commands == [0x19: [3]])
    }

    @Test func aDeclarationIsNotWritten() {
        var attributes = ServedAttributes()
        #expect(attributes.send(.writeRequest(0x10, [1])) == [.refused(0x12, 0x10, .writeNotPermitted)])
        #expect(attributes.send(.writeCommand(0x10, [1])) == [])
        #expect(
            attributes.send(.prepareWriteRequest(0x10, offset: 0, [1])) == [.refused(0x16, 0x10, .writeNotPermitted)])
        #expect(attributes.requests == [])
    }

    // MARK: Prepared writes

    @Test func thePartsOfALongWriteAreOneWrite() {
        var attributes = ServedAttributes()
        for (offset, part) in [(0, [1, 2]), (2, [3]), (3, [4, 5])] as [(UInt16, [UInt8])] {
            let request = ATTPDU.prepareWriteRequest(0x19, offset: offset, part)
            #expect(attributes.send(request) == [.prepareWriteResponse(0x19, offset: offset, part)])
        }
        #expect(attributes.requests == [])
        #expect(attributes.send(.executeWriteRequest) == [.executeWriteResponse])
        #expect(attributes.requests == [.write(.at(0x19), Data([1, 2, 3, 4, 5]))])
    }

    @Test func partsOfSeveralValuesAreWrittenInTheirOrder() {
        var attributes = ServedAttributes()
        for (handle, offset, part) in [(0x19, 0, [1]), (0x15, 0, [2]), (0x19, 1, [3]), (0x19, 5, [4])]
            as [(UInt16, UInt16, [UInt8])]
        {
            _ = attributes.send(.prepareWriteRequest(handle, offset: offset, part))
        }
        #expect(attributes.send(.executeWriteRequest) == [.executeWriteResponse])
        #expect(
            attributes.requests == [
                .write(.at(0x19), Data([1])), .write(.at(0x15), Data([2])), .write(.at(0x19), Data([3]), offset: 1),
                .write(.at(0x19), Data([4]), offset: 5),
            ])
    }

    @Test func aRefusedPartEndsTheExecution() {
        var attributes = ServedAttributes()
        attributes.refusals = [0x15: 0x0D]
        for handle: UInt16 in [0x19, 0x15, 0x17] {
            _ = attributes.send(.prepareWriteRequest(handle, offset: 0, [1]))
        }
        #expect(attributes.send(.executeWriteRequest) == [.refused(0x18, 0x15, .invalidAttributeValueLength)])
        #expect(attributes.requests.count == 2)
        // The queue is empty then.
        #expect(attributes.send(.executeWriteRequest) == [.executeWriteResponse])
        #expect(attributes.requests.count == 2)
    }

    @Test func cancelledPartsAreNotWritten() {
        var attributes = ServedAttributes()
        _ = attributes.send(.prepareWriteRequest(0x19, offset: 0, [1]))
        #expect(attributes.send(.cancelWriteRequest) == [.executeWriteResponse])
        #expect(attributes.send(.executeWriteRequest) == [.executeWriteResponse])
        #expect(attributes.requests == [])
    }

    @Test func preparedBytesAreBounded() {
        var attributes = ServedAttributes()
        let part = [UInt8](repeating: 1, count: 16)
        for index in 0..<ATTServer.prepareLength / 16 {
            let offset = UInt16(16 * index)
            #expect(
                attributes.send(.prepareWriteRequest(0x19, offset: offset, part))
                    == [.prepareWriteResponse(0x19, offset: offset, part)])
        }
        #expect(
            attributes.send(.prepareWriteRequest(0x19, offset: UInt16(ATTServer.prepareLength), [1]))
                == [.refused(0x16, 0x19, .prepareQueueFull)])
        _ = attributes.send(.cancelWriteRequest)
        #expect(
            attributes.send(.prepareWriteRequest(0x19, offset: 0, [1]))
                == [.prepareWriteResponse(0x19, offset: 0, [1])])
    }

    @Test func preparedWritesAreBoundedAlsoIfTheyAreEmpty() {
        var attributes = ServedAttributes()
        for index in 0..<ATTServer.queueLength {
            let offset = UInt16(2 * index)
            #expect(
                attributes.send(.prepareWriteRequest(0x19, offset: offset, []))
                    == [.prepareWriteResponse(0x19, offset: offset, [])])
        }
        #expect(
            attributes.send(.prepareWriteRequest(0x19, offset: 999, [])) == [.refused(0x16, 0x19, .prepareQueueFull)])
        // A further part of the last write needs no room in the queue.
        let last = UInt16(2 * (ATTServer.queueLength - 1))
        #expect(
            attributes.send(.prepareWriteRequest(0x19, offset: last, [1]))
                == [.prepareWriteResponse(0x19, offset: last, [1])])
    }

    // MARK: Subscriptions

    @Test func aClientCharacteristicConfigurationIsAttributeOfTheLink() {
        var (first, second) = (ServedAttributes(), ServedAttributes())
        #expect(first.send(.writeRequest(0x14, [1, 0])) == [.writeResponse])
        #expect(first.requests == [.setNotifying(.at(0x13), true)])
        #expect(first.send(.readRequest(0x14)) == [.readResponse([1, 0])])
        #expect(second.send(.readRequest(0x14)) == [.readResponse([0, 0])])
        #expect(first.send(.readByTypeRequest(0x10...0x1F, "2902")) == [.readByTypeResponse([.init(0x14, [1, 0])])])
        #expect(first.perform(first.server.notified(.at(0x13), Data([7]))) == [.notification(0x13, [7])])
        #expect(second.perform(second.server.notified(.at(0x13), Data([7]))) == [])
    }

    @Test func theDeviceLearnsOfTheFirstAndTheLastOfBothBits() {
        var attributes = ServedAttributes()
        for bits: UInt8 in [0, 1, 2, 3, 0, 0, 2] {
            #expect(attributes.send(.writeRequest(0x14, [bits, 0])) == [.writeResponse])
            #expect(attributes.send(.readRequest(0x14)) == [.readResponse([bits, 0])])
        }
        #expect(
            attributes.requests == [
                .setNotifying(.at(0x13), true), .setNotifying(.at(0x13), false), .setNotifying(.at(0x13), true),
            ])
    }

    @Test func reservedBitsOfAConfigurationAreIgnored() {
        var attributes = ServedAttributes()
        #expect(attributes.send(.writeRequest(0x14, [0xFD, 0xFF])) == [.writeResponse])
        #expect(attributes.send(.readRequest(0x14)) == [.readResponse([1, 0])])
    }

    @Test(arguments: [[], [1], [1, 0, 0]] as [[UInt8]])
    func aConfigurationHasTwoBytes(_ value: [UInt8]) {
        var attributes = ServedAttributes()
        #expect(attributes.send(.writeRequest(0x14, value)) == [.refused(0x12, 0x14, .invalidAttributeValueLength)])
        #expect(attributes.requests == [])
    }

    @Test func aRefusedSubscriptionChangesNothing() {
        var attributes = ServedAttributes()
        attributes.refusals = [0x13: 0x05]
        #expect(
            attributes.send(.writeRequest(0x14, [1, 0])) == [.refused(0x12, 0x14, .insufficientAuthentication)])
        #expect(attributes.send(.readRequest(0x14)) == [.readResponse([0, 0])])
        #expect(attributes.perform(attributes.server.notified(.at(0x13), Data([7]))) == [])
    }

    @Test func aNotifiedValueIsTruncated() {
        var attributes = ServedAttributes()
        _ = attributes.send(.writeRequest(0x14, [1, 0]))
        let value = Data([UInt8](repeating: 1, count: 100))
        #expect(
            attributes.perform(attributes.server.notified(.at(0x13), value))
                == [.notification(0x13, [UInt8](repeating: 1, count: 20))])
    }

    // MARK: Indications

    @Test func indicationsAreSentOneAtATime() {
        var attributes = ServedAttributes()
        _ = attributes.send(.writeRequest(0x14, [2, 0]))
        let indicate = { (attributes: inout ServedAttributes, byte: UInt8) in
            attributes.perform(attributes.server.notified(.at(0x13), Data([byte])))
        }
        #expect(indicate(&attributes, 1) == [.indication(0x13, [1])])
        #expect(indicate(&attributes, 2) == [])
        #expect(indicate(&attributes, 3) == [])
        #expect(attributes.send(.confirmation) == [.indication(0x13, [2])])
        #expect(attributes.send(.confirmation) == [.indication(0x13, [3])])
        #expect(attributes.send(.confirmation) == [])
        #expect(attributes.send(.confirmation) == [])
        #expect(indicate(&attributes, 4) == [.indication(0x13, [4])])
    }

    @Test func indicationsThatWaitAreBounded() {
        var attributes = ServedAttributes()
        _ = attributes.send(.writeRequest(0x14, [2, 0]))
        for _ in 0..<1_000 { _ = attributes.perform(attributes.server.notified(.at(0x13), Data([1]))) }
        var count = 1
        while attributes.send(.confirmation) != [] { count += 1 }
        #expect(count == 1 + ATTServer.queueLength)
    }

    // MARK: Changed services

    @Test func aClientThatSubscribedGetsServiceChanged() {
        var attributes = ServedAttributes()
        #expect(attributes.perform(attributes.server.servicesChanged(to: .of(ServedAttributes.sample))) == [])
        _ = attributes.send(.writeRequest(9, [2, 0]))
        #expect(
            attributes.perform(attributes.server.servicesChanged(to: .of(Array(ServedAttributes.sample.prefix(2)))))
                == [.indication(8, [1, 0, 0xFF, 0xFF])])
        #expect(attributes.send(.readRequest(0x13)) == [.refused(0x0A, 0x13, .invalidHandle)])
    }

    @Test func aSubscriptionEndsWithItsCharacteristic() {
        var attributes = ServedAttributes()
        _ = attributes.send(.writeRequest(9, [2, 0]))
        _ = attributes.send(.writeRequest(0x14, [1, 0]))
        // Another characteristic with the same handles.
        let other = AttributeList(
            ServedAttributes.sample, [8: .at(8), 0x13: AttributeID(rawValue: 0x1_0013)])
        _ = attributes.perform(attributes.server.servicesChanged(to: other))
        #expect(attributes.send(.readRequest(9)) == [.readResponse([2, 0])])
        #expect(attributes.send(.readRequest(0x14)) == [.readResponse([0, 0])])
        _ = attributes.send(.writeRequest(0x14, [1, 0]))
        #expect(attributes.requests.last == .setNotifying(AttributeID(rawValue: 0x1_0013), true))
    }

    @Test func preparedWritesEndWithTheServices() {
        var attributes = ServedAttributes()
        _ = attributes.send(.prepareWriteRequest(0x19, offset: 0, [1]))
        _ = attributes.perform(attributes.server.servicesChanged(to: .of(ServedAttributes.sample)))
        #expect(attributes.send(.executeWriteRequest) == [.executeWriteResponse])
        #expect(attributes.requests == [])
    }
}
