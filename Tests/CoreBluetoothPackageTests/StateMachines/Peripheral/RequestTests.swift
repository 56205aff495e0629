import BluetoothBackend
import Foundation
import Testing

@testable import CoreBluetoothPackage

@Suite struct RequestTests {
    typealias Stage = PeripheralMachineStage

    private func answer(_ code: UInt8, _ value: [UInt8]? = nil) -> [PeripheralEffect] {
        [.submit(.respond(request: Stage.request, attCode: code, value: value.map { Data($0) }))]
    }

    /// Proves S109.
    @Test func S109_S129_permissionsAreCheckedBeforeTheDelegateAndPropertiesAreNot() {
        var stage = Stage.published(Stage.characteristic(properties: [.read, .write], permissions: []))
        #expect(stage.read() == answer(2))
        #expect(stage.write([(101, [1])]) == answer(3))
        stage = Stage.published(Stage.characteristic(properties: [], permissions: [.readable, .writeable]))
        #expect(stage.read().callbacks.count == 1)
        #expect(stage.write([(101, [1])]).callbacks.count == 1)
        stage = Stage.published(
            Stage.characteristic(permissions: [.readEncryptionRequired, .writeEncryptionRequired]))
        #expect(stage.read().callbacks.count == 1)
        #expect(stage.write([(101, [1])]).callbacks.count == 1)
    }

    /// Proves S129.
    @Test func S129_oneForbiddenPartForbidsTheWrite() {
        var stage = Stage.poweredOn()
        stage.publish(
            Stage.service(characteristics: [
                Stage.characteristic(101), Stage.characteristic(102, permissions: .readable),
            ]))
        #expect(stage.write([(101, [1]), (102, [2])]) == answer(3))
    }

    /// Proves S125.
    @Test func S125_aReadGoesToTheDelegateWithItsOffset() {
        var stage = Stage.published()
        #expect(
            stage.read(offset: 5, mtu: 40)
                == [.callback(.readReceived(Stage.request, Stage.central, stage.id(), offset: 5, mtu: 40))])
        #expect(stage.respond([1, 2]) == answer(0, [1, 2]))
    }

    @Test func aReadThatIsGrantedWithoutAValueIsEmpty() {
        var stage = Stage.published()
        _ = stage.read()
        #expect(stage.respond() == answer(0, []))
    }

    /// Proves S126, S134.
    @Test func S126_S134_aRequestIsAnsweredOnce() {
        var stage = Stage.published()
        _ = stage.read()
        #expect(stage.respond([1]) == answer(0, [1]))
        #expect(stage.respond([2]) == [.misuse(.notWaiting(Stage.request))])
        #expect(stage.respond(to: RequestID(rawValue: 77)) == [.misuse(.notWaiting(RequestID(rawValue: 77)))])
    }

    /// Proves S126.
    @Test func S126_answersMayBeHeldAndComeInAnyOrder() {
        var stage = Stage.published()
        let ids = (1...3).map { RequestID(rawValue: $0) }
        for id in ids { _ = stage.read(as: id) }
        for id in ids.reversed() {
            #expect(
                stage.respond(to: id, [UInt8(id.rawValue)])
                    == [.submit(.respond(request: id, attCode: 0, value: Data([UInt8(id.rawValue)])))])
        }
    }

    /// Proves S127.
    @Test(arguments: [0x07, 0x0E, 0x80, 0xFF] as [UInt8])
    func S127_errorsReachTheCentralAsTheyAre(code: UInt8) {
        var stage = Stage.published()
        _ = stage.read(offset: 99)
        #expect(stage.respond(code: code, [1, 2]) == answer(code))
    }

    /// Proves S128.
    @Test func S128_aLongReadRepeatsWithAGrowingOffsetAndTheExcessIsCut() {
        var stage = Stage.published()
        let value = (0..<44).map { UInt8($0) }
        for offset in [0, 22, 44] {
            #expect(stage.read(offset: offset).callbacks.count == 1)
            let rest = Array(value.dropFirst(offset))
            #expect(stage.respond(rest) == answer(0, Array(rest.prefix(22))))
        }
    }

    /// Proves S130.
    @Test func S130_aWriteOfSeveralPartsIsAnsweredWithTheFirst() {
        var stage = Stage.published()
        let effects = stage.write([(101, [1]), (101, [2]), (101, [3])])
        guard case .callback(.writeReceived(_, _, let parts, _)) = effects.first else {
            Issue.record("no callback")
            return
        }
        #expect(parts.map(\.value) == [Data([1]), Data([2]), Data([3])])
        #expect(stage.respond(part: 1) == [.misuse(.notTheFirst(Stage.request))])
        #expect(stage.respond(part: 0) == answer(0))
        #expect(stage.respond(part: 1) == [.misuse(.notWaiting(Stage.request))])
    }

    /// Proves S130.
    @Test func S130_thePartThatFailedMayCarryTheError() {
        var stage = Stage.published()
        _ = stage.write([(101, [1]), (101, [2])])
        #expect(stage.respond(part: 1, code: 13, [5]) == answer(13))
    }

    /// Proves S131.
    @Test func S131_writeCommandsMayComeTogether() {
        var stage = Stage.published()
        let effects = stage.write(wantsResponse: false, [(101, [1]), (101, [2])])
        #expect(effects.callbacks.count == 1)
        #expect(effects.commands.isEmpty)
    }

    /// Proves S132.
    @Test func S132_aWriteCommandIsAnsweredLikeARequest() {
        var stage = Stage.published()
        #expect(stage.write(wantsResponse: false, [(101, [1])]).callbacks.count == 1)
        #expect(stage.respond() == answer(0))
        #expect(stage.respond() == [.misuse(.notWaiting(Stage.request))])
    }

    @Test func aWriteOfNothingIsGranted() {
        var stage = Stage.published()
        #expect(stage.write([]) == answer(0))
    }

    /// Proves S134.
    @Test func S134_anAnswerAfterTheTimeOutIsIgnored() {
        var stage = Stage.published()
        _ = stage.read()
        #expect(stage.machine.handle(.requestExpired(request: Stage.request)).isEmpty)
        #expect(stage.respond([1]) == [.misuse(.notWaiting(Stage.request))])
    }

    /// Proves S135.
    @Test func S135_nothingTellsThatACentralConnected() {
        var stage = Stage.published()
        #expect(stage.machine.handle(.mtuChanged(central: Stage.central, mtu: 185)).callbacks.isEmpty)
        #expect(stage.machine.handle(.notifyCredits(central: Stage.central, count: 3)).isEmpty)
    }

    @Test func aRequestForWhatIsGoneIsRefused() {
        var stage = Stage.published()
        let id = stage.id()
        _ = stage.machine.remove(ObjectKey(rawValue: 100))
        let read = PeripheralEvent.readRequested(
            request: Stage.request, central: Stage.central, attribute: id, offset: 0, mtu: 23)
        #expect(stage.machine.handle(read) == answer(1))
        let parts = [WritePart(attribute: id, offset: 0, value: Data())]
        let write = PeripheralEvent.writeRequested(
            request: Stage.request, central: Stage.central, mtu: 23, wantsResponse: true, parts: parts)
        #expect(stage.machine.handle(write) == answer(1))
    }

    @Test func nonsenseOfARadioIsNoTrap() {
        var stage = Stage.published()
        #expect(stage.read(offset: -1) == answer(7))
        #expect(stage.read(mtu: -5).callbacks.count == 1)
        #expect(stage.respond(Array(repeating: 1, count: 30)) == answer(0, Array(repeating: 1, count: 22)))
        _ = stage.subscribe(mtu: 0, credits: -4)
        _ = stage.machine.handle(.notifyCredits(central: Stage.central, count: .max))
        _ = stage.machine.handle(.notifyCredits(central: Stage.central, count: .max))
        #expect(stage.update([1]).isQueued)
        #expect(stage.machine.handle(.mtuChanged(central: Stage.central, mtu: -9)) == [.changeMTU(Stage.central, 23)])
    }
}
