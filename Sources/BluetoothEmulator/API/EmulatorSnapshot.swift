import BluetoothBackend
import BluetoothSupport

/// An emulated world at one instant, to go back to with ``Emulator/init(restoring:)`` as often as wanted.
///
/// Holds devices with the states of their handlers, hosts, bonds, links, the clock, all chance and what is due. A state
/// of a handler that is or holds an object of a class shares it: states are to be values.
public struct EmulatorSnapshot: Sendable {
    let world: World

    /// The time since the world began, at which it was taken.
    public var now: Duration { .nanoseconds(world.now) }
}

extension Emulator {
    /// The world as it is at this instant; costs next to nothing, however large the world is.
    ///
    /// The world continues unchanged.
    ///
    /// - Throws: ``EmulatorError/alreadyDriven`` in virtual time while it is being driven, as in a callback.
    public func snapshot() throws -> EmulatorSnapshot {
        let world = perform { core in core.virtual.isDriven ? nil : core.world }
        guard let world else { throw EmulatorError.alreadyDriven }
        return EmulatorSnapshot(world: world)
    }

    /// A world of its own, in virtual time, that continues from a snapshot: the same inputs give the same ``trace``.
    ///
    /// Controls that were in line and all that is due will happen. Apps live outside of the world, so here those of the
    /// snapshot ended, as processes that die: their scans, links and publications end, and their timers never fire.
    /// What had a restore identifier is kept for the next manager of that identifier, as by
    /// ``EmulatedHost/terminateApp(restoreIdentifier:)``. Devices and hosts are found by ``devices`` and ``hosts``.
    ///
    /// An asynchronous handler is asked again what it had not answered, except for write commands; one that sleeps does
    /// so on this emulator's ``swiftClock`` only if it takes that one.
    ///
    /// - Parameter snapshot: Of any emulator, also of one in real time.
    public convenience init(restoring snapshot: EmulatorSnapshot) {
        var world = snapshot.world
        world.endApps()
        self.init(living: world, time: .virtual)
    }
}
