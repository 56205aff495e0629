import Foundation

/// Sees what the managers of one test do: for the testing library.
///
/// Called on any thread, never under a lock of the manager's.
package protocol ManagerObserver: AnyObject, Sendable {
    /// A manager was made; to be held weakly.
    func managerCreated(_ manager: any ObservedManager)
    /// A delegate method has returned, or would have been called had there been a delegate.
    func delivered(_ callback: DeliveredCallback)
    /// A manager or a peripheral was released while these had no answer.
    func commandsAbandoned(_ commands: [String])
}

/// A manager as its observer sees it: it lives as long as the manager or one of its objects does.
package protocol ObservedManager: AnyObject, Sendable {
    /// The manager, if it lives, and the objects that it made and that live.
    var livingObjects: [String] { get }
    /// The label of the queue of its callbacks.
    var label: String { get }
    /// What was asked and not answered.
    var unansweredCommands: [String] { get }
    /// Calls `body` when all that was delivered so far has been handled.
    func afterDelivery(_ body: @escaping @Sendable () -> Void)
}

/// One call of a delegate method.
package struct DeliveredCallback: Sendable {
    /// Which method.
    package var method: DelegateMethod
    /// Whom it concerns: a peripheral, or a central.
    package var identifier: UUID?
    /// Which services, characteristics or descriptors.
    package var attributes: [CBUUID] = []
    /// The value that the delegate was given.
    package var value: Data?
    /// The error that the delegate was given.
    package var error: (any Error)?
    /// Whether there was a delegate.
    package var hasDelegate = true
}

/// Where managers find their observer.
package enum Observation {
    /// The observer of the managers that this task and its child tasks make.
    @TaskLocal package static var observer: (any ManagerObserver)?
}
