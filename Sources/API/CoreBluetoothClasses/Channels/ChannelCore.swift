import BluetoothBackend
import BluetoothSupport
import Dispatch
import Foundation

/// The connection between a channel's streams and the backend.
///
/// Bytes, credits and the end arrive on the thread that delivers them and bypass the manager's queue, so that a stream
/// that is read or written within a callback does not wait for that callback. The lock is a leaf.
final class ChannelCore: Sendable {
    private struct State {
        var machine: ChannelMachine
        var hasLostLink = false
        /// Threads that wait in `read` or `write`.
        var waiting: [DispatchSemaphore] = []
    }

    private let state: Lock<State>
    private let submit: @Sendable (ChannelCommand) -> Void
    private let inputEvents: StreamEvents
    private let outputEvents: StreamEvents

    /// Creates the core of an open channel.
    ///
    /// - Parameters:
    ///   - credits: The bytes that may be sent at first.
    ///   - clock: Waits for the events of the streams.
    ///   - submit: Submits commands to the backend; called on the threads of the streams, under no lock.
    init(credits: Int, clock: any BackendClock, submit: @escaping @Sendable (ChannelCommand) -> Void) {
        state = Lock(State(machine: ChannelMachine(credits: credits)))
        self.submit = submit
        inputEvents = StreamEvents(.input, clock: clock)
        outputEvents = StreamEvents(.output, clock: clock)
        inputEvents.attach(self)
        outputEvents.attach(self)
    }

    /// The delegate and the run loops of a stream.
    func events(_ side: ChannelMachine.Side) -> StreamEvents {
        side == .input ? inputEvents : outputEvents
    }

    // MARK: Events of the backend

    func handle(_ event: ChannelEvent) {
        switch event {
        case .received(let data): transition { $0.receive(data) }
        case .credits(let count): transition { $0.grant(count) }
        case .closed: transition { $0.endRemotely() }
        }
    }

    /// Ends the channel because its link is over.
    func endWithLink() {
        state.withLock { $0.hasLostLink = true }
        handle(.closed)
    }

    var hasLostLink: Bool { state.withLock { $0.hasLostLink } }

    // MARK: Calls of the streams

    func open(_ side: ChannelMachine.Side) { transition { $0.open(side) } }

    func close(_ side: ChannelMachine.Side) {
        transition { $0.close(side) }
        events(side).removeAll()
    }

    /// Runs a call of the machine that has no effects.
    func withMachine<Result: Sendable>(_ body: (inout ChannelMachine) -> Result) -> Result {
        state.withLock { body(&$0.machine) }
    }

    /// Blocks while the stream is open and empty, as Foundation's streams do.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        transfer { $0.read(into: buffer) }
    }

    /// Blocks while the stream is open and has no room, as Foundation's streams do.
    func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        transfer { $0.write(bytes) }
    }

    // MARK: Transitions

    private func transfer(
        _ body: (inout ChannelMachine) -> (ChannelMachine.Transfer, [ChannelMachine.Effect])
    ) -> Int {
        while true {
            let semaphore = DispatchSemaphore(value: 0)
            let (transfer, effects) = state.withLock { state in
                let result = body(&state.machine)
                if result.0 == .wait { state.waiting.append(semaphore) }
                return result
            }
            perform(effects)
            switch transfer {
            case .bytes(let count): return count
            case .failed: return -1
            case .wait: semaphore.wait()
            }
        }
    }

    func transition(_ body: (inout ChannelMachine) -> [ChannelMachine.Effect]) {
        let (effects, waiting) = state.withLock { state in
            let effects = body(&state.machine)
            return (effects, exchange(&state.waiting, with: []))
        }
        for semaphore in waiting { semaphore.signal() }
        perform(effects)
    }

    private func perform(_ effects: [ChannelMachine.Effect]) {
        for effect in effects {
            switch effect {
            case .submit(let command): submit(command)
            case .notify(let side): events(side).signal()
            }
        }
    }
}
