import BluetoothBackend
import BluetoothSupport
import Dispatch
import Foundation
import Testing

@testable import CoreBluetoothClasses

@Suite struct PeripheralLifetimeTests {
    @Test func S15_staleObjectsOnlyLogAndNewOnesCarryTheSameIdentifier() async {
        let fixture = FacadeFixture()
        let old = await fixture.connect()
        await fixture.central.play(.stateChanged(.resetting), .stateChanged(.poweredOn))
        let count = fixture.central.commands.count
        fixture.manager?.connect(old)
        #expect(fixture.central.commands.count == count)
        let new = fixture.manager?.core.peripheral(fixture.peer, name: nil)
        #expect(new !== old)
        #expect(new?.identifier == old.identifier)
    }

    @Test func S29_oneManagerYieldsTheSameObjectWhileItLives() async {
        let fixture = FacadeFixture()
        let first = await fixture.discover()
        #expect(fixture.manager?.core.peripheral(fixture.peer, name: nil) === first)
    }

    @Test func S30_theManagerDoesNotKeepPeripheralsAlive() async {
        let fixture = FacadeFixture()
        weak let weakPeripheral = await fixture.discover()
        await fixture.central.settle()
        #expect(weakPeripheral == nil)
    }

    @Test func S31_releaseWhileConnectingCancels() async {
        let fixture = FacadeFixture()
        var peripheral: CBPeripheral? = await fixture.discover()
        fixture.manager?.connect(peripheral!)
        peripheral = nil
        await fixture.central.settle()
        #expect(fixture.central.commands.last == .disconnect(peer: fixture.peer))
    }

    @Test func S31_releaseWhileConnectedDisconnectsWithoutACallback() async {
        let fixture = FacadeFixture()
        var peripheral: CBPeripheral? = await fixture.connect()
        #expect(peripheral?.state == .connected)
        let lines = fixture.recorder.lines
        peripheral = nil
        await fixture.central.settle()
        #expect(fixture.central.commands.last == .disconnect(peer: fixture.peer))
        await fixture.central.play(
            .disconnected(link: fixture.link, reason: .local, at: Date(), isReconnecting: false))
        #expect(fixture.recorder.lines == lines)
    }

    @Test func S32_aPeripheralOfAnotherManagerIsIgnored() async {
        let fixture = FacadeFixture()
        let other = FacadeFixture()
        let foreign = await other.discover()
        await fixture.central.play(.stateChanged(.poweredOn))
        fixture.manager?.connect(foreign)
        #expect(fixture.central.commands.isEmpty)
        #expect(foreign.state == .disconnected)
    }

    @Test func S33_attributesKnowTheirParentsWeakly() async {
        let fixture = FacadeFixture()
        var peripheral: CBPeripheral? = await fixture.connect()
        let characteristic = await fixture.characteristic(of: peripheral!)
        let service = peripheral!.services![0]
        #expect(service.peripheral === peripheral)
        #expect(characteristic.service === service)
        peripheral = nil
        await fixture.central.settle()
        #expect(service.peripheral == nil)
    }

    /// The last reference is released inside the facade: a lookup retains the object just as the app releases it.
    @Test func aPeripheralThatDiesInsideOurOwnLoadDoesNotDeadlock() async {
        let fixture = FacadeFixture()
        for _ in 0..<200 {
            let peripheral = Unchecked<CBPeripheral?>(await fixture.discover())
            let core = fixture.manager!.core
            let id = fixture.peer
            let release = DispatchQueue(label: "release")
            let holder = Holder(peripheral.value)
            release.async { holder.release() }
            for _ in 0..<50 { _ = core.peripheral(id)?.state }
            release.sync {}
            await fixture.central.settle()
        }
        #expect(fixture.manager?.core.peripheral(fixture.peer) == nil)
    }

    @Test func aLateReleaseBesideANewObjectLeavesTheNewOneAlone() async {
        let fixture = FacadeFixture()
        let core = fixture.manager!.core
        var old: CBPeripheral? = await fixture.connect()
        fixture.queue.suspendWhenIdle()
        old = nil
        let new = core.peripheral(fixture.peer, name: nil)
        fixture.queue.resume()
        await fixture.central.settle()
        #expect(old == nil)
        #expect(new.state == .connected)
        #expect(!fixture.central.commands.contains(.disconnect(peer: fixture.peer)))
    }
}

/// An object that releases another one on another thread.
private final class Holder: @unchecked Sendable {
    // Invariant: written once, by the queue that releases the object.
    private var object: CBPeripheral?
    init(_ object: CBPeripheral?) { self.object = object }
    func release() { object = nil }
}
