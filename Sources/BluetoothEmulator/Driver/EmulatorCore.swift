import BluetoothBackend
import DequeModule

/// All that an emulator's lock guards: the world, where its outputs go, and how its time is driven.
struct EmulatorCore: Sendable {
    var world: World
    /// By manager.
    ///
    /// A manager without one is silent.
    private var receivers: [Ref<Manager>: Receiver] = [:]
    /// The receiver of the last event: mostly the next event's, too.
    private var recent: (manager: Ref<Manager>, receiver: Receiver)?
    /// The calls that the clock owes, by alarm.
    var calls: [UInt64: @Sendable () -> Void] = [:]
    /// The instant for which a real timer is set.
    var armed: Nanoseconds?
    var virtual = VirtualTimeState()

    init(world: World) { self.world = world }

    /// What is to be done outside the lock.
    enum Errand: Sendable {
        /// A call that the clock owed.
        case call(@Sendable () -> Void)
        /// An asynchronous handler is to be asked.
        case ask(Ref<Link>, UInt64, any AsynchronousPeripheralHandler, PeripheralRequest)
    }

    enum Handover: Sendable {
        case nobody
        case delivered(Receiver)
        case errand(Errand)
    }

    mutating func attach(_ receiver: Receiver, to manager: Ref<Manager>) {
        receivers[manager] = receiver
    }

    /// Forgets a manager's receiver.
    ///
    /// - Returns: The receiver, to be released outside the lock.
    mutating func detach(_ manager: Ref<Manager>) -> Receiver? {
        if recent?.manager == manager { recent = nil }
        return receivers.removeValue(forKey: manager)
    }

    /// All receivers, in the order of their managers.
    var allReceivers: [Receiver] {
        receivers.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Hands one output over.
    ///
    /// Nothing runs but the receiver's append.
    mutating func hand(over output: WorldOutput) -> Handover {
        switch output {
        case .central(let manager, let event):
            guard let receiver = receiver(of: manager), case .central(let sink) = receiver else { return .nobody }
            sink.deliver(event)
            return .delivered(receiver)
        case .peripheral(let manager, let event):
            guard let receiver = receiver(of: manager), case .peripheral(let sink) = receiver else { return .nobody }
            sink.deliver(event)
            return .delivered(receiver)
        case .pairing(let manager, let event):
            guard let receiver = receiver(of: manager), case .pairing(let sink) = receiver else { return .nobody }
            sink.deliver(event)
            return .delivered(receiver)
        case .alarm(let number):
            return calls.removeValue(forKey: number).map { .errand(.call($0)) } ?? .nobody
        case .ask(let link, let number, let handler, let request):
            return .errand(.ask(link, number, handler, request))
        }
    }

    private mutating func receiver(of manager: Ref<Manager>) -> Receiver? {
        if let recent, recent.manager == manager { return recent.receiver }
        guard let receiver = receivers[manager] else { return nil }
        recent = (manager, receiver)
        return receiver
    }

    /// Lives until `limit` in one go, as real time wants it.
    mutating func live(until limit: Nanoseconds) -> [Errand] {
        var errands: [Errand] = []
        repeat {
            while let output = world.outputs.popFirst() {
                if case .errand(let errand) = hand(over: output) { errands.append(errand) }
            }
        } while world.step(until: limit)
        return errands
    }
}

/// Where a manager's events go.
enum Receiver: Sendable {
    case central(any EventSink<CentralEvent>)
    case peripheral(any EventSink<PeripheralEvent>)
    case pairing(any EventSink<PairingEvent>)

    var label: String {
        switch self {
        case .central(let sink): sink.label
        case .peripheral(let sink): sink.label
        case .pairing(let sink): sink.label
        }
    }

    func afterDelivery(_ body: @escaping @Sendable () -> Void) {
        switch self {
        case .central(let sink): sink.afterDelivery(body)
        case .peripheral(let sink): sink.afterDelivery(body)
        case .pairing(let sink): sink.afterDelivery(body)
        }
    }
}
