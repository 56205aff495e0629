import BluetoothBackend
import BluetoothLocking
import Dispatch
import Foundation
import Synchronization
import Testing

@testable import CoreBluetoothPackage

@Suite struct DeliveryTests {
    /// Proves S158.
    @Test func S158_aConcurrentQueueGetsOneCallbackAtATimeInOrder() async {
        let stage = FacadeStage(queue: DispatchQueue(label: "concurrent", attributes: .concurrent))
        await stage.central.play(.stateChanged(.poweredOn))
        stage.manager?.scanForPeripherals(withServices: nil)
        for index in 0..<1000 {
            let peer = PeerID(UUID())
            stage.central.send(
                .discovered(Discovery(peer: peer, name: "\(index)", advertisement: Advertisement(), rssi: -1)))
        }
        await stage.central.settle()
        #expect(stage.recorder.overlaps == 0)
        #expect(stage.recorder.lines.dropFirst() == (0..<1000).map { "discovered \($0) -1" }[...])
    }

    @Test func whatIsAppendedIsHandledOnTheQueueByTheThreadThatRunsIt() async throws {
        let stage = FacadeStage()
        let delivery = try #require(stage.central.append(.stateChanged(.poweredOn)))
        // Whoever has the delivery sees to these, too.
        #expect(stage.central.append(.stateChanged(.poweredOff)) == nil)
        stage.central.send(.stateChanged(.poweredOn))
        #expect(stage.recorder.lines.isEmpty)
        delivery.run()
        #expect(stage.recorder.lines == ["state poweredOn", "state poweredOff", "state poweredOn"])
        #expect(stage.recorder.overlaps == 0)
    }

    @Test func whatIsAppendedIsHandledSoonWhereItIsStarted() async throws {
        let stage = FacadeStage()
        try #require(stage.central.append(.stateChanged(.poweredOn))).start()
        await stage.central.settle()
        #expect(stage.recorder.lines == ["state poweredOn"])
    }

    @Test @MainActor func noThreadStandsInForTheMainThread() async throws {
        let stage = FacadeStage(queue: .main)
        runByAnotherThread(try #require(stage.central.append(.stateChanged(.poweredOn))))
        #expect(stage.recorder.lines.isEmpty)
        await stage.central.settle()
        #expect(stage.recorder.lines == ["state poweredOn"])
    }

    /// Returns when that is done, which nobody else does anything for.
    private nonisolated func runByAnotherThread(_ delivery: any PendingDelivery) {
        let isDone = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            delivery.run()
            isDone.signal()
        }
        isDone.wait()
    }

    /// Proves S159.
    @Test func S159_callbacksNeverRunBeforeTheCallReturns() async {
        let stage = FacadeStage()
        let peripheral = await stage.connect()
        let characteristic = Unchecked(await stage.characteristic(of: peripheral))
        let carried = Unchecked(peripheral)
        let recorder = stage.recorder
        stage.queue.sync {
            let before = recorder.lines.count
            carried.value.setNotifyValue(false, for: characteristic.value)
            #expect(recorder.lines.count == before)
        }
        await stage.central.settle()
        #expect(stage.recorder.lines.last == "notifying false")
    }

    /// Proves S160.
    @Test func S160_theDelegateIsLookedUpAtDelivery() async {
        let stage = FacadeStage()
        let second = CallbackRecorder()
        stage.queue.suspend()
        stage.central.send(.stateChanged(.poweredOff))
        stage.manager?.delegate = second
        stage.queue.resume()
        await stage.central.settle()
        #expect(stage.recorder.lines.isEmpty)
        #expect(second.lines == ["state poweredOff"])
        stage.manager?.delegate = nil
        await stage.central.play(.stateChanged(.poweredOn))
        #expect(second.lines == ["state poweredOff"])
        #expect(stage.manager?.state == .poweredOn)
    }

    /// Proves S160.
    @Test func S160_theDelegateIsWeak() async {
        let stage = FacadeStage()
        var delegate: CallbackRecorder? = CallbackRecorder()
        stage.manager?.delegate = delegate
        delegate = nil
        #expect(stage.manager?.delegate == nil)
    }

    /// Proves S161.
    @Test func S161_callsAreAcceptedFromAnyThread() async {
        let stage = FacadeStage()
        let peripheral = await stage.connect(credits: 100_000)
        let characteristic = Unchecked(await stage.characteristic(of: peripheral, properties: .writeWithoutResponse))
        let carried = Unchecked(peripheral)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for index in 0..<500 {
                carried.value.writeValue(
                    Data([UInt8(thread), UInt8(index & 0xFF)]), for: characteristic.value, type: .withoutResponse)
            }
        }
        let written = stage.central.commands.compactMap { command -> Data? in
            if case .writeCommand(_, _, let value) = command { value } else { nil }
        }
        #expect(written.count == 2000)
        for thread in UInt8(0)..<4 {
            let own = written.filter { $0[0] == thread }.map { $0[1] }
            #expect(own == (0..<500).map { UInt8($0 & 0xFF) }, "each thread's commands keep their order")
        }
    }

    @Test func aCallbackThatCallsBackIsNotReentered() async {
        let stage = FacadeStage()
        let peripheral = await stage.connect()
        let characteristic = Unchecked(await stage.characteristic(of: peripheral))
        let carried = Unchecked(peripheral)
        let count = Lock(0)
        stage.recorder.onEach { line in
            let isEnough = count.withLock { count in
                count += 1
                return count > 200
            }
            if line == "notifying false", !isEnough {
                carried.value.setNotifyValue(false, for: characteristic.value)
            }
        }
        peripheral.setNotifyValue(false, for: characteristic.value)
        while count.withLock({ $0 }) <= 200 { await stage.central.settle() }
        #expect(stage.recorder.overlaps == 0)
        stage.recorder.onEach { _ in }
    }

    /// A driver of virtual time may ask just when a manager goes.
    @Test func aManagerThatIsGoneIsSettled() async {
        let stage = FacadeStage()
        let peripheral = await stage.connect()
        stage.manager = nil
        await withCheckedContinuation { continuation in
            peripheral.core.afterDelivery { continuation.resume() }
        }
    }

    @Test func aManagerThatGoesLeavesNothingBehind() async {
        weak var core: CentralCore?
        do {
            let stage = FacadeStage()
            let peripheral = await stage.connect()
            core = stage.manager?.core
            stage.manager = nil
            #expect(core != nil, "a peripheral holds the core")
            _ = peripheral.state
        }
        // The queue's last block may still hold the core; a turn later it does not.
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume() }
        }
        #expect(core == nil)
    }
}
