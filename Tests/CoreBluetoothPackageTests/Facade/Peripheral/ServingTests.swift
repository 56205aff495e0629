import BluetoothBackend
import BluetoothLocking
import Foundation
import LogCapture
import Testing

@testable import CoreBluetoothPackage

@Suite struct ServingTests {
    /// Proves S126.
    @Test func S126_anAnswerMayComeLaterAndFromAnyThread() async {
        let stage = await PeripheralStage.poweredOn()
        _ = await stage.publish(PeripheralStage.dynamic())
        await stage.read(1)
        await stage.read(2)
        let pair = Unchecked((stage.manager, stage.recorder.reads))
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
        #expect(stage.role.responses == [Response(2, 0, [2]), Response(1, 0, [2])])
    }

    /// Proves S126, S134.
    @Test func S126_S134_aSecondAnswerIsLoggedAndIgnored() async {
        LogCapture.start()
        let stage = await PeripheralStage.poweredOn()
        _ = await stage.publish(PeripheralStage.dynamic())
        await stage.read(1)
        let request = stage.recorder.reads[0]
        request.value = Data([1])
        stage.manager.respond(to: request, withResult: .success)
        stage.manager.respond(to: request, withResult: .unlikelyError)
        #expect(stage.role.responses == [Response(1, 0, [1])])
        #expect(
            LogCapture.lines(containing: "\(stage.manager): request 1 does not wait for a response").count == 1)
    }

    /// Proves S127.
    @Test func S127_errorsOfApplicationsReachTheCentral() async {
        let stage = await PeripheralStage.poweredOn()
        _ = await stage.publish(PeripheralStage.dynamic())
        for (id, code) in [(1, 7), (2, 0x85), (3, 0x1_00), (4, -1)] as [(UInt64, Int)] {
            await stage.read(id, at: 99)
            stage.manager.respond(
                to: stage.recorder.reads[Int(id) - 1], withResult: CBATTError.Code(rawValue: code)!)
        }
        #expect(stage.role.responses == [Response(1, 7), Response(2, 0x85), Response(3, 0x0E), Response(4, 0x0E)])
    }

    /// Proves S128.
    @Test func S128_theDelegateServesALongValueInPartsAndTheExcessIsCut() async {
        let stage = await PeripheralStage.poweredOn()
        _ = await stage.publish(PeripheralStage.dynamic())
        let value = (0..<50).map { UInt8($0) }
        for (id, offset) in [(1, 0), (2, 22), (3, 44)] as [(UInt64, Int)] {
            await stage.read(id, at: offset)
            let request = stage.recorder.reads[Int(id) - 1]
            request.value = Data(value.dropFirst(request.offset))
            stage.manager.respond(to: request, withResult: .success)
        }
        #expect(stage.role.responses.flatMap { $0.value ?? [] } == value)
        #expect(stage.recorder.lines("read") == ["read FFF1 from 0", "read FFF1 from 22", "read FFF1 from 44"])
    }

    /// Proves S130.
    @Test func S130_anAnswerToAnotherThanTheFirstIsIgnoredUnlessItIsAnError() async {
        LogCapture.start()
        let stage = await PeripheralStage.poweredOn()
        _ = await stage.publish(PeripheralStage.dynamic())
        await stage.write(1, [(0, 0, [1]), (0, 1, [2])])
        await stage.write(2, [(0, 0, [1]), (0, 1, [2])])
        let writes = stage.recorder.writes
        stage.manager.respond(to: writes[0][1], withResult: .success)
        #expect(stage.role.responses.isEmpty)
        #expect(LogCapture.lines(containing: "\(stage.manager): respond to the first of the requests").count == 1)
        stage.manager.respond(to: writes[0][0], withResult: .success)
        stage.manager.respond(to: writes[1][1], withResult: .invalidAttributeValueLength)
        #expect(stage.role.responses == [Response(1, 0), Response(2, 13)])
    }

    /// Proves S131, S132.
    @Test func S131_S132_writeCommandsComeToTheSameCallbackAndMayComeTogether() async {
        let stage = await PeripheralStage.poweredOn()
        _ = await stage.publish(PeripheralStage.dynamic())
        await stage.write(1, [(0, 0, [1]), (0, 0, [2])], wantsResponse: false)
        #expect(stage.recorder.lines.last == "write FFF1@0[1] FFF1@0[2]")
        #expect(stage.recorder.writes[0].count == 2)
    }

    /// Proves S133.
    @Test func S133_whatIsWrittenIsNotStored() async {
        let stage = await PeripheralStage.poweredOn()
        let characteristic = PeripheralStage.dynamic()
        _ = await stage.publish(characteristic)
        await stage.write(1, [(0, 0, [9])])
        stage.manager.respond(to: stage.recorder.writes[0][0], withResult: .success)
        #expect(characteristic.value == nil)
    }

    /// Proves S134.
    @Test func S134_anAnswerAfterTheTimeOutGoesNowhere() async {
        let stage = await PeripheralStage.poweredOn()
        _ = await stage.publish(PeripheralStage.dynamic())
        await stage.read(1)
        await stage.role.play(.requestExpired(request: RequestID(rawValue: 1)))
        stage.manager.respond(to: stage.recorder.reads[0], withResult: .success)
        #expect(stage.role.responses.isEmpty)
    }

    /// Proves S135, S140.
    @Test func S135_S140_theMTUMayGrowAndNothingTells() async {
        let stage = await PeripheralStage.poweredOn()
        let characteristic = PeripheralStage.dynamic()
        _ = await stage.publish(characteristic)
        await stage.role.play(.mtuChanged(central: stage.other, mtu: 100))
        await stage.subscribe(mtu: 23)
        let central = characteristic.subscribedCentrals![0]
        #expect(central.maximumUpdateValueLength == 20)
        await stage.role.play(.mtuChanged(central: stage.central, mtu: 185))
        #expect(central.maximumUpdateValueLength == 182)
        #expect(stage.recorder.lines.suffix(2) == ["added FFF0", "subscribed FFF1 of 1"])
    }

    /// Proves S137.
    @Test func S137_anUpdateFromWithinReadyGoesOut() async {
        let stage = await PeripheralStage.poweredOn()
        let characteristic = PeripheralStage.dynamic()
        _ = await stage.publish(characteristic)
        await stage.subscribe(credits: 0)
        stage.recorder.onEach { manager, line in
            guard line == "ready" else { return }
            #expect(manager.updateValue(Data([2]), for: characteristic, onSubscribedCentrals: nil))
            #expect(!manager.updateValue(Data([3]), for: characteristic, onSubscribedCentrals: nil))
        }
        #expect(!stage.manager.updateValue(Data([1]), for: characteristic, onSubscribedCentrals: nil))
        for _ in 0..<3 { await stage.role.play(.notifyCredits(central: stage.central, count: 1)) }
        #expect(stage.recorder.lines("ready").count == 3)
        #expect(stage.role.commands.count == 4)
    }

    /// Proves S138.
    @Test func S138_centralsOfTheCallAreChosenByIdentifier() async {
        let stage = await PeripheralStage.poweredOn()
        let characteristic = PeripheralStage.dynamic()
        _ = await stage.publish(characteristic)
        await stage.subscribe()
        await stage.subscribe(stage.other)
        let chosen = [CBCentral(identifier: stage.other.uuid, mtu: 23), TestObjects.central()]
        #expect(stage.manager.updateValue(Data([1]), for: characteristic, onSubscribedCentrals: chosen))
        #expect(
            stage.role.commands.last
                == .updateValue(attribute: stage.attribute(), value: Data([1]), centrals: [stage.other]))
    }

    /// Proves S140.
    @Test func S140_theLatencyIsAHint() async {
        let stage = await PeripheralStage.poweredOn()
        let central = CBCentral(identifier: stage.central.uuid, mtu: 23)
        for latency: CBPeripheralManagerConnectionLatency in [.low, .medium, .high] {
            stage.manager.setDesiredConnectionLatency(latency, for: central)
        }
        #expect(
            stage.role.commands
                == [.low, .medium, .high].map { .setConnectionLatency(central: stage.central, latency: $0) })
    }

    /// Proves S146, S154.
    @Test func S146_S154_channelsArePublishedAndTakenBack() async {
        let stage = await PeripheralStage.poweredOn()
        stage.manager.publishL2CAPChannel(withEncryption: true)
        await stage.role.play(.channelPublished(operation: stage.role.lastOperation!, psm: 0x80))
        stage.manager.unpublishL2CAPChannel(0x80)
        await stage.role.play(.channelUnpublished(operation: stage.role.lastOperation!, psm: 0x80))
        stage.manager.unpublishL2CAPChannel(0x80)
        await stage.role.settle()
        #expect(
            stage.recorder.lines.dropFirst() == ["published 128", "unpublished 128", "unpublished 128 CBError 1"])
    }
}
