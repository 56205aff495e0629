import BluetoothSupport
public import CoreBluetooth

/// A typed value that a server offers.
///
/// Any thread may use it; a new value is sent to all subscribers. A client's write is decoded first, and refused with
/// an ATT error if it is malformed: 0x0D, "Invalid Attribute Value Length", or ``reservedValueError``.
public final class ServedValue<Value: GATTValue>: ServedAttribute {
    private struct State {
        var value: Value?
        var send: (@Sendable (Data) -> Void)?
    }

    /// The characteristic.
    public let characteristic: GATTCharacteristic<Value>
    /// Whether clients must have paired.
    public let requiresEncryption: Bool
    /// The descriptors.
    public let descriptors: [CBUUID: Data]
    /// The ATT error for a reserved number; 0xFF, "Out of Range", unless the profile defines one.
    public let reservedValueError: CBATTError.Code
    private let compute: (@Sendable () -> Value)?
    private let accept: (@Sendable (Value) throws -> Void)?
    private let answer: (@Sendable (Value) throws -> any GATTValue)?
    private let state: Lock<State>

    /// Creates a value.
    ///
    /// - Parameters:
    ///   - characteristic: The characteristic.
    ///   - value: The first value.
    ///   - requiresEncryption: Whether clients must have paired.
    ///   - descriptors: By UUID: 2901 as text in UTF-8, 2904 in its layout; systems refuse others.
    ///   - reservedValueError: The ATT error code for a written number that is reserved.
    ///   - compute: Returns the value of each read, in place of the stored one.
    ///   - accept: Called with each written value before it is stored and sent to subscribers; a `CBATTError` that it
    ///     throws refuses it. It runs on the device's queue.
    ///   - answer: Returns the value that is sent to subscribers after the response to a write, as for a control point.
    public init(
        _ characteristic: GATTCharacteristic<Value>, _ value: Value? = nil, requiresEncryption: Bool = false,
        descriptors: [CBUUID: Data] = [:], reservedValueError: Int = 0xFF, compute: (@Sendable () -> Value)? = nil,
        accept: (@Sendable (Value) throws -> Void)? = nil,
        answer: (@Sendable (Value) throws -> any GATTValue)? = nil
    ) {
        self.characteristic = characteristic
        self.requiresEncryption = requiresEncryption
        self.descriptors = descriptors
        self.reservedValueError = CBATTError.Code(rawValue: reservedValueError) ?? .unlikelyError
        self.compute = compute
        self.accept = accept
        self.answer = answer
        state = Lock(State(value: value))
    }

    /// The value that clients read; nil without a stored value.
    ///
    /// A new value is sent to subscribers, too.
    public var value: Value? {
        get { compute?() ?? state.withLock { $0.value } }
        set {
            let send = state.withLock { state in
                state.value = newValue
                return state.send
            }
            if let newValue, isNotified { send?(newValue.encoded) }
        }
    }

    /// Sends a value to subscribers without storing it.
    public func send(_ value: Value) { state.withLock { $0.send }?(value.encoded) }

    private var isNotified: Bool { properties.contains(.notify) || properties.contains(.indicate) }

    // MARK: ServedAttribute

    /// The characteristic's UUID.
    public var uuid: CBUUID { characteristic.uuid }

    /// The operations that clients may perform.
    public var properties: CBCharacteristicProperties { characteristic.properties }

    /// Returns the bytes of a read.
    public func read() throws -> Data { value?.encoded ?? Data() }

    /// Decodes the value, calls `accept` and stores it.
    public func write(_ data: Data) throws {
        let value: Value
        do {
            value = try Value(decoding: data)
        } catch {
            switch error.problem {
            case .tooShort, .tooLong: throw CBATTError(.invalidAttributeValueLength)
            case .reserved, .notUTF8, .outOfRange, .notKnown: throw CBATTError(reservedValueError)
            }
        }
        try accept?(value)
        if let answer = try answer?(value) { state.withLock { $0.send }?(answer.encoded) }
        if properties.contains(.read) { self.value = value }
    }

    /// Sends values to `send` from now on.
    public func connect(_ send: (@Sendable (Data) -> Void)?) { state.withLock { $0.send = send } }
}

/// A characteristic of a server; ``ServedValue`` is the implementation.
public protocol ServedAttribute: AnyObject, Sendable {
    /// The characteristic's UUID.
    var uuid: CBUUID { get }
    /// The operations that clients may perform.
    var properties: CBCharacteristicProperties { get }
    /// Whether clients must have paired.
    var requiresEncryption: Bool { get }
    /// The descriptors: 2901 as text in UTF-8, others in their layout.
    var descriptors: [CBUUID: Data] { get }

    /// Returns the bytes of a read.
    ///
    /// - Throws: `CBATTError`, which the client receives; any other error becomes "unlikely error".
    func read() throws -> Data

    /// Handles written bytes.
    ///
    /// - Throws: `CBATTError`, which the client receives; any other error becomes "unlikely error".
    func write(_ data: Data) throws

    /// Called with a function that sends values to subscribers when the device starts, and with nil when it stops.
    func connect(_ send: (@Sendable (Data) -> Void)?)
}
