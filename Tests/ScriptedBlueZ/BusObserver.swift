#if os(Linux)
import BluetoothDBus

/// A program that counts the resources of all programs on a bus, and of its own process.
public struct BusObserver: Sendable {
    /// The counts at one moment.
    public struct Count: Sendable, CustomStringConvertible {
        /// The resources of this process.
        public let process: ProcessResources
        /// The match rules of all connections of the bus.
        public let matchRules: Int

        /// All counts, in one line.
        public var description: String { "\(process), \(matchRules) match rules" }
    }

    private let connection: DBusConnection

    /// Creates a program on a private bus.
    public init(_ bus: PrivateBus) async throws { connection = try await DBusConnection.open(bus) }

    /// Creates a program on the system bus, which gives counts only to root.
    public static func onSystemBus() async throws -> BusObserver {
        BusObserver(connection: try await DBusConnection.open(at: .system))
    }

    private init(connection: DBusConnection) { self.connection = connection }

    /// Counts.
    ///
    /// - Throws: An error of D-Bus if the bus was built without statistics.
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
