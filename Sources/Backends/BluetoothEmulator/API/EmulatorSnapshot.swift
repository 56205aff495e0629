import BluetoothBackend
import BluetoothSupport

/// An emulated world at one instant, from which ``Emulator/init(restoring:)`` creates any number of copies.
///
/// A snapshot contains devices with the states of their handlers, hosts, bonds, links, the clock, the random generators
/// and all scheduled events. Handler states should be values: copies share the class instances in a state.
public struct EmulatorSnapshot: Sendable {
    let world: World

    /// The world's time at which the snapshot was taken.
    public var now: Duration { .nanoseconds(world.lower.context.now) }
}

extension Emulator {
    /// The present world as a description, for a world file or another emulator.
    ///
    /// Devices have their present names, values, services, advertisements, distances and remaining faults; hosts have
    /// their power and permission. A description contains no links, bonds, states of handlers and apps, handlers in
    /// Swift, or script steps still to come. The host "default" is omitted if it is unchanged.
    public var presentWorld: WorldDescription { core.withLock { $0.world.presentDescription } }

    /// Takes a snapshot of the present world; the cost is small and does not depend on the size of the world.
    ///
    /// The world continues unchanged.
    ///
    /// - Throws: ``EmulatorError/alreadyDriven`` while virtual time is being driven, as in a callback.
    public func snapshot() throws -> EmulatorSnapshot {
        let world = perform { core in core.virtual.isDriven ? nil : core.world }
        guard let world else { throw EmulatorError.alreadyDriven }
        return EmulatorSnapshot(world: world)
    }

    /// Creates a separate world, in virtual time, that continues from a snapshot; the same inputs give the same
    /// ``trace``.
    ///
    /// Queued controls and scheduled events will happen. Apps live outside the world, so the apps of the snapshot end
    /// as if their processes had died: their scans, links and publications end, and their timers never fire. State with
    /// a restore identifier is preserved for the next manager with that identifier, as by
    /// ``EmulatedHost/terminateApp(restoreIdentifier:)``. Find devices and hosts with ``devices`` and ``hosts``.
    ///
    /// An asynchronous handler is asked again for the answers that it had not given, except for write commands. A
    /// handler that sleeps must use this emulator's ``swiftClock`` to sleep in its time.
    ///
    /// - Parameter snapshot: A snapshot of any emulator, in virtual or real time.
    public convenience init(restoring snapshot: EmulatorSnapshot) {
        var world = snapshot.world
        world.endApps()
        self.init(living: world, time: .virtual)
    }
}
