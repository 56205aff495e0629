import BluetoothSupport
import Dispatch
import Foundation
import Synchronization

@testable import CoreBluetoothClasses

/// A peripheral manager's delegate that records its calls, and checks that it is called on one queue.
final class PeripheralRecorder: NSObject, CBPeripheralManagerDelegate, Sendable {
    private struct State {
        var lines: [String] = []
        var added: [CBService] = []
        var reads: [CBATTRequest] = []
        var writes: [[CBATTRequest]] = []
        var onEach: ((CBPeripheralManager, String) -> Void)?
    }

    private let queue: DispatchQueue
    // Invariant: accessed under this lock; the objects are only used on the queue, or when it is idle.
    private let state = LockedState(State())

    init(queue: DispatchQueue) { self.queue = queue }

    var lines: [String] { state.withLock { $0.lines } }
    /// Returns the lines with this beginning.
    func lines(_ beginning: String) -> [String] { lines.filter { $0.hasPrefix(beginning) } }
    var added: [CBService] { state.withLock { $0.added } }
    var reads: [CBATTRequest] { state.withLock { $0.reads } }
    var writes: [[CBATTRequest]] { state.withLock { $0.writes } }

    /// Releases all objects.
    func forget() {
        let gone = state.withLock { state in
            defer { state = State(lines: state.lines) }
            return state
        }
        withExtendedLifetime(gone) {}
    }

    /// Called within each callback.
    func onEach(_ body: @escaping (CBPeripheralManager, String) -> Void) {
        state.withLock { $0.onEach = body }
    }

    private func record(
        _ manager: CBPeripheralManager, _ line: String, added: CBService? = nil, read: CBATTRequest? = nil,
        written: [CBATTRequest]? = nil
    ) {
        dispatchPrecondition(condition: .onQueue(queue))
        let body = state.withLock { state in
            state.lines.append(line)
            if let added { state.added.append(added) }
            if let read { state.reads.append(read) }
            if let written { state.writes.append(written) }
            return state.onEach
        }
        body?(manager, line)
    }

    private func text(_ error: (any Error)?) -> String {
        switch error {
        case nil: ""
        case let error as CBError: " CBError \(error.errorCode)"
        case let error?: " \(error)"
        }
    }

    private func subscribers(of characteristic: CBCharacteristic) -> Int {
        (characteristic as? CBMutableCharacteristic)?.subscribedCentrals?.count ?? -1
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        record(peripheral, "state \(peripheral.state)")
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        record(peripheral, "advertising \(peripheral.isAdvertising)" + text(error))
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        record(peripheral, "added \(service.uuid.uuidString)" + text(error), added: service)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) {
        record(peripheral, "subscribed \(characteristic.uuid.uuidString) of \(subscribers(of: characteristic))")
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        record(peripheral, "unsubscribed \(characteristic.uuid.uuidString) of \(subscribers(of: characteristic))")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        record(peripheral, "read \(request.characteristic.uuid.uuidString) from \(request.offset)", read: request)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        let parts = requests.map { request in
            "\(request.characteristic.uuid.uuidString)@\(request.offset)\(request.value.map { Array($0) } ?? [])"
        }
        record(peripheral, "write " + parts.joined(separator: " "), written: requests)
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {
        record(peripheral, "ready")
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {
        record(peripheral, "published \(PSM)" + text(error))
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {
        record(peripheral, "unpublished \(PSM)" + text(error))
    }
}
