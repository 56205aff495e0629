import BluetoothBackend

extension PeripheralDescription {
    /// A device that is discovered, and then answers no read and no write.
    ///
    /// Finds apps without a timeout of their own, which wait half a minute until the link ends, and apps that queue
    /// requests for ever.
    public static let neverAnswers = hostile("Never Answers", services: [.plain], handler: .neverAnswers)

    /// A device that takes connections, and answers no discovery.
    ///
    /// Finds apps that show "connected" and nothing else until the link ends after half a minute.
    public static let neverDiscovered = hostile("Never Discovered", services: [.plain], handler: .neverDiscovered)
}

/// Leaves requests without an answer; the central drops the link after 30 s.
public struct SilentHandler: EmulatedPeripheralHandler {
    /// What is left without an answer.
    public enum Silence: Hashable, Sendable {
        /// Reads and writes.
        case values
        /// Discoveries.
        case discovery
    }

    private let silence: Silence

    /// A device that does not answer.
    public init(ignores silence: Silence) { self.silence = silence }

    /// Says nothing to reads and writes, if these are ignored.
    public func respond(
        to request: PeripheralRequest, state: inout Void, device: inout DeviceActions
    ) -> PeripheralResponse {
        silence == .values ? .unanswered : .stored
    }

    /// Says nothing to discoveries, if these are ignored.
    public func respond(
        to procedure: PeripheralProcedure, of central: CentralIdentity, state: inout Void, device: inout DeviceActions
    ) -> ProcedureResponse {
        guard silence == .discovery else { return .granted }
        switch procedure {
        case .subscribe, .unsubscribe: return .granted
        default: return .unanswered
        }
    }
}
