public import Foundation

/// Carries bytes between processes.
public protocol EmulatorTransport: Sendable {
    /// Sends bytes to a process.
    func send(_ data: Data, to processID: UUID) async throws

    /// The bytes that come, with the processes that sent them.
    func receive() -> AsyncStream<(UUID, Data)>
}

/// What a process is to others.
public enum EmulatorProcessRole: String, Codable, Sendable {
    /// It passes bytes on.
    case hub
    /// It has central managers.
    case central
    /// It has peripheral managers.
    case peripheral
    /// It has managers of both kinds.
    case both
}

/// How a process takes part in a transport.
public struct EmulatorTransportConfiguration: Sendable {
    /// What it is to others.
    public var role: EmulatorProcessRole
    /// Its identifier.
    public var processID: UUID
    /// Where the hub is; nil where the transport knows.
    public var hubEndpoint: String?

    /// How a process takes part in a transport.
    public init(role: EmulatorProcessRole, processID: UUID = UUID(), hubEndpoint: String? = nil) {
        self.role = role
        self.processID = processID
        self.hubEndpoint = hubEndpoint
    }
}
