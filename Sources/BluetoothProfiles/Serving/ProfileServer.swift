public import CoreBluetooth

/// A service of a device that this program plays: its values, and what they do by themselves.
///
/// Written once, it serves in a ``SimulatedDevice`` on the emulator and on a real adapter.
public protocol ProfileServer: Sendable {
    /// The service's UUID.
    var service: CBUUID { get }

    /// The values, in the order of their characteristics.
    var values: [any ServedAttribute] { get }

    /// The device goes on the air: a server that does something by itself says so here.
    func start(_ context: ServerContext)
}

extension ProfileServer {
    /// Does nothing by itself.
    public func start(_ context: ServerContext) {}
}
