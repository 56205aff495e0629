import BluetoothProfiles
import BluetoothSupport
import CoreBluetooth
import Synchronization

/// A service with arbitrary values.
final class ValueServer: ProfileServer {
    let service: CBUUID
    let values: [any ServedAttribute]

    init(service: CBUUID, values: [any ServedAttribute]) {
        self.service = service
        self.values = values
    }
}

/// An event that happens once, and is awaited.
final class Moment: Sendable {
    private struct State {
        var hasCome = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())

    func come() {
        let waiting = state.withLock { state in
            state.hasCome = true
            return exchange(&state.waiting, with: [])
        }
        for continuation in waiting { continuation.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let hasCome = state.withLock { state in
                if !state.hasCome { state.waiting.append(continuation) }
                return state.hasCome
            }
            if hasCome { continuation.resume() }
        }
    }
}
