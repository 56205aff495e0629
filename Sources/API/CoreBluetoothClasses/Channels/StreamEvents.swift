import BluetoothBackend
import BluetoothSupport
import Dispatch
import Foundation

/// A stream's delegate, the run loops that it is scheduled in, and the delivery of events on them.
///
/// Each run loop has a timer that wakes it, since setting a timer's date wakes a loop from any thread, while
/// `RunLoop.perform` does not. The timer also keeps a loop running that has nothing else to wait for. The main loop is
/// woken through the main queue too, which `dispatchMain()` and asynchronous main functions serve instead of it.
///
/// Virtual time waits for events on loops that are certain to run: the main loop, as it waits for the main queue, and
/// endless loops. Any other loop may stop at any time, and an event that waits for it must not keep time from advancing.
final class StreamEvents: Sendable {
    private struct Place {
        let loop: RunLoop
        let mode: RunLoop.Mode
        let timer: Timer
        /// Whether virtual time waits for the events.
        let isAwaited: Bool
    }

    /// The turn of the delegate among the ready work of the app.
    private enum Turn {
        case none
        /// Its beginning wakes the loops.
        case queued
        /// It ends when the delegate's handler has returned.
        case begun(finish: @Sendable () -> Void)
    }

    private struct Fields {
        weak var channel: ChannelCore?
        weak var stream: Stream?
        weak var delegate: (any StreamDelegate)?
        var places: [Place] = []
        var turn = Turn.none

        var isAwaited: Bool { places.contains(where: \.isAwaited) }

        /// Ends a turn that has begun.
        ///
        /// - Returns: A closure to call when the handler has returned; nil if no turn has begun.
        mutating func endTurn() -> (@Sendable () -> Void)? {
            guard case .begun(let finish) = turn else { return nil }
            turn = .none
            return finish
        }
    }

    private let side: ChannelMachine.Side
    private let clock: any BackendClock
    // Invariant: accessed under this lock. Other threads call only those functions of a run loop and its timer that any
    // thread may call; the stream and the delegate are used on the loop.
    private let fields = LockedState(Fields())

    init(_ side: ChannelMachine.Side, clock: any BackendClock) {
        self.side = side
        self.clock = clock
    }

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

    /// Delivers events on a loop, too.
    ///
    /// - Parameter isEndless: Whether the loop runs in this mode until the process ends.
    func schedule(in loop: RunLoop, forMode mode: RunLoop.Mode, isEndless: Bool = false) {
        let isAwaited = isEndless || loop === RunLoop.main && (mode == .default || mode == .common)
        // Repeating: another timer would be invalid after it fired.
        let timer = Timer(fire: .distantFuture, interval: .greatestFiniteMagnitude, repeats: true) { [weak self] _ in
            self?.deliver()
        }
        let isNew = fields.withLock { fields in
            let isNew = !fields.places.contains { $0.loop === loop && $0.mode == mode }
            if isNew {
                fields.places.append(Place(loop: loop, mode: mode, timer: timer, isAwaited: isAwaited))
            }
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
        let (gone, finish) = fields.withLock { fields in
            let gone = fields.places.filter(isGone)
            fields.places.removeAll(where: isGone)
            return (gone, fields.isAwaited ? nil : fields.endTurn())
        }
        for place in gone { place.timer.invalidate() }
        finish?()
    }

    // MARK: Delivery

    /// Wakes the loops, now or in the delegate's turn, because the delegate has an event to receive.
    ///
    /// Callable from any thread, under a backend's lock too.
    func signal() {
        let (places, queuesTurn) = fields.withLock { fields -> ([Place], Bool) in
            guard fields.isAwaited else { return (fields.places, false) }
            switch fields.turn {
            case .none:
                fields.turn = .queued
                return ([], true)
            case .queued: return ([], false)
            // A loop may have been added since.
            case .begun: return (fields.places, false)
            }
        }
        wake(places)
        guard queuesTurn else { return }
        clock.enqueue { [weak self] finish in
            if let self { beginTurn(finish) } else { finish() }
        }
    }

    private func beginTurn(_ finish: @escaping @Sendable () -> Void) {
        let (places, isAwaited) = fields.withLock { fields in
            fields.turn = fields.isAwaited ? .begun(finish: finish) : .none
            return (fields.places, fields.isAwaited)
        }
        wake(places)
        if !isAwaited { finish() }
    }

    private func wake(_ places: [Place]) {
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
        if let current = RunLoop.main.currentMode, current != mode, mode != .common {
            fields.withLock { $0.endTurn() }?()
        } else {
            deliver()
        }
    }

    /// Delivers one event; further events wait for the loop's next iteration, as those of other sources do.
    private func deliver() {
        let (present, finish) = fields.withLock { ($0, $0.endTurn()) }
        defer { finish?() }
        // The turn will wake this loop again.
        if case .queued = present.turn { return }
        guard let stream = present.stream, let delegate = present.delegate,
            let notice = present.channel?.withMachine({ $0.nextNotice(side) })
        else { return }
        clock.withTaskContext { delegate.stream(stream, handle: notice.event(of: side)) }
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
