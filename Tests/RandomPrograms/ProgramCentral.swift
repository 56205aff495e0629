import CoreBluetooth
import Foundation

/// An app with a central manager that watches the rules of CoreBluetooth.
///
/// - Each request has one answer, in order, or is closed by a disconnection or by the loss of power.
/// - Nothing comes for a peripheral that is not connected, or that the app has released.
/// - Callbacks come on the manager's queue, one at a time.
final class ProgramCentral: NSObject, @unchecked Sendable {
    // Invariant: everything below is touched on `queue`, or when the driver has settled.

    enum Request: Equatable {
        case services, characteristics(String), descriptors(String), read(String), write(String), notify(String), rssi
    }

    /// One peripheral as the app knows it.
    struct Link {
        var object: CBPeripheral?
        var isWanted = false
        var isConnected = false
        var pending: [Request] = []
    }

    let queue: DispatchQueue
    let number: Int
    private(set) var violations: [String] = []
    private(set) var callbacks = 0
    var links: [UUID: Link] = [:]
    var manager: CBCentralManager?
    private var isInCallback = false
    private let key = DispatchSpecificKey<Bool>()

    init(number: Int) {
        self.number = number
        // One of the two queues is concurrent; callbacks still come one at a time (S158).
        queue = DispatchQueue(label: "central \(number)", attributes: number == 1 ? .concurrent : [])
        super.init()
        queue.setSpecific(key: key, value: true)
    }

    /// Creates the manager in the world of this task.
    func begin() { manager = CBCentralManager(delegate: self, queue: queue) }

    func violation(_ text: String) { violations.append("central \(number): \(text)") }

    // MARK: What the app does

    /// Records a request that will be answered, if the peripheral's state is connected.
    func ask(_ peripheral: CBPeripheral, _ request: Request) {
        guard peripheral.state == .connected else { return }
        links[peripheral.identifier]?.pending.append(request)
    }

    /// Releases the last reference; no further callback may come for the peripheral.
    func forget(_ identifier: UUID) { links[identifier] = nil }

    // MARK: Checks

    func inCallback(_ name: String, _ body: () -> Void) {
        callbacks += 1
        if DispatchQueue.getSpecific(key: key) != true { violation("\(name) on a wrong queue") }
        if isInCallback { violation("\(name) within another callback") }
        isInCallback = true
        body()
        isInCallback = false
    }

    func answered(_ peripheral: CBPeripheral, _ request: Request) {
        inCallback("\(request)") {
            guard let link = links[peripheral.identifier], link.isConnected else {
                return violation("\(request) after the end of the link")
            }
            guard link.pending.first == request else {
                return violation("\(request) instead of \(link.pending.first.map { "\($0)" } ?? "silence")")
            }
            links[peripheral.identifier]?.pending.removeFirst()
        }
    }

    /// Whether the adapter is on and every request has its answer.
    var isAtRest: Bool {
        queue.sync(flags: .barrier) { manager?.state == .poweredOn && links.values.allSatisfy { $0.pending.isEmpty } }
    }

    /// Checks that nothing is left at the end, with everything near, on and at rest.
    func checkEnd() {
        if manager?.state != .poweredOn { violation("not powered on at the end") }
        for (identifier, link) in links where !link.pending.isEmpty {
            let pending = link.pending.map { "\($0)" }.joined(separator: ", ")
            violation("never answered: \(pending) of \(identifier)")
        }
    }
}

extension ProgramCentral: CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        inCallback("didUpdateState") {
            guard central.state != .poweredOn else { return }
            for identifier in links.keys {
                links[identifier]?.isWanted = false
                links[identifier]?.isConnected = false
                links[identifier]?.pending = []
                // The objects are invalid below poweredOff (S15).
                if central.state != .poweredOff { links[identifier]?.object = nil }
            }
        }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        inCallback("didDiscover") {
            if !central.isScanning { violation("didDiscover without a scan") }
        }
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        inCallback("didConnect") {
            if links[peripheral.identifier]?.isWanted != true { violation("didConnect without a request") }
            if peripheral.state != .connected { violation("didConnect in state \(peripheral.state)") }
            links[peripheral.identifier]?.isConnected = true
        }
    }

    func centralManager(
        _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
    ) {
        inCallback("didFailToConnect") {
            if links[peripheral.identifier]?.isWanted != true { violation("didFailToConnect without a request") }
            if error == nil { violation("didFailToConnect without an error") }
            links[peripheral.identifier]?.isWanted = false
        }
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        inCallback("didDisconnectPeripheral") {
            if links[peripheral.identifier]?.isWanted != true { violation("two ends of one connection") }
            // The app may have called connect again before it was notified.
            let isWantedAgain = peripheral.state == .connecting
            if !isWantedAgain, peripheral.state != .disconnected {
                violation("didDisconnect in state \(peripheral.state)")
            }
            links[peripheral.identifier]?.isWanted = isWantedAgain
            links[peripheral.identifier]?.isConnected = false
            links[peripheral.identifier]?.pending = []
        }
    }
}

extension ProgramCentral: CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        answered(peripheral, .services)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        answered(peripheral, .characteristics(service.uuid.uuidString))
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        answered(peripheral, .descriptors(characteristic.uuid.uuidString))
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        let uuid = characteristic.uuid.uuidString
        let isRequested = links[peripheral.identifier]?.pending.contains(.read(uuid)) == true
        guard uuid == "AA02" || uuid == "AA03", !isRequested else { return answered(peripheral, .read(uuid)) }
        inCallback("notification") {
            if links[peripheral.identifier]?.isConnected != true { violation("a notification without a link") }
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        answered(peripheral, .write(characteristic.uuid.uuidString))
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        answered(peripheral, .notify(characteristic.uuid.uuidString))
    }

    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
        answered(peripheral, .rssi)
    }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        inCallback("didModifyServices") {}
    }
}
