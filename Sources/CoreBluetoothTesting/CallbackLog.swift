import CoreBluetoothPackage
import Foundation

/// The callbacks of one test, and how many of them were expected.
struct CallbackLog {
    private var callbacks: [DeliveredCallback] = []
    /// The first callback that no expectation has passed.
    private var cursor = 0

    /// What came since the last expectation.
    var pending: ArraySlice<DeliveredCallback> { callbacks[cursor...] }

    mutating func append(_ callback: DeliveredCallback) { callbacks.append(callback) }

    /// What is expected, and whether the order matters.
    struct Expectation: Sendable, CustomStringConvertible {
        var callbacks: [DelegateCallback]
        var isOrdered = true

        var description: String {
            callbacks.map(\.description).joined(separator: ", ") + (isOrdered ? "" : " (in any order)")
        }

        /// Whether a callback of that peripheral may be among those that are expected.
        func concerns(_ identifier: UUID) -> Bool { callbacks.contains { $0.concerns(identifier) } }
    }

    /// The positions of what meets an expectation, in its order; nil while something is missing.
    ///
    /// Others may have come in between. Callbacks that no delegate received meet nothing.
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

    /// Passes what meets an expectation; all that came where it is not met.
    ///
    /// - Returns: What met it, in its order.
    mutating func pass(_ expectation: Expectation) -> [ReceivedCallback] {
        guard let found = positions(of: expectation) else {
            cursor = callbacks.count
            return []
        }
        cursor = found.max().map { $0 + 1 } ?? cursor
        return found.map { ReceivedCallback(callbacks[$0]) }
    }
}
