import BluetoothBackend

/// An emulated world at one instant, to go back to with ``Emulator/init(restoring:)`` as often as wanted.
///
/// Holds devices with the states of their handlers, hosts, bonds, links, the clock, all chance and what is due. A state
/// of a handler that is or holds an object of a class shares it: states are to be values.
public struct EmulatorSnapshot: Sendable {
    let world: World

    /// The time since the world began, at which it was taken.
    public var now: Duration { .nanoseconds(world.now) }
}
