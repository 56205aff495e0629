import BluetoothBackend
import Foundation
import Testing

@testable import CoreBluetoothClasses

@Suite struct RequestTests {
    typealias Fixture = PeripheralMachineFixture

    private func answer(_ code: UInt8, _ value: [UInt8]? = nil) -> [PeripheralEffect] {
        [.submit(.respond(request: Fixture.request, attCode: code, value: value.map { Data($0) }))]
    }

    @Test func S109_S129_permissionsAreCheckedBeforeTheDelegateAndPropertiesAreNot() {
        var fixture = Fixture.published(Fixture.characteristic(properties: [.read, .write], permissions: []))
        #expect(fixture.read() == answer(2))
        #expect(fixture.write([(101, [1])]) == answer(3))
        fixture = Fixture.published(Fixture.characteristic(properties: [], permissions: [.readable, .writeable]))
        #expect(fixture.read().callbacks.count == 1)
        #expect(fixture.write([(101, [1])]).callbacks.count == 1)
        fixture = Fixture.published(
            Fixture.characteristic(permissions: [.readEncryptionRequired, .writeEncryptionRequired]))
        #expect(fixture.read().callbacks.count == 1)
        #expect(fixture.write([(101, [1])]).callbacks.count == 1)
    }

    @Test func S129_oneForbiddenPartForbidsTheWrite() {
        var fixture = Fixture.poweredOn()
        fixture.publish(
            Fixture.service(characteristics: [
                Fixture.characteristic(101), Fixture.characteristic(102, permissions: .readable),
            ]))
        #expect(fixture.write([(101, [1]), (102, [2])]) == answer(3))
    }

    @Test func S125_aReadGoesToTheDelegateWithItsOffset() {
        var fixture = Fixture.published()
        #expect(
            fixture.read(offset: 5, mtu: 40)
                == [.callback(.readReceived(Fixture.request, Fixture.central, fixture.id(), offset: 5, mtu: 40))])
        #expect(fixture.respond([1, 2]) == answer(0, [1, 2]))
    }

    @Test func aReadThatIsGrantedWithoutAValueIsEmpty() {
        var fixture = Fixture.published()
        _ = fixture.read()
        #expect(fixture.respond() == answer(0, []))
    }

    @Test func S126_S134_aRequestIsAnsweredOnce() {
        var fixture = Fixture.published()
        _ = fixture.read()
        #expect(fixture.respond([1]) == answer(0, [1]))
        #expect(fixture.respond([2]) == [.misuse(.notWaiting(Fixture.request))])
        #expect(fixture.respond(to: RequestID(rawValue: 77)) == [.misuse(.notWaiting(RequestID(rawValue: 77)))])
    }

    @Test func S126_answersMayBeHeldAndComeInAnyOrder() {
        var fixture = Fixture.published()
        let ids = (1...3).map { RequestID(rawValue: $0) }
        for id in ids { _ = fixture.read(as: id) }
        for id in ids.reversed() {
            #expect(
                fixture.respond(to: id, [UInt8(id.rawValue)])
                    == [.submit(.respond(request: id, attCode: 0, value: Data([UInt8(id.rawValue)])))])
        }
    }

    @Test(arguments: [0x07, 0x0E, 0x80, 0xFF] as [UInt8])
    func S127_errorsReachTheCentralAsTheyAre(code: UInt8) {
        var fixture = Fixture.published()
        _ = fixture.read(offset: 99)
        #expect(fixture.respond(code: code, [1, 2]) == answer(code))
    }

    @Test func S128_aLongReadRepeatsWithAGrowingOffsetAndTheExcessIsCut() {
        var fixture = Fixture.published()
        let value = (0..<44).map { UInt8($0) }
        for offset in [0, 22, 44] {
            #expect(fixture.read(offset: offset).callbacks.count == 1)
            let rest = Array(value.dropFirst(offset))
            #expect(fixture.respond(rest) == answer(0, Array(rest.prefix(22))))
        }
    }

    @Test func S130_aWriteOfSeveralPartsIsAnsweredWithTheFirst() {
        var fixture = Fixture.published()
        let effects = fixture.write([(101, [1]), (101, [2]), (101, [3])])
        guard case .callback(.writeReceived(_, _, let parts, _)) = effects.first else {
            Issue.record("no callback")
            return
        }
        #expect(parts.map(\.value) == [Data([1]), Data([2]), Data([3])])
        #expect(fixture.respond(part: 1) == [.misuse(.notTheFirst(Fixture.request))])
        #expect(fixture.respond(part: 0) == answer(0))
        #expect(fixture.respond(part: 1) == [.misuse(.notWaiting(Fixture.request))])
    }

    @Test func S130_thePartThatFailedMayCarryTheError() {
        var fixture = Fixture.published()
        _ = fixture.write([(101, [1]), (101, [2])])
        #expect(fixture.respond(part: 1, code: 13, [5]) == answer(13))
    }

    @Test func S131_writeCommandsMayComeTogether() {
        var fixture = Fixture.published()
        let effects = fixture.write(wantsResponse: false, [(101, [1]), (101, [2])])
        #expect(effects.callbacks.count == 1)
        #expect(effects.commands.isEmpty)
    }

    @Test func S132_aWriteCommandIsAnsweredLikeARequest() {
        var fixture = Fixture.published()
        #expect(fixture.write(wantsResponse: false, [(101, [1])]).callbacks.count == 1)
        #expect(fixture.respond() == answer(0))
        #expect(fixture.respond() == [.misuse(.notWaiting(Fixture.request))])
    }

    @Test func aWriteOfNothingIsGranted() {
        var fixture = Fixture.published()
        #expect(fixture.write([]) == answer(0))
    }

    @Test func S134_anAnswerAfterTheTimeOutIsIgnored() {
        var fixture = Fixture.published()
        _ = fixture.read()
        #expect(fixture.machine.handle(.requestExpired(request: Fixture.request)).isEmpty)
        #expect(fixture.respond([1]) == [.misuse(.notWaiting(Fixture.request))])
    }

    @Test func S135_noCallbackShowsThatACentralConnected() {
        var fixture = Fixture.published()
        #expect(fixture.machine.handle(.mtuChanged(central: Fixture.central, mtu: 185)).callbacks.isEmpty)
        #expect(fixture.machine.handle(.notifyCredits(central: Fixture.central, count: 3)).isEmpty)
    }

    @Test func aRequestForWhatIsGoneIsRefused() {
        var fixture = Fixture.published()
        let id = fixture.id()
        _ = fixture.machine.remove(ObjectKey(rawValue: 100))
        let read = PeripheralEvent.readRequested(
            request: Fixture.request, central: Fixture.central, attribute: id, offset: 0, mtu: 23)
        #expect(fixture.machine.handle(read) == answer(1))
        let parts = [WritePart(attribute: id, offset: 0, value: Data())]
        let write = PeripheralEvent.writeRequested(
            request: Fixture.request, central: Fixture.central, mtu: 23, wantsResponse: true, parts: parts)
        #expect(fixture.machine.handle(write) == answer(1))
    }

    @Test func nonsenseOfABackendIsNoTrap() {
        var fixture = Fixture.published()
        #expect(fixture.read(offset: -1) == answer(7))
        #expect(fixture.read(mtu: -5).callbacks.count == 1)
        #expect(fixture.respond(Array(repeating: 1, count: 30)) == answer(0, Array(repeating: 1, count: 22)))
        _ = fixture.subscribe(mtu: 0, credits: -4)
        _ = fixture.machine.handle(.notifyCredits(central: Fixture.central, count: .max))
        _ = fixture.machine.handle(.notifyCredits(central: Fixture.central, count: .max))
        #expect(fixture.update([1]).isQueued)
        #expect(
            fixture.machine.handle(.mtuChanged(central: Fixture.central, mtu: -9)) == [.changeMTU(Fixture.central, 23)])
    }
}
