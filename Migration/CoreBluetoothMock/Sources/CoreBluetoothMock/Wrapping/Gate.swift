import Dispatch

/// A gate that passes callbacks to the owner of a bridge, in order.
///
/// A manager may call its delegate on another thread before the initializer of the wrapper has returned. Such a
/// callback is stored until then; no thread waits for it.
///
/// Thread rule: callbacks pass on the manager's queue.
final class Gate<Owner: AnyObject>: @unchecked Sendable {
    private struct State {
        weak var owner: Owner?
        var isOpen = false
        var kept: [(Owner) -> Void] = []
    }

    // Invariant: accessed under this lock.
    private let state = Protected(State())

    /// Opens the gate; stored callbacks pass on the manager's queue.
    func open(for owner: Owner, on queue: DispatchQueue?) {
        let isAnyKept = state.withLock { state in
            state.owner = owner
            state.isOpen = state.kept.isEmpty
            return !state.isOpen
        }
        if isAnyKept { (queue ?? .main).async { self.passKept() } }
    }

    /// Passes a callback, or stores it; does nothing when the owner is gone.
    func pass(_ callback: @escaping (Owner) -> Void) {
        let owner = state.withLock { state -> Owner? in
            guard state.isOpen else {
                state.kept.append(callback)
                return nil
            }
            return state.owner
        }
        if let owner { callback(owner) }
    }

    private func passKept() {
        while true {
            let (owner, kept) = state.withLock { state in
                let kept = state.kept
                state.kept = []
                state.isOpen = kept.isEmpty
                return (state.owner, kept)
            }
            if kept.isEmpty { return }
            if let owner { kept.forEach { $0(owner) } }
        }
    }
}
