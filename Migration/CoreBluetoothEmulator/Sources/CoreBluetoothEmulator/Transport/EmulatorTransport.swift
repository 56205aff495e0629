public import Foundation

/// A transport of bytes between processes.
public protocol EmulatorTransport: Sendable {
    /// Sends bytes to a process.
    func send(_ data: Data, to processID: UUID) async throws

    /// Returns the received bytes, with the processes that sent them.
    func receive() -> AsyncStream<(UUID, Data)>
}

/// The role of a process for others.
public enum EmulatorProcessRole: String, Codable, Sendable {
    /// The process passes bytes on.
    case hub
    /// The process has central managers.
    case central
    /// The process has peripheral managers.
    case peripheral
    /// The process has managers of both kinds.
    case both
}

/// The configuration of a process for a transport.
public struct EmulatorTransportConfiguration: Sendable {
    /// The role of the process for others.
    public var role: EmulatorProcessRole
    /// The identifier of the process.
    public var processID: UUID
    /// The address of the hub; nil if the transport knows it.
    public var hubEndpoint: String?

    /// Creates the configuration of a process.
    public init(role: EmulatorProcessRole, processID: UUID = UUID(), hubEndpoint: String? = nil) {
        self.role = role
        self.processID = processID
        self.hubEndpoint = hubEndpoint
    }
}
