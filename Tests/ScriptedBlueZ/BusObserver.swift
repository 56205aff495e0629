#if os(Linux)
import BluetoothDBus

/// A program that counts what all programs of a bus, and its own process, hold.
public struct BusObserver: Sendable {
    /// What was counted at one moment.
    public struct Count: Sendable, CustomStringConvertible {
        /// What this process holds.
        public let process: ProcessResources
        /// The match rules of all connections of the bus.
        public let matchRules: Int

        /// All of them, in one line.
        public var description: String { "\(process), \(matchRules) match rules" }
    }

    private let connection: DBusConnection

    /// A program on a bus of the test's own.
    public init(_ bus: PrivateBus) async throws { connection = try await DBusConnection.open(bus) }

    /// A program on the system bus, which reports only to root.
    public static func onSystemBus() async throws -> BusObserver {
        BusObserver(connection: try await DBusConnection.open(at: .system))
    }

    private init(connection: DBusConnection) { self.connection = connection }

    /// Counts.
    ///
    /// - Throws: An error of D-Bus where the bus was built without statistics.
    public func count() async throws -> Count {
        Count(process: try ProcessResources(), matchRules: try await matchRules())
    }

    private func matchRules() async throws -> Int {
        let reply = try await connection.call(
            to: BusDriver.name, path: BusDriver.path, interface: "org.freedesktop.DBus.Debug.Stats",
            member: "GetAllMatchRules")
        guard case .dictionary(let rules)? = reply.first else {
            throw DBusError(name: DBusError.Name.failed, message: "the bus does not list its match rules")
        }
        return rules.entries.reduce(0) { $0 + ($1.value.stringsValue?.count ?? 0) }
    }
}
#endif
