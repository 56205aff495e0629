import BluetoothSupport

/// The observers of all emulators of the process: the notes of a trace, and the captures of a layer above.
package enum EmulatorObservers {
    private static let observers = Lock<[@Sendable (Emulator) -> Void]>([{ EnvironmentTraceNotes.begin($0) }])

    /// Adds an observer, which is called outside all locks before an emulator makes a role of a manager.
    ///
    /// It is called for each role, and may observe the emulator with a tap; see ``ObservedEmulators``.
    package static func add(_ observer: @escaping @Sendable (Emulator) -> Void) {
        observers.withLock { $0.append(observer) }
    }

    static func observe(_ emulator: Emulator) {
        for observer in observers.withLock({ $0 }) { observer(emulator) }
    }
}

/// The emulators that a setting of the environment observes: the first hundred with managers.
package struct ObservedEmulators {
    private static let limit = 100
    private var emulators: Set<ObjectIdentifier> = []

    package init() {}

    /// Adds an emulator.
    ///
    /// - Returns: The emulator's number, from 1; nil if it was added before, or the limit is reached.
    package mutating func insert(_ emulator: Emulator) -> Int? {
        let isNew = emulators.count < Self.limit && emulators.insert(ObjectIdentifier(emulator)).inserted
        return isNew ? emulators.count : nil
    }
}
