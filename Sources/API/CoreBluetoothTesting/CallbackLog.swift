import CoreBluetoothClasses
import Foundation

/// The callbacks of one test, and the number of those that were expected.
struct CallbackLog {
    private var callbacks: [DeliveredCallback] = []
    /// The first callback that no expectation has passed.
    private var cursor = 0

    /// The callbacks since the last expectation.
    var pending: ArraySlice<DeliveredCallback> { callbacks[cursor...] }

    mutating func append(_ callback: DeliveredCallback) { callbacks.append(callback) }

    /// Expected callbacks, and whether their order matters.
    struct Expectation: Sendable, CustomStringConvertible {
        var callbacks: [DelegateCallback]
        var isOrdered = true

        var description: String {
            callbacks.map(\.description).joined(separator: ", ") + (isOrdered ? "" : " (in any order)")
        }

        /// Whether a callback of the peripheral may be among the expected ones.
        func concerns(_ identifier: UUID) -> Bool { callbacks.contains { $0.concerns(identifier) } }
    }

    /// Returns the positions of the callbacks that meet an expectation, in its order; nil while one is missing.
    ///
    /// Other callbacks may come in between. Callbacks that no delegate received do not count.
    func positions(of expectation: Expectation) -> [Int]? {
        var found: [Int] = []
        var start = cursor
        for expected in expectation.callbacks {
            let match = callbacks[start...].indices.first { index in
                callbacks[index].hasDelegate && expected.matches(callbacks[index]) && !found.contains(index)
            }
            guard let match else { return nil }
            found.append(match)
            if expectation.isOrdered { start = match + 1 }
        }
        return found
    }

    /// Passes the callbacks that meet an expectation, or all callbacks if it is not met.
    ///
    /// - Returns: The callbacks that met it, in its order.
    mutating func pass(_ expectation: Expectation) -> [ReceivedCallback] {
        guard let found = positions(of: expectation) else {
            cursor = callbacks.count
            return []
        }
        cursor = found.max().map { $0 + 1 } ?? cursor
        return found.map { ReceivedCallback(callbacks[$0]) }
    }
}
