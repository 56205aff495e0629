/// Does not keep the core alive.
final class WeakPairingCore: Sendable {
    // Invariant: written in `init` alone; loading a weak reference is atomic.
    nonisolated(unsafe) private weak var core: PairingCore?

    init(_ core: PairingCore) { self.core = core }

    var value: PairingCore? { core }
}
