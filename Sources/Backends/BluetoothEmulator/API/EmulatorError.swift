public import BluetoothTracing

/// An error from driving virtual time.
public enum EmulatorError: Error, Hashable, Sendable {
    /// Too many steps happened at one instant; `trace` has the last lines of the trace.
    case livelock(at: Duration, trace: [TraceEntry])
    /// A sink did not handle its events within ten real seconds; `label` names its queue.
    case unsettled(label: String)
    /// A ``TimeHold`` was not released within ten real seconds.
    case held
    /// A task that never waited for anything, a block of `asyncAfter`, or a stream's delegate has kept virtual time from
    /// advancing for ten real seconds.
    case tasksUnsettled
    /// The condition did not come true within the given virtual time.
    case conditionNotMet(within: Duration)
    /// The world was not idle within the given virtual time.
    case notIdle(within: Duration)
    /// The body of ``Emulator/run(within:_:)`` did not end within the given virtual time.
    case notFinished(within: Duration)
    /// The emulator runs in real time, which cannot be driven.
    case notVirtual
    /// Another caller drives this emulator; virtual time has one driver at a time.
    case alreadyDriven
}

extension EmulatorError: CustomStringConvertible {
    /// One line and, for a livelock, the end of the trace.
    public var description: String {
        switch self {
        case .livelock(let at, let trace):
            "The emulated world does not leave the instant \(at). Its last steps:\n"
                + trace.map(\.description).joined(separator: "\n")
        case .unsettled(let label):
            "The sink \"\(label)\" did not handle its events within ten seconds: is its queue blocked?"
        case .held:
            """
            Virtual time was held for more than ten seconds. Is a hold not released? Task.sleep and \
            DispatchQueue.asyncAfter end in virtual time, and so not before the hold is released.
            """
        case .tasksUnsettled:
            """
            A task, a block of DispatchQueue.asyncAfter, or the delegate of a channel's stream has not come to an end for \
            ten seconds, and virtual time waits for it. Does it block its thread, call Task.yield() in a loop, or need the \
            main queue while a test blocks that? Await the emulator's callbacks or its clock instead.
            """
        case .conditionNotMet(let limit): "The condition did not come true within \(limit) of virtual time."
        case .notIdle(let limit): "The emulated world was not idle within \(limit) of virtual time."
        case .notFinished(let limit):
            """
            The code in run(within:) did not end within \(limit) of virtual time, and was cancelled: it waits for \
            something that does not happen in the emulated world. What a Timer, a DispatchSource or an executor of the app \
            delays happens in real time: sleep in a task instead, or take emulator.hold() meanwhile.
            """
        case .notVirtual: "Only an emulator with virtual time can be driven."
        case .alreadyDriven:
            "Virtual time is being driven already. Inside a callback, do not drive: return, and let the driver go on."
        }
    }
}
