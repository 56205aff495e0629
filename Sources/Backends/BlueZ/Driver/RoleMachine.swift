#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials

/// The pure part of a role: it takes inputs and returns effects.
protocol RoleMachine: EffectCollector {
    var objects: ObjectModel { get }

    /// Whether a change of the daemon's objects affects the role.
    static func concerns(_ change: ObjectModel.Change) -> Bool

    /// Handles one input.
    ///
    /// - Parameter date: The time of the input, for events that contain one.
    /// - Returns: The effects to perform, in this order.
    mutating func handle(_ input: Input, at date: Date) -> [Effect]
}

/// A collector of effects, which a role or a part of it produces while it handles an input.
///
/// Extensions implement what all roles share: calls, timers and deliveries.
protocol EffectCollector: Sendable {
    associatedtype Input: RoleInput
    associatedtype Effect: RoleEffect where Effect.Event == Input.Event, Effect.Timer == Input.Timer
    /// The purpose of a call.
    associatedtype CallPurpose: Sendable
    /// An activated manager.
    associatedtype Manager: Sendable

    var managers: [HostLedger.Manager: Manager] { get set }
    var outputs: RoleOutputs<Effect, CallPurpose> { get set }
}

/// The inputs of every role.
protocol RoleInput: Sendable {
    associatedtype Command: Sendable
    associatedtype Event: Sendable
    associatedtype Timer: Hashable & Sendable

    static func daemon(_ event: DaemonEvent) -> Self
    static func reply(_ call: CallID, _ result: Result<MethodReply, DBusError>) -> Self
    static func timer(_ timer: Timer) -> Self
    static func activated(_ manager: HostLedger.Manager) -> Self
    static func command(_ manager: HostLedger.Manager, _ command: Command) -> Self
    static func invalidated(_ manager: HostLedger.Manager) -> Self
}

/// The effects of every role.
protocol RoleEffect: Sendable {
    associatedtype Event
    associatedtype Timer: Hashable & Sendable

    static func call(_ id: CallID, _ call: MethodCall) -> Self
    static func deliver(_ manager: HostLedger.Manager, _ event: Event) -> Self
    static func startTimer(_ timer: Timer, _ delay: Duration) -> Self
    static func stopTimer(_ timer: Timer) -> Self
    static func log(_ message: LogMessage) -> Self
}

/// The effects that a role machine collects while it handles an input, and the calls and timers that it waits for.
struct RoleOutputs<Effect: RoleEffect, CallPurpose: Sendable>: Sendable {
    /// The effects to perform, in this order.
    var effects: [Effect] = []
    /// The calls in flight, with their purposes.
    var calls: [CallID: CallPurpose] = [:]
    /// The running timers.
    fileprivate(set) var timers: Set<Effect.Timer> = []
    /// Whether pairing may be needed, as reported last.
    var mayNeedPairing = false
    private var lastNumber: UInt64 = 0

    /// Returns a unique number.
    mutating func newNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Returns the effects of the handled input, and removes them.
    mutating func removeEffects() -> [Effect] { exchange(&effects, with: []) }
}

// MARK: - Effects

extension EffectCollector {
    mutating func deliver(_ manager: HostLedger.Manager, _ event: Input.Event) {
        if managers.index(forKey: manager) != nil { outputs.effects.append(.deliver(manager, event)) }
    }

    mutating func newCall(_ purpose: CallPurpose) -> CallID {
        let id = CallID(number: outputs.newNumber())
        outputs.calls[id] = purpose
        return id
    }

    mutating func call(
        _ purpose: CallPurpose, _ path: ObjectPath, _ interface: String, _ member: String, _ body: [DBusValue] = [],
        reply: MethodCall.ReplyContent = .nothing, deadline: Duration
    ) {
        let call = MethodCall(
            path: path, interface: interface, member: member, body: body, reply: reply, deadline: deadline)
        outputs.effects.append(.call(newCall(purpose), call))
    }

    /// Removes and returns the purpose of an answered call; nil if a lost daemon or adapter has ended it before.
    mutating func purpose(of call: CallID) -> CallPurpose? { outputs.calls.removeValue(forKey: call) }

    mutating func start(_ timer: Input.Timer, _ delay: Duration) {
        outputs.timers.insert(timer)
        outputs.effects.append(.startTimer(timer, delay))
    }

    mutating func stop(_ timer: Input.Timer) {
        if outputs.timers.remove(timer) != nil { outputs.effects.append(.stopTimer(timer)) }
    }

    func isRunning(_ timer: Input.Timer) -> Bool { outputs.timers.contains(timer) }

    /// Ends a timer that fired.
    ///
    /// - Returns: Whether the timer was still running.
    mutating func endTimer(_ timer: Input.Timer) -> Bool { outputs.timers.remove(timer) != nil }

    mutating func log(_ level: LogMessage.Level, _ text: String) {
        outputs.effects.append(.log(LogMessage(level: level, text: text)))
    }
}
#endif
