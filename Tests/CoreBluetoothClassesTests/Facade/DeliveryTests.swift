import BluetoothBackend
import BluetoothSupport
import Dispatch
import Foundation
import Synchronization
import Testing

@testable import CoreBluetoothClasses

@Suite struct DeliveryTests {
    @Test func S158_aConcurrentQueueGetsOneCallbackAtATimeInOrder() async {
        let fixture = FacadeFixture(queue: DispatchQueue(label: "concurrent", attributes: .concurrent))
        await fixture.central.play(.stateChanged(.poweredOn))
        fixture.manager?.scanForPeripherals(withServices: nil)
        for index in 0..<1000 {
            let peer = PeerID(UUID())
            fixture.central.send(
                .discovered(Discovery(peer: peer, name: "\(index)", advertisement: Advertisement(), rssi: -1)))
        }
        await fixture.central.settle()
        #expect(fixture.recorder.overlaps == 0)
        #expect(fixture.recorder.lines.dropFirst() == (0..<1000).map { "discovered \($0) -1" }[...])
    }

    @Test func whatIsAppendedIsHandledOnTheQueueByTheThreadThatRunsIt() async throws {
        let fixture = FacadeFixture()
        let delivery = try #require(fixture.central.append(.stateChanged(.poweredOn)))
        // The thread that handles the first delivery handles these events, too.
        #expect(fixture.central.append(.stateChanged(.poweredOff)) == nil)
        fixture.central.send(.stateChanged(.poweredOn))
        #expect(fixture.recorder.lines.isEmpty)
        delivery.run()
        #expect(fixture.recorder.lines == ["state poweredOn", "state poweredOff", "state poweredOn"])
        #expect(fixture.recorder.overlaps == 0)
    }

    @Test func whatIsAppendedIsHandledSoonWhereItIsStarted() async throws {
        let fixture = FacadeFixture()
        try #require(fixture.central.append(.stateChanged(.poweredOn))).start()
        await fixture.central.settle()
        #expect(fixture.recorder.lines == ["state poweredOn"])
    }

    @Test func workThatACallbackStartsRunsInTheSameDeliveryBehindTheCallbacksThatWait() async throws {
        let fixture = FacadeFixture()
        let recorder = fixture.recorder
        let order = Lock<[String]>([])
        let managerQueue = ManagerQueue(of: try #require(fixture.manager))
        recorder.onEach { line in
            guard line == "state poweredOn" else { return }
            managerQueue.async { order.withLock { $0 = recorder.lines + ["work"] } }
        }
        let delivery = try #require(fixture.central.append(.stateChanged(.poweredOn)))
        #expect(fixture.central.append(.stateChanged(.poweredOff)) == nil)
        delivery.run()
        #expect(order.withLock { $0 } == ["state poweredOn", "state poweredOff", "work"])
        #expect(recorder.overlaps == 0)
    }

    @Test func workForTheQueueOfAReleasedManagerRunsOnTheQueue() async throws {
        let fixture = FacadeFixture()
        let managerQueue = ManagerQueue(of: try #require(fixture.manager))
        fixture.manager = nil
        let queue = fixture.queue
        await withCheckedContinuation { continuation in
            managerQueue.async {
                dispatchPrecondition(condition: .onQueue(queue))
                continuation.resume()
            }
        }
    }

    @Test @MainActor func noThreadStandsInForTheMainThread() async throws {
        let fixture = FacadeFixture(queue: .main)
        runByAnotherThread(try #require(fixture.central.append(.stateChanged(.poweredOn))))
        #expect(fixture.recorder.lines.isEmpty)
        await fixture.central.settle()
        #expect(fixture.recorder.lines == ["state poweredOn"])
    }

    /// Returns when the delivery is handled; nothing else drives it.
    private nonisolated func runByAnotherThread(_ delivery: any PendingDelivery) {
        let isDone = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            delivery.run()
            isDone.signal()
        }
        isDone.wait()
    }

    @Test func S159_callbacksNeverRunBeforeTheCallReturns() async {
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect()
        let characteristic = Unchecked(await fixture.characteristic(of: peripheral))
        let carried = Unchecked(peripheral)
        let recorder = fixture.recorder
        fixture.queue.sync {
            let before = recorder.lines.count
            carried.value.setNotifyValue(false, for: characteristic.value)
            #expect(recorder.lines.count == before)
        }
        await fixture.central.settle()
        #expect(fixture.recorder.lines.last == "notifying false")
    }

    @Test func S160_theDelegateIsLookedUpAtDelivery() async {
        let fixture = FacadeFixture()
        let second = CallbackRecorder()
        fixture.queue.suspendWhenIdle()
        fixture.central.send(.stateChanged(.poweredOff))
        fixture.manager?.delegate = second
        fixture.queue.resume()
        await fixture.central.settle()
        #expect(fixture.recorder.lines.isEmpty)
        #expect(second.lines == ["state poweredOff"])
        fixture.manager?.delegate = nil
        await fixture.central.play(.stateChanged(.poweredOn))
        #expect(second.lines == ["state poweredOff"])
        #expect(fixture.manager?.state == .poweredOn)
    }

    @Test func S160_theDelegateIsWeak() async {
        let fixture = FacadeFixture()
        var delegate: CallbackRecorder? = CallbackRecorder()
        fixture.manager?.delegate = delegate
        delegate = nil
        #expect(fixture.manager?.delegate == nil)
    }

    @Test func S161_callsAreAcceptedFromAnyThread() async {
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect(credits: 100_000)
        let characteristic = Unchecked(await fixture.characteristic(of: peripheral, properties: .writeWithoutResponse))
        let carried = Unchecked(peripheral)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for index in 0..<500 {
                carried.value.writeValue(
                    Data([UInt8(thread), UInt8(index & 0xFF)]), for: characteristic.value, type: .withoutResponse)
            }
        }
        let written = fixture.central.commands.compactMap { command -> Data? in
            if case .writeCommand(_, _, let value) = command { value } else { nil }
        }
        #expect(written.count == 2000)
        for thread in UInt8(0)..<4 {
            let own = written.filter { $0[0] == thread }.map { $0[1] }
            #expect(own == (0..<500).map { UInt8($0 & 0xFF) }, "each thread's commands keep their order")
        }
    }

    @Test func aCallbackThatCallsBackIsNotReentered() async {
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect()
        let characteristic = Unchecked(await fixture.characteristic(of: peripheral))
        let carried = Unchecked(peripheral)
        let count = Lock(0)
        fixture.recorder.onEach { line in
            let isEnough = count.withLock { count in
                count += 1
                return count > 200
            }
            if line == "notifying false", !isEnough {
                carried.value.setNotifyValue(false, for: characteristic.value)
            }
        }
        peripheral.setNotifyValue(false, for: characteristic.value)
        while count.withLock({ $0 }) <= 200 { await fixture.central.settle() }
        #expect(fixture.recorder.overlaps == 0)
        fixture.recorder.onEach { _ in }
    }

    /// A driver of virtual time may query a manager at the moment of its release.
    @Test func aManagerThatIsGoneIsSettled() async {
        let fixture = FacadeFixture()
        let peripheral = await fixture.connect()
        fixture.manager = nil
        await withCheckedContinuation { continuation in
            peripheral.core.afterDelivery { continuation.resume() }
        }
    }

    @Test func aManagerThatGoesLeavesNothingBehind() async {
        weak var core: CentralCore?
        let queue = DispatchQueue(label: "a manager that goes")
        do {
            let fixture = FacadeFixture(queue: queue)
            let peripheral = await fixture.connect()
            core = fixture.manager?.core
            fixture.manager = nil
            #expect(core != nil, "a peripheral holds the core")
            _ = peripheral.state
        }
        // The queue's last block may still hold the core; the next one begins after its release.
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume() }
        }
        #expect(core == nil)
    }
}
