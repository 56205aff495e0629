import BluetoothLocking
public import CoreBluetooth
import Synchronization

/// A typed value that a server offers.
///
/// It is read from any thread; a new one goes to all subscribers. What a client writes is decoded first, and refused with
/// an ATT error where it is malformed: 0x0D, "Invalid Attribute Value Length", or ``reservedValueError``.
public final class ServedValue<Value: GATTValue>: ServedAttribute {
    private struct State {
        var value: Value?
        var send: (@Sendable (Data) -> Void)?
    }

    /// Where it is.
    public let characteristic: GATTCharacteristic<Value>
    /// Whether clients must have paired.
    public let requiresEncryption: Bool
    /// The descriptors that it has.
    public let descriptors: [CBUUID: Data]
    /// The ATT error for a number that is reserved; 0xFF, "Out of Range", where a profile has none of its own.
    public let reservedValueError: CBATTError.Code
    private let compute: (@Sendable () -> Value)?
    private let accept: (@Sendable (Value) throws -> Void)?
    private let answer: (@Sendable (Value) throws -> any GATTValue)?
    private let state: Lock<State>

    /// A value.
    ///
    /// - Parameters:
    ///   - characteristic: Where it is.
    ///   - value: What clients read at first.
    ///   - requiresEncryption: Whether clients must have paired.
    ///   - descriptors: By UUID: 2901 as text in UTF-8, 2904 in its layout; systems refuse others.
    ///   - reservedValueError: The ATT error code for a written number that is reserved.
    ///   - compute: Makes the value of each read, in place of the one that is kept.
    ///   - accept: Is asked of each written value before it is kept and sent to subscribers; a `CBATTError` that it
    ///     throws refuses it. It runs on the device's queue.
    ///   - answer: Makes of each written value what is sent to subscribers, after the response: a control point.
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

    /// What clients read; nil where nothing is kept.
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

    /// Sends a value to subscribers and does not keep it.
    public func send(_ value: Value) { state.withLock { $0.send }?(value.encoded) }

    private var isNotified: Bool { properties.contains(.notify) || properties.contains(.indicate) }

    // MARK: ServedAttribute

    /// The characteristic's UUID.
    public var uuid: CBUUID { characteristic.uuid }

    /// What clients may do.
    public var properties: CBCharacteristicProperties { characteristic.properties }

    /// The bytes of a read.
    public func read() throws -> Data { value?.encoded ?? Data() }

    /// Decodes, asks and keeps.
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

    /// Values go to `send` from now on.
    public func connect(_ send: (@Sendable (Data) -> Void)?) { state.withLock { $0.send = send } }
}

/// What a server offers of a characteristic: ``ServedValue`` is the one there is.
public protocol ServedAttribute: AnyObject, Sendable {
    /// The characteristic's UUID.
    var uuid: CBUUID { get }
    /// What clients may do.
    var properties: CBCharacteristicProperties { get }
    /// Whether clients must have paired.
    var requiresEncryption: Bool { get }
    /// The descriptors 2901, as text, and others, as data.
    var descriptors: [CBUUID: Data] { get }

    /// The bytes of a read.
    ///
    /// - Throws: `CBATTError`, which the client gets; all else becomes "unlikely error".
    func read() throws -> Data

    /// Takes written bytes.
    ///
    /// - Throws: `CBATTError`, which the client gets; all else becomes "unlikely error".
    func write(_ data: Data) throws

    /// The device goes on the air, or off with nil: values for subscribers go to `send`.
    func connect(_ send: (@Sendable (Data) -> Void)?)
}
