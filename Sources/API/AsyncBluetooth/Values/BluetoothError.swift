public import CoreBluetooth

/// The failure of an operation: the operation, the device, the attribute and the reason.
///
/// A cancelled task throws Swift's `CancellationError` instead.
public struct BluetoothError: Error, Sendable, CustomStringConvertible {
    /// The operation that failed.
    public enum Operation: String, Hashable, Sendable {
        /// Scanning for devices.
        case scan
        /// Retrieving a device that the system knows.
        case retrieve
        /// Connecting.
        case connect
        /// Finding services, characteristics or descriptors.
        case discover
        /// Reading a value.
        case read
        /// Writing with a response.
        case write
        /// Writing without a response.
        case writeWithoutResponse = "write without response"
        /// Receiving notifications.
        case notifications
        /// Writing a command and waiting for the notification that answers it.
        case exchange
        /// Reading the signal strength.
        case readRSSI = "read RSSI"
        /// Pairing with a device.
        case pair
        /// Removing the bond with a device.
        case unpair
        /// Opening an L2CAP channel, or using it.
        case channel
        /// Publishing a service or a channel.
        case publish
        /// Advertising.
        case advertise
        /// Notifying subscribers.
        case notify
        /// More than one operation, under a timeout.
        case task
    }

    /// The reason.
    public enum Reason: Sendable {
        /// The adapter is `.unsupported`, `.unauthorized` or `.poweredOff`.
        case unavailable(CBManagerState)
        /// The system does not know a device of this identifier.
        case unknownPeripheral
        /// The device lacks these services.
        case missingServices([CBUUID])
        /// The service lacks these characteristics.
        case missingCharacteristics([CBUUID])
        /// The characteristic lacks these descriptors.
        case missingDescriptors([CBUUID])
        /// The characteristic supports none of these properties.
        case notSupported(CBCharacteristicProperties)
        /// The value has `length` bytes, more than the `maximum` of the link or the attribute.
        case valueTooLong(length: Int, maximum: Int)
        /// The connection failed.
        case connectionFailed((any Error)?)
        /// The link ended, or was lost.
        case disconnected((any Error)?)
        /// The app itself ended the link or withdrew the service.
        case cancelled
        /// The device, or the system, answered with an error: `CBATTError` or `CBError`.
        case refused(any Error)
        /// The device's value is malformed; the error names the field.
        case malformedValue(any Error)
        /// The operation exceeded this time limit.
        case timedOut(Duration)
        /// The consumer was slow, and more elements arrived than ``BufferingPolicy/failing(beyond:)`` keeps.
        case bufferOverflow(limit: Int)
        /// The text is not a Bluetooth device address, as in `C0:11:22:33:44:55`.
        case malformedAddress(String)
    }

    /// The circumstances of an error, without its reason.
    package struct Context: Sendable {
        let operation: Operation
        let peer: UUID?
        let peerName: String?
        let path: String?
        /// Whether the error reports the end of a link rather than a failed operation.
        private(set) var isEndOfLink = false

        package init(_ operation: Operation, peer: UUID? = nil, peerName: String? = nil, path: String? = nil) {
            self.operation = operation
            self.peer = peer
            self.peerName = peerName
            self.path = path
        }

        /// The circumstances of the end of a connected device's link.
        var ofEndedLink: Self {
            var context = self
            context.isEndOfLink = true
            return context
        }
    }

    private let context: Context
    /// The reason.
    public let reason: Reason

    package init(_ context: Context, _ reason: Reason) {
        self.context = context
        self.reason = reason
    }

    /// The operation that failed.
    public var operation: Operation { context.operation }
    /// The device's identifier, if the operation concerned a device.
    public var peer: UUID? { context.peer }
    /// The device's name, if known.
    public var peerName: String? { context.peerName }
    /// The attribute: UUIDs separated by slashes, as in `180D/2A37`; for a scan, its services.
    public var path: String? { context.path }

    /// `read 180D/2A38 of Polar H10 (8A2F…): the device lacks the services 180D`.
    ///
    /// The text for the end of a link, without a failed operation, begins with `the link to Polar H10 (8A2F…) ended`.
    public var description: String {
        guard context.isEndOfLink, let peer else { return "\(context): \(reason)" }
        let link = "the link to \(Context.label(peer, peerName))"
        return switch reason {
        case .disconnected(let error): "\(link) ended\(Reason.cause(error))"
        case .cancelled: "\(link) was ended by the app"
        default: "\(link) ended: \(reason)"
        }
    }
}

extension BluetoothError.Context: CustomStringConvertible {
    package var description: String {
        var text = operation.rawValue
        if let path { text += " \(path)" }
        if let peer { text += " of \(Self.label(peer, peerName))" }
        return text
    }

    /// The text that identifies a device to people.
    static func label(_ identifier: UUID, _ name: String?) -> String {
        name.map { "\($0) (\(identifier.uuidString))" } ?? identifier.uuidString
    }
}

extension BluetoothError.Reason: CustomStringConvertible {
    /// The reason in a few words.
    public var description: String {
        switch self {
        case .unavailable(let state): "Bluetooth is \(state)"
        case .unknownPeripheral: "the system does not know this device"
        case .missingServices(let uuids): "the device lacks the services \(Self.list(uuids))"
        case .missingCharacteristics(let uuids): "the service lacks the characteristics \(Self.list(uuids))"
        case .missingDescriptors(let uuids): "the characteristic lacks the descriptors \(Self.list(uuids))"
        case .notSupported(let properties):
            "the characteristic supports none of the properties 0x\(String(properties.rawValue, radix: 16))"
        case .valueTooLong(let length, let maximum):
            "the value has \(length) bytes, more than the maximum of \(maximum)"
        case .connectionFailed(let error): "the connection failed\(Self.cause(error))"
        case .disconnected(let error): "the link ended\(Self.cause(error))"
        case .cancelled: "the app ended it"
        case .refused(let error): "refused\(Self.cause(error))"
        case .malformedValue(let error): "the value is malformed: \(error)"
        case .timedOut(let limit): "timed out after \(limit)"
        case .bufferOverflow(let limit): "more than \(limit) elements waited for a slow consumer"
        case .malformedAddress(let text): "\"\(text)\" is not a device address"
        }
    }

    private static func list(_ uuids: [CBUUID]) -> String { uuids.map(\.uuidString).joined(separator: ", ") }

    fileprivate static func cause(_ error: (any Error)?) -> String {
        guard let error else { return "" }
        // Codes of applications and profiles have no meaning that the system knows.
        if let code = (error as? CBATTError)?.code.rawValue, code > CBATTError.insufficientResources.rawValue {
            return ": ATT error 0x\(String(code, radix: 16, uppercase: true))"
        }
        return ": \(error.localizedDescription)"
    }
}

/// A reason without the operation, which a caller adds.
struct OperationFailure: Error {
    let reason: BluetoothError.Reason

    init(_ reason: BluetoothError.Reason) { self.reason = reason }
}

extension BluetoothError {
    /// Runs an operation and adds the context to its errors; the context is made only for an error.
    static func run<Result>(
        _ context: @autoclosure () -> Context, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch let failure as OperationFailure {
            throw BluetoothError(context(), failure.reason)
        } catch let error as CancellationError {
            InterruptionRecord.current?.record(context())
            throw error
        }
    }

    /// Runs an operation within a time limit, and adds the context to its errors.
    static func run<Result: Sendable>(
        _ context: @autoclosure () -> Context, within limit: Duration?, clock: ManagerClock,
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await run(context()) { try await limited(limit, clock: clock, body) }
    }

    /// Runs a part of an operation within a time limit.
    ///
    /// - Throws: `OperationFailure` with `timedOut`, or the error of the part.
    static func limited<Result: Sendable>(
        _ limit: Duration?, clock: ManagerClock, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        guard let limit else { return try await body() }
        do {
            return try await withTimeout(limit, clock: clock, body)
        } catch let error as BluetoothError {
            throw OperationFailure(error.reason)
        }
    }
}
