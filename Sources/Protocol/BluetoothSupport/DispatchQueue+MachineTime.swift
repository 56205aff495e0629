package import Dispatch

/// Calls of Dispatch that take the machine's time although the calling code may belong to a world in virtual time.
package enum MachineTime {
    fileprivate static let mark = ThreadMark()

    /// Whether the calling thread is in such a call.
    package static var isRequired: Bool { mark.isSet }
}

extension DispatchQueue {
    /// Runs a block at a time of the machine.
    ///
    /// This package's own code calls it in place of `asyncAfter(deadline:)`, which is virtual for code of a world.
    package func asyncAfter(
        machineDeadline: @autoclosure () -> DispatchTime, execute block: @escaping @Sendable () -> Void
    ) {
        MachineTime.mark.perform { asyncAfter(deadline: machineDeadline(), execute: block) }
    }
}
