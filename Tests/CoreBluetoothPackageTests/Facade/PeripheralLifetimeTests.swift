import BluetoothBackend
import BluetoothLocking
import Dispatch
import Foundation
import Testing

@testable import CoreBluetoothPackage

@Suite struct PeripheralLifetimeTests {
    /// Proves S15.
    @Test func S15_staleObjectsOnlyLogAndNewOnesCarryTheSameIdentifier() async {
        let stage = FacadeStage()
        let old = await stage.connect()
        await stage.central.play(.stateChanged(.resetting), .stateChanged(.poweredOn))
        let count = stage.central.commands.count
        stage.manager?.connect(old)
        #expect(stage.central.commands.count == count)
        let new = stage.manager?.core.peripheral(stage.peer, name: nil)
        #expect(new !== old)
        #expect(new?.identifier == old.identifier)
    }

    /// Proves S29.
    @Test func S29_oneManagerYieldsTheSameObjectWhileItLives() async {
        let stage = FacadeStage()
        let first = await stage.discover()
        #expect(stage.manager?.core.peripheral(stage.peer, name: nil) === first)
    }

    /// Proves S30.
    @Test func S30_theManagerDoesNotKeepPeripheralsAlive() async {
        let stage = FacadeStage()
        weak let weakPeripheral = await stage.discover()
        await stage.central.settle()
        #expect(weakPeripheral == nil)
    }

    /// Proves S31.
    @Test func S31_releaseWhileConnectingCancels() async {
        let stage = FacadeStage()
        var peripheral: CBPeripheral? = await stage.discover()
        stage.manager?.connect(peripheral!)
        peripheral = nil
        await stage.central.settle()
        #expect(stage.central.commands.last == .disconnect(peer: stage.peer))
    }

    /// Proves S31.
    @Test func S31_releaseWhileConnectedDisconnectsWithoutACallback() async {
        let stage = FacadeStage()
        var peripheral: CBPeripheral? = await stage.connect()
        #expect(peripheral?.state == .connected)
        let lines = stage.recorder.lines
        peripheral = nil
        await stage.central.settle()
        #expect(stage.central.commands.last == .disconnect(peer: stage.peer))
        await stage.central.play(
            .disconnected(link: stage.link, reason: .local, at: Date(), isReconnecting: false))
        #expect(stage.recorder.lines == lines)
    }

    /// Proves S32.
    @Test func S32_aPeripheralOfAnotherManagerIsIgnored() async {
        let stage = FacadeStage()
        let other = FacadeStage()
        let foreign = await other.discover()
        await stage.central.play(.stateChanged(.poweredOn))
        stage.manager?.connect(foreign)
        #expect(stage.central.commands.isEmpty)
        #expect(foreign.state == .disconnected)
    }

    /// Proves S33.
    @Test func S33_attributesKnowTheirParentsWeakly() async {
        let stage = FacadeStage()
        var peripheral: CBPeripheral? = await stage.connect()
        let characteristic = await stage.characteristic(of: peripheral!)
        let service = peripheral!.services![0]
        #expect(service.peripheral === peripheral)
        #expect(characteristic.service === service)
        peripheral = nil
        await stage.central.settle()
        #expect(service.peripheral == nil)
    }

    /// The last reference ends inside the facade: a lookup makes a strong one just as the app lets go.
    @Test func aPeripheralThatDiesInsideOurOwnLoadDoesNotDeadlock() async {
        let stage = FacadeStage()
        for _ in 0..<200 {
            let peripheral = Unchecked<CBPeripheral?>(await stage.discover())
            let core = stage.manager!.core
            let id = stage.peer
            let release = DispatchQueue(label: "release")
            let holder = Holder(peripheral.value)
            release.async { holder.release() }
            for _ in 0..<50 { _ = core.peripheral(id)?.state }
            release.sync {}
            await stage.central.settle()
        }
        #expect(stage.manager?.core.peripheral(stage.peer) == nil)
    }

    @Test func aLateReleaseBesideANewObjectLeavesTheNewOneAlone() async {
        let stage = FacadeStage()
        let core = stage.manager!.core
        var old: CBPeripheral? = await stage.connect()
        stage.queue.suspend()
        old = nil
        let new = core.peripheral(stage.peer, name: nil)
        stage.queue.resume()
        await stage.central.settle()
        #expect(old == nil)
        #expect(new.state == .connected)
        #expect(!stage.central.commands.contains(.disconnect(peer: stage.peer)))
    }
}

/// Lets go of an object on another thread.
private final class Holder: @unchecked Sendable {
    // Invariant: written once, by the queue that releases.
    private var object: CBPeripheral?
    init(_ object: CBPeripheral?) { self.object = object }
    func release() { object = nil }
}
