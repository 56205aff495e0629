import BluetoothBackend
import BluetoothSupport
import Foundation
import LogCapture
import Testing

@testable import CoreBluetoothClasses

@Suite struct ServingTests {
    @Test func S126_anAnswerMayComeLaterAndFromAnyThread() async {
        let fixture = await PeripheralFixture.poweredOn()
        _ = await fixture.publish(PeripheralFixture.dynamic())
        await fixture.read(1)
        await fixture.read(2)
        let pair = Unchecked((fixture.manager, fixture.recorder.reads))
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                let (manager, reads) = pair.value
                for request in reads.reversed() {
                    request.value = Data([UInt8(reads.count)])
                    manager.respond(to: request, withResult: .success)
                }
                continuation.resume()
            }
        }
        #expect(fixture.role.responses == [Response(2, 0, [2]), Response(1, 0, [2])])
    }

    @Test func S126_S134_aSecondAnswerIsLoggedAndIgnored() async {
        LogCapture.start()
        let fixture = await PeripheralFixture.poweredOn()
        _ = await fixture.publish(PeripheralFixture.dynamic())
        await fixture.read(1)
        let request = fixture.recorder.reads[0]
        request.value = Data([1])
        fixture.manager.respond(to: request, withResult: .success)
        fixture.manager.respond(to: request, withResult: .unlikelyError)
        #expect(fixture.role.responses == [Response(1, 0, [1])])
        #expect(
            LogCapture.lines(containing: "\(fixture.manager): request 1 does not wait for a response").count == 1)
    }

    @Test func S127_errorsOfApplicationsReachTheCentral() async {
        let fixture = await PeripheralFixture.poweredOn()
        _ = await fixture.publish(PeripheralFixture.dynamic())
        for (id, code) in [(1, 7), (2, 0x85), (3, 0x1_00), (4, -1)] as [(UInt64, Int)] {
            await fixture.read(id, at: 99)
            fixture.manager.respond(
                to: fixture.recorder.reads[Int(id) - 1], withResult: CBATTError.Code(rawValue: code)!)
        }
        #expect(fixture.role.responses == [Response(1, 7), Response(2, 0x85), Response(3, 0x0E), Response(4, 0x0E)])
    }

    @Test func S128_theDelegateServesALongValueInPartsAndTheExcessIsCut() async {
        let fixture = await PeripheralFixture.poweredOn()
        _ = await fixture.publish(PeripheralFixture.dynamic())
        let value = (0..<50).map { UInt8($0) }
        for (id, offset) in [(1, 0), (2, 22), (3, 44)] as [(UInt64, Int)] {
            await fixture.read(id, at: offset)
            let request = fixture.recorder.reads[Int(id) - 1]
            request.value = Data(value.dropFirst(request.offset))
            fixture.manager.respond(to: request, withResult: .success)
        }
        #expect(fixture.role.responses.flatMap { $0.value ?? [] } == value)
        #expect(fixture.recorder.lines("read") == ["read FFF1 from 0", "read FFF1 from 22", "read FFF1 from 44"])
    }

    @Test func S130_anAnswerToAnotherThanTheFirstIsIgnoredUnlessItIsAnError() async {
        LogCapture.start()
        let fixture = await PeripheralFixture.poweredOn()
        _ = await fixture.publish(PeripheralFixture.dynamic())
        await fixture.write(1, [(0, 0, [1]), (0, 1, [2])])
        await fixture.write(2, [(0, 0, [1]), (0, 1, [2])])
        let writes = fixture.recorder.writes
        fixture.manager.respond(to: writes[0][1], withResult: .success)
        #expect(fixture.role.responses.isEmpty)
        #expect(LogCapture.lines(containing: "\(fixture.manager): respond to the first of the requests").count == 1)
        fixture.manager.respond(to: writes[0][0], withResult: .success)
        fixture.manager.respond(to: writes[1][1], withResult: .invalidAttributeValueLength)
        #expect(fixture.role.responses == [Response(1, 0), Response(2, 13)])
    }

    @Test func S131_S132_writeCommandsComeToTheSameCallbackAndMayComeTogether() async {
        let fixture = await PeripheralFixture.poweredOn()
        _ = await fixture.publish(PeripheralFixture.dynamic())
        await fixture.write(1, [(0, 0, [1]), (0, 0, [2])], wantsResponse: false)
        #expect(fixture.recorder.lines.last == "write FFF1@0[1] FFF1@0[2]")
        #expect(fixture.recorder.writes[0].count == 2)
    }

    @Test func S133_whatIsWrittenIsNotStored() async {
        let fixture = await PeripheralFixture.poweredOn()
        let characteristic = PeripheralFixture.dynamic()
        _ = await fixture.publish(characteristic)
        await fixture.write(1, [(0, 0, [9])])
        fixture.manager.respond(to: fixture.recorder.writes[0][0], withResult: .success)
        #expect(characteristic.value == nil)
    }

    @Test func S134_anAnswerAfterTheTimeOutGoesNowhere() async {
        let fixture = await PeripheralFixture.poweredOn()
        _ = await fixture.publish(PeripheralFixture.dynamic())
        await fixture.read(1)
        await fixture.role.play(.requestExpired(request: RequestID(rawValue: 1)))
        fixture.manager.respond(to: fixture.recorder.reads[0], withResult: .success)
        #expect(fixture.role.responses.isEmpty)
    }

    @Test func S135_S140_theMTUMayGrowWithoutACallback() async {
        let fixture = await PeripheralFixture.poweredOn()
        let characteristic = PeripheralFixture.dynamic()
        _ = await fixture.publish(characteristic)
        await fixture.role.play(.mtuChanged(central: fixture.other, mtu: 100))
        await fixture.subscribe(mtu: 23)
        let central = characteristic.subscribedCentrals![0]
        #expect(central.maximumUpdateValueLength == 20)
        await fixture.role.play(.mtuChanged(central: fixture.central, mtu: 185))
        #expect(central.maximumUpdateValueLength == 182)
        #expect(fixture.recorder.lines.suffix(2) == ["added FFF0", "subscribed FFF1 of 1"])
    }

    @Test func S137_anUpdateFromWithinReadyGoesOut() async {
        let fixture = await PeripheralFixture.poweredOn()
        let characteristic = PeripheralFixture.dynamic()
        _ = await fixture.publish(characteristic)
        await fixture.subscribe(credits: 0)
        fixture.recorder.onEach { manager, line in
            guard line == "ready" else { return }
            #expect(manager.updateValue(Data([2]), for: characteristic, onSubscribedCentrals: nil))
            #expect(!manager.updateValue(Data([3]), for: characteristic, onSubscribedCentrals: nil))
        }
        #expect(!fixture.manager.updateValue(Data([1]), for: characteristic, onSubscribedCentrals: nil))
        for _ in 0..<3 { await fixture.role.play(.notifyCredits(central: fixture.central, count: 1)) }
        #expect(fixture.recorder.lines("ready").count == 3)
        #expect(fixture.role.commands.count == 4)
    }

    @Test func S138_centralsOfTheCallAreChosenByIdentifier() async {
        let fixture = await PeripheralFixture.poweredOn()
        let characteristic = PeripheralFixture.dynamic()
        _ = await fixture.publish(characteristic)
        await fixture.subscribe()
        await fixture.subscribe(fixture.other)
        let chosen = [CBCentral(identifier: fixture.other.uuid, mtu: 23), TestObjects.central()]
        #expect(fixture.manager.updateValue(Data([1]), for: characteristic, onSubscribedCentrals: chosen))
        #expect(
            fixture.role.commands.last
                == .updateValue(attribute: fixture.attribute(), value: Data([1]), centrals: [fixture.other]))
    }

    @Test func S140_theLatencyIsAHint() async {
        let fixture = await PeripheralFixture.poweredOn()
        let central = CBCentral(identifier: fixture.central.uuid, mtu: 23)
        for latency: CBPeripheralManagerConnectionLatency in [.low, .medium, .high] {
            fixture.manager.setDesiredConnectionLatency(latency, for: central)
        }
        #expect(
            fixture.role.commands
                == [.low, .medium, .high].map { .setConnectionLatency(central: fixture.central, latency: $0) })
    }

    @Test func S146_S154_channelsArePublishedAndTakenBack() async {
        let fixture = await PeripheralFixture.poweredOn()
        fixture.manager.publishL2CAPChannel(withEncryption: true)
        await fixture.role.play(.channelPublished(operation: fixture.role.lastOperation!, psm: 0x80))
        fixture.manager.unpublishL2CAPChannel(0x80)
        await fixture.role.play(.channelUnpublished(operation: fixture.role.lastOperation!, psm: 0x80))
        fixture.manager.unpublishL2CAPChannel(0x80)
        await fixture.role.settle()
        #expect(
            fixture.recorder.lines.dropFirst() == ["published 128", "unpublished 128", "unpublished 128 CBError 1"])
    }
}
