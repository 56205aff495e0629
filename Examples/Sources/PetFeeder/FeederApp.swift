import AsyncBluetooth
import CoreBluetooth

/// The app of a pet feeder.
@MainActor
package final class FeederApp {
    /// Whether the app is giving a meal, for a view.
    package private(set) var isFeeding = false

    package init() {}

    /// Gives a meal, and tries again if that fails.
    package func giveMeal() async throws {
        isFeeding = true
        defer { isFeeding = false }
        // The same meal in all attempts: a feeder whose answer is lost has given it.
        let meal = Meal()
        for attempt in 1... {
            do {
                return try await withTimeout(.seconds(10)) { try await self.order(meal) }
            } catch {
                guard attempt < 100 else { throw error }
                try await Task.sleep(for: .seconds(5))
            }
        }
    }

    private func order(_ meal: Meal) async throws {
        for try await found in Central().scan(for: [CBUUID(string: "FFF0")]) {
            return try await found.peripheral.write(meal.data, to: "FFF0/FFF1")
        }
        throw CancellationError()
    }
}

/// A meal; the feeder ignores a meal that it has already given.
struct Meal: Sendable {
    private let id = UUID()
    private let portions: UInt8 = 2

    /// The meal as the feeder reads it: the portions, and the identifier.
    var data: Data { withUnsafeBytes(of: id.uuid) { Data([portions]) + $0 } }
}
