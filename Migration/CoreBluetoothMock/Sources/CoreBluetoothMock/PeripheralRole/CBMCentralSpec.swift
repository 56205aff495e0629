import BluetoothEmulator
import CoreBluetooth

/// A simulated central, which uses the services of mock peripheral managers.
///
/// It is in the world of the last ``simulateConnection()``, one at a time, as a separate phone there.
///
/// Thread rule: all members may be used from any thread. Completions and the delegate are called on the queue on which
/// the hooks of the world run.
public class CBMCentralSpec: Equatable,
    // Invariant: mutable state is under the lock of `fields`.
    @unchecked Sendable
{
    private struct Fields {
        let delegate: (any CBMCentralSpecDelegate)?
        var latency: CBMPeripheralManagerConnectionLatency?
        var isConnected = false
        var device: CentralDevice?
    }

    /// The identifier under which apps know the central.
    public let identifier: UUID
    /// The number of bytes that one notification carries: 20...512.
    public let maximumUpdateValueLength: Int
    /// The time between two connection events, in seconds: 0...4.
    public let connectionInterval: TimeInterval
    private let fields: Protected<Fields>

    /// Describes a central.
    ///
    /// - Parameters:
    ///   - identifier: The identifier under which apps know it.
    ///   - maximumUpdateValueLength: The number of bytes that one notification carries; numbers outside 20...512 become
    ///     the nearest of these.
    ///   - connectionInterval: The time between two connection events, in seconds.
    ///   - delegate: Receives the notified values; retained.
    public init(
        identifier: UUID = UUID(), maximumUpdateValueLength: Int = 20, connectionInterval: TimeInterval = 0.045,
        delegate: (any CBMCentralSpecDelegate)? = nil
    ) {
        self.identifier = identifier
        self.maximumUpdateValueLength = max(20, min(512, maximumUpdateValueLength))
        self.connectionInterval = connectionInterval
        fields = Protected(Fields(delegate: delegate))
    }

    /// Whether the central is connected.
    public var isConnected: Bool { fields.withLock { $0.isConnected } }
    /// The latency that an app requested with `setDesiredConnectionLatency(_:for:)`; nil without a request.
    public var desiredConnectionLatency: CBMPeripheralManagerConnectionLatency? { fields.withLock { $0.latency } }
    /// The delegate that receives the notified values.
    public var delegate: (any CBMCentralSpecDelegate)? { fields.withLock { $0.delegate } }

    /// Whether both have the same identifier.
    public static func == (left: CBMCentralSpec, right: CBMCentralSpec) -> Bool {
        left.identifier == right.identifier
    }

    // MARK: Actions

    /// Scans for mock managers that advertise one of the services, or for all.
    ///
    /// - Returns: The advertisement of the first mock manager that matches; nil without one.
    public func simulateScan(withServices serviceUUIDs: [CBMUUID]? = nil) -> [String: Any]? {
        MockWorlds.current.world.peripheralManagers.lazy.compactMap(\.heardAdvertisement).first { heard in
            guard let serviceUUIDs, !serviceUUIDs.isEmpty else { return true }
            let advertised = heard[CBMAdvertisementDataServiceUUIDsKey] as? [CBMUUID] ?? []
            return serviceUUIDs.contains { advertised.contains($0) }
        }
    }

    /// Connects to the mock peripheral managers at once; ignored with a log line without any.
    public func simulateConnection() {
        guard !isConnected else { return }
        let (world, emulator) = MockWorlds.current
        let known = fields.withLock { $0.device }
        let device = known?.world === world ? known : CentralDevice(self, in: world, of: emulator)
        guard let device, device.connect() else {
            return log.warning("the central \(identifier) does not connect: there is no mock peripheral manager")
        }
        // The earlier device is released outside the lock.
        let old = fields.withLock { fields in
            defer {
                fields.device = device
                fields.isConnected = true
            }
            return fields.device
        }
        withExtendedLifetime(old) {}
    }

    /// Ends the connection; subscriptions end with it.
    public func simulateDisconnection() {
        let device = fields.withLock { fields in
            fields.isConnected = false
            return fields.device
        }
        device?.disconnect()
    }

    /// Subscribes to a characteristic.
    public func simulateSubscription(to characteristic: CBMMutableCharacteristic) {
        request(.subscribe(true), characteristic) { _ in }
    }

    /// Unsubscribes from a characteristic.
    public func simulateUnsubscription(from characteristic: CBMMutableCharacteristic) {
        request(.subscribe(false), characteristic) { _ in }
    }

    /// Reads a characteristic.
    ///
    /// - Parameters:
    ///   - characteristic: A published characteristic.
    ///   - offset: The first byte to read.
    ///   - completion: Receives the value from the offset on, or the error: `CBMError(.notConnected)`,
    ///     `CBMATTError(.attributeNotFound)` for a characteristic that is not published, or the error of the app or the
    ///     server.
    public func simulateReadRequest(
        for characteristic: CBMMutableCharacteristic, offset: Int = 0,
        completion: @escaping (Result<Data, any Error>) -> Void
    ) {
        request(.read(offset: offset), characteristic) { completion($0) }
    }

    /// Writes a characteristic, with a response.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - characteristic: A published characteristic.
    ///   - offset: The first byte to write.
    ///   - completion: Receives nothing, or an error as for a read.
    public func simulateWriteRequest(
        _ data: Data, for characteristic: CBMMutableCharacteristic, offset: Int = 0,
        completion: @escaping (Result<Void, any Error>) -> Void
    ) {
        request(.write(data, offset: offset), characteristic) { completion($0.map { _ in }) }
    }

    /// Writes a characteristic without a response; a value that does not fit into a packet is dropped with a log line.
    public func simulateWriteCommand(_ data: Data, for characteristic: CBMMutableCharacteristic) {
        request(.command(data), characteristic) { _ in }
    }

    private func request(
        _ request: CentralRequest, _ characteristic: CBMMutableCharacteristic,
        completion: @escaping (Result<Data, any Error>) -> Void
    ) {
        let device = fields.withLock { $0.isConnected ? $0.device : nil }
        guard let device else { return completion(.failure(CBMError(.notConnected))) }
        device.perform(request, at: characteristic, completion)
    }

    // MARK: Events

    /// Records the end of the link.
    func disconnected(from device: CentralDevice) {
        fields.withLock { if $0.device === device { $0.isConnected = false } }
    }

    /// Records that the adapter of the mock managers was switched off, which ends the link.
    func adapterIsOff() { fields.withLock { $0.isConnected = false } }

    /// Records that an app requested another connection interval.
    func noteLatency(_ latency: CBMPeripheralManagerConnectionLatency) { fields.withLock { $0.latency = latency } }
}

/// A delegate that receives the values that a simulated central is notified of.
public protocol CBMCentralSpecDelegate {
    /// A characteristic to which the central subscribes was notified.
    func central(
        _ central: CBMCentralSpec, didReceiveUpdate value: Data, for characteristic: CBMMutableCharacteristic)
}

/// A request of a simulated central.
enum CentralRequest {
    case read(offset: Int)
    case write(Data, offset: Int)
    case command(Data)
    case subscribe(Bool)

    /// The offset within the value, and the bytes of a write; nil for a request for the whole value.
    var part: (offset: Int, value: Data?)? {
        switch self {
        case .read(let offset) where offset > 0: (offset, nil)
        case .write(let data, let offset) where offset > 0: (offset, data)
        default: nil
        }
    }
}
