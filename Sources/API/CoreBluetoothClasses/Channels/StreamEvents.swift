import BluetoothSupport
import Dispatch
import Foundation

/// A stream's delegate, the run loops that it is scheduled in, and the delivery of events on them.
///
/// Each run loop has a timer that wakes it, since setting a timer's date wakes a loop from any thread, while
/// `RunLoop.perform` does not. The timer also keeps a loop running that has nothing else to wait for. The main loop is
/// woken through the main queue too, which `dispatchMain()` and asynchronous main functions serve instead of it.
final class StreamEvents: Sendable {
    private struct Place {
        let loop: RunLoop
        let mode: RunLoop.Mode
        let timer: Timer
    }

    private struct Fields {
        weak var channel: ChannelCore?
        weak var stream: Stream?
        weak var delegate: (any StreamDelegate)?
        var places: [Place] = []
    }

    private let side: ChannelMachine.Side
    // Invariant: accessed under this lock. Other threads call only those functions of a run loop and its timer that any
    // thread may call; the stream and the delegate are used on the loop.
    private let fields = LockedState(Fields())

    init(_ side: ChannelMachine.Side) { self.side = side }

    func attach(_ channel: ChannelCore) {
        fields.withLock { $0.channel = channel }
    }

    func attach(_ stream: Stream) {
        fields.withLock { $0.stream = stream }
    }

    var delegate: (any StreamDelegate)? {
        get { fields.withLock { $0.delegate } }
        set {
            fields.withLock { $0.delegate = newValue }
            signalIfOwed()
        }
    }

    func schedule(in loop: RunLoop, forMode mode: RunLoop.Mode) {
        // Repeating: another timer would be invalid after it fired.
        let timer = Timer(fire: .distantFuture, interval: .greatestFiniteMagnitude, repeats: true) { [weak self] _ in
            self?.deliver()
        }
        let isNew = fields.withLock { fields in
            let isNew = !fields.places.contains { $0.loop === loop && $0.mode == mode }
            if isNew { fields.places.append(Place(loop: loop, mode: mode, timer: timer)) }
            return isNew
        }
        guard isNew else { return }
        loop.add(timer, forMode: mode)
        signalIfOwed()
    }

    func remove(from loop: RunLoop, forMode mode: RunLoop.Mode) {
        removePlaces { $0.loop === loop && $0.mode == mode }
    }

    func removeAll() {
        removePlaces { _ in true }
    }

    private func removePlaces(where isGone: (Place) -> Bool) {
        let gone = fields.withLock { fields in
            defer { fields.places.removeAll(where: isGone) }
            return fields.places.filter(isGone)
        }
        for place in gone { place.timer.invalidate() }
    }

    // MARK: Delivery

    /// Wakes the loops, because the delegate has an event to receive.
    ///
    /// Callable from any thread, under a backend's lock too.
    func signal() {
        let places = fields.withLock { $0.places }
        for place in places {
            place.timer.fireDate = Date()
            guard place.loop === RunLoop.main else { continue }
            let mode = place.mode
            DispatchQueue.main.async { [weak self] in self?.deliverOnMainQueue(in: mode) }
        }
    }

    private func signalIfOwed() {
        let channel = fields.withLock { $0.channel }
        if channel?.withMachine({ $0.owesNotice(side) }) == true { signal() }
    }

    /// The main loop serves the main queue in all its common modes, which need not include the stream's mode.
    private func deliverOnMainQueue(in mode: RunLoop.Mode) {
        if let current = RunLoop.main.currentMode, current != mode, mode != .common { return }
        deliver()
    }

    /// Delivers one event; further events wait for the loop's next iteration, as those of other sources do.
    private func deliver() {
        let (channel, stream, delegate) = fields.withLock { ($0.channel, $0.stream, $0.delegate) }
        guard let stream, let delegate, let notice = channel?.withMachine({ $0.nextNotice(side) }) else { return }
        delegate.stream(stream, handle: notice.event(of: side))
        signalIfOwed()
    }
}

extension ChannelMachine.Notice {
    fileprivate func event(of side: ChannelMachine.Side) -> Stream.Event {
        switch self {
        case .opened: .openCompleted
        case .ready: side == .input ? .hasBytesAvailable : .hasSpaceAvailable
        case .failed: .errorOccurred
        case .ended: .endEncountered
        }
    }
}

extension ChannelMachine.Phase {
    var status: Stream.Status {
        switch self {
        case .notOpen: .notOpen
        case .open: .open
        case .atEnd: .atEnd
        case .closed: .closed
        case .failed: .error
        }
    }
}
