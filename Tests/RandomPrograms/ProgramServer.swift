import CoreBluetooth
import Foundation

/// An app with a peripheral manager that watches the rules of CoreBluetooth.
///
/// - A central subscribes before it unsubscribes, and never twice; `subscribedCentrals` agrees.
/// - "Ready to update" comes only after a refusal.
/// - Callbacks come on the manager's queue, one at a time.
final class ProgramServer: NSObject, @unchecked Sendable {
    // Invariant: everything below is touched on `queue`, or when the driver has settled.

    let queue = DispatchQueue(label: "server")
    private(set) var violations: [String] = []
    private(set) var callbacks = 0
    var manager: CBPeripheralManager?
    var answer = ProgramAnswer.atOnce
    private(set) var held: [CBATTRequest] = []
    private var published: (service: CBMutableService, values: CBMutableCharacteristic)?
    private var subscribers: Set<UUID> = []
    /// The number of "ready" calls that may come: one for each update, whether it was sent or refused.
    private var announcements = 0
    private var isAdding = 0
    private var isStarting = 0
    private var isInCallback = false
    private let key = DispatchSpecificKey<Bool>()

    override init() {
        super.init()
        queue.setSpecific(key: key, value: true)
    }

    /// Creates the manager in the world of this task.
    func begin() { manager = CBPeripheralManager(delegate: self, queue: queue) }

    // MARK: What the app does

    func publish(_ isOn: Bool) {
        guard let manager, manager.state == .poweredOn else { return }
        if isOn, published == nil {
            let new = ProgramWorld.makeService()
            published = new
            isAdding += 1
            manager.add(new.0)
        } else if !isOn {
            manager.removeAllServices()
            published = nil
            subscribers = []
        }
    }

    func advertise(_ isOn: Bool) {
        guard let manager, manager.state == .poweredOn else { return }
        if isOn {
            isStarting += 1
            manager.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "AA10")]])
        } else {
            manager.stopAdvertising()
        }
    }

    func answerHeld() {
        let requests = held
        held = []
        for request in requests { manager?.respond(to: request, withResult: .success) }
    }

    func update(count: Int) {
        guard let manager, let values = published?.values else { return }
        if manager.state == .poweredOn { announcements += 1 }
        _ = manager.updateValue(Data(repeating: 1, count: count), for: values, onSubscribedCentrals: nil)
    }

    // MARK: Checks

    private func violation(_ text: String) { violations.append("server: \(text)") }

    private func inCallback(_ name: String, _ body: () -> Void) {
        callbacks += 1
        if DispatchQueue.getSpecific(key: key) != true { violation("\(name) on a wrong queue") }
        if isInCallback { violation("\(name) within another callback") }
        isInCallback = true
        body()
        isInCallback = false
    }

    /// Whether the adapter is on and every request is done.
    var isAtRest: Bool { queue.sync { manager?.state == .poweredOn && isAdding == 0 && isStarting == 0 } }

    /// Checks that nothing is left at the end, with everything near, on and at rest.
    func checkEnd() {
        if manager?.state != .poweredOn { violation("not powered on at the end") }
        if isAdding != 0 { violation("\(isAdding) services were added without an answer") }
        if isStarting != 0 { violation("advertising was started without an answer") }
    }

    private func handle(_ request: CBATTRequest, _ success: () -> Void) {
        switch answer {
        case .atOnce:
            success()
            manager?.respond(to: request, withResult: .success)
        case .refuse: manager?.respond(to: request, withResult: .unlikelyError)
        case .later: held.append(request)
        }
    }
}

extension ProgramServer: CBPeripheralManagerDelegate {
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        inCallback("didUpdateState") {
            guard peripheral.state != .poweredOn else { return }
            subscribers = []
            held = []
            isAdding = 0
            isStarting = 0
            announcements = 0
            if peripheral.state != .poweredOff { published = nil }
        }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        inCallback("didAdd") {
            isAdding -= 1
            if isAdding < 0 { violation("didAdd twice") }
        }
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        inCallback("didStartAdvertising") {
            isStarting -= 1
            if isStarting < 0 { violation("didStartAdvertising twice") }
        }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) {
        inCallback("didSubscribe") {
            if !subscribers.insert(central.identifier).inserted { violation("subscribed twice") }
            let known = (characteristic as? CBMutableCharacteristic)?.subscribedCentrals ?? []
            if !known.contains(where: { $0.identifier == central.identifier }) {
                violation("a subscriber is not among the subscribed centrals")
            }
        }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        inCallback("didUnsubscribe") {
            if subscribers.remove(central.identifier) == nil { violation("unsubscribed without a subscription") }
        }
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {
        inCallback("isReady") {
            announcements -= 1
            if announcements < 0 { violation("ready without an update") }
        }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        inCallback("didReceiveRead") {
            let value = Data((0..<60).map { UInt8($0) })
            guard request.offset <= value.count else {
                return peripheral.respond(to: request, withResult: .invalidOffset)
            }
            handle(request) { request.value = Data(value.dropFirst(request.offset)) }
        }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        inCallback("didReceiveWrite") {
            guard let first = requests.first else { return violation("a write without requests") }
            handle(first) {}
        }
    }
}
