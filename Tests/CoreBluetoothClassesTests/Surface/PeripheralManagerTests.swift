import BluetoothSupport
import CoreBluetoothClasses
import LogCapture
import Synchronization
import Testing

@Suite struct PeripheralManagerTests {
    private let queue = DispatchQueue(label: "peripheral manager")

    @Test func S1_theStateIsUnknownUntilTheFirstCallbackOnTheQueue() {
        let delegate = StateDelegate()
        queue.suspend()
        let manager = CBPeripheralManager(backend: TestObjects.noAdapter, delegate: delegate, queue: queue)
        #expect(manager.state == .unknown)
        #expect(delegate.states.isEmpty)
        queue.resume()
        queue.sync {}
        #expect(delegate.states == [.unsupported])
        #expect(manager.state == .unsupported)
    }

    @Test func S160_theDelegateIsReadAtDelivery() {
        let first = StateDelegate()
        let second = StateDelegate()
        queue.suspend()
        let manager = CBPeripheralManager(backend: TestObjects.noAdapter, delegate: first, queue: queue)
        manager.delegate = second
        queue.resume()
        queue.sync {}
        #expect(first.states.isEmpty)
        #expect(second.states == [.unsupported])
    }

    @Test func S160_theDelegateIsHeldWeakly() {
        let manager = CBPeripheralManager(backend: TestObjects.noAdapter, delegate: nil, queue: queue)
        queue.sync {}
        do {
            let delegate = StateDelegate()
            manager.delegate = delegate
            #expect(manager.delegate === delegate)
        }
        #expect(manager.delegate == nil)
    }

    @Test func aReleasedManagerCallsNobody() {
        let delegate = StateDelegate()
        queue.suspend()
        _ = CBPeripheralManager(backend: TestObjects.noAdapter, delegate: delegate, queue: queue)
        queue.resume()
        queue.sync {}
        #expect(delegate.states.isEmpty)
    }

    @Test func S9_commandsAreLoggedAndIgnored() {
        LogCapture.start()
        let delegate = StateDelegate()
        let manager = CBPeripheralManager(
            backend: TestObjects.noAdapter, delegate: delegate, queue: queue, options: [:])
        queue.sync {}
        let characteristic = TestObjects.characteristic()
        let before = LogCapture.lines(containing: manager.description).count
        manager.startAdvertising(nil)
        manager.stopAdvertising()
        manager.add(TestObjects.service())
        manager.remove(TestObjects.service())
        manager.removeAllServices()
        manager.setDesiredConnectionLatency(.low, for: TestObjects.central())
        manager.publishL2CAPChannel(withEncryption: false)
        manager.unpublishL2CAPChannel(0x80)
        #expect(!manager.updateValue(Data([1]), for: characteristic, onSubscribedCentrals: nil))
        queue.sync {}
        let lines = LogCapture.lines(containing: manager.description).dropFirst(before)
        #expect(lines.count == 9)
        let text = "API MISUSE: \(manager) can only accept this command while in the powered on state"
        #expect(lines.allSatisfy { $0 == "CoreBluetooth warning \(text)" })
        #expect(manager.description.hasPrefix("<CBPeripheralManager: 0x"))
        #expect(!manager.isAdvertising)
        #expect(delegate.states == [.unsupported])
    }

    @Test func aProtocolWithAnInitializerCanBeGivenToTheClass() {
        func make<Manager: ManagerMaking>(_ type: Manager.Type) -> Manager { type.init(delegate: nil, queue: queue) }
        CBManager.withBackend(TestObjects.noAdapter) {
            #expect(make(CBPeripheralManager.self).delegate == nil)
        }
    }
}

private protocol ManagerMaking {
    init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?)
}

extension CBPeripheralManager: ManagerMaking {}

// Invariant of `@unchecked`: the states are under a lock.
private final class StateDelegate: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
    private let seen = Lock<[CBManagerState]>([])
    var states: [CBManagerState] { seen.withLock { $0 } }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        let state = peripheral.state
        seen.withLock { $0.append(state) }
    }
}
