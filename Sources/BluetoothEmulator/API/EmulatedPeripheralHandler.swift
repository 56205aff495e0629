public import BluetoothBackend
public import BluetoothSupport
public import BluetoothValues

/// The behaviour of an emulated device: answers requests and reacts to events.
///
/// All functions run inside a step of the world: they must be quick and pure, change nothing but `state`, and add
/// actions to `device`. The emulator never runs them concurrently for one device. A handler that must wait is an
/// ``AsynchronousPeripheralHandler``.
public protocol EmulatedPeripheralHandler: Sendable {
    /// The state of the device.
    associatedtype State: Sendable

    /// The state of a device that was just switched on.
    func makeState() -> State

    /// Answers a read or a write; called when the attribute's permissions allow it.
    ///
    /// ``PeripheralResponse/stored`` leaves it to the server: it returns the stored value, or stores the new one.
    func respond(
        to request: PeripheralRequest, state: inout State, device: inout DeviceActions
    ) -> PeripheralResponse

    /// Answers a discovery or a subscription, each time a central asks for one over the air.
    func respond(
        to procedure: PeripheralProcedure, of central: CentralIdentity, state: inout State, device: inout DeviceActions
    ) -> ProcedureResponse

    /// Reacts to connections, subscriptions, timers and changes of parameters.
    func handle(_ event: DeviceEvent, state: inout State, device: inout DeviceActions)
}

extension EmulatedPeripheralHandler {
    /// Leaves everything to the server.
    public func respond(
        to request: PeripheralRequest, state: inout State, device: inout DeviceActions
    ) -> PeripheralResponse { .stored }

    /// Grants everything.
    public func respond(
        to procedure: PeripheralProcedure, of central: CentralIdentity, state: inout State, device: inout DeviceActions
    ) -> ProcedureResponse { .granted }

    /// Does nothing.
    public func handle(_ event: DeviceEvent, state: inout State, device: inout DeviceActions) {}
}

extension EmulatedPeripheralHandler where State == Void {
    /// Remembers nothing.
    public func makeState() {}
}

/// The central that asks, as the device knows it.
public struct CentralIdentity: Hashable, Sendable {
    /// The name of its host.
    public var host: String
    /// Its address.
    public var address: DeviceAddress
    /// The ATT MTU of its link, in bytes.
    public var mtu: Int
}

/// A read or a write that a central asks for.
public struct PeripheralRequest: Hashable, Sendable {
    /// What is asked.
    public enum Kind: Hashable, Sendable {
        /// The whole value; the link cuts it to size.
        case read
        /// Stores a value and answers.
        case write(Data)
        /// Stores a value without an answer.
        case writeCommand(Data)
    }

    /// The central that asks.
    public var central: CentralIdentity
    /// What is asked.
    public var kind: Kind
    /// The attribute.
    public var attribute: AttributeID
    /// The type of its service.
    public var service: BluetoothUUID
    /// The type of its characteristic.
    public var characteristic: BluetoothUUID
    /// The type of the descriptor, if it is one.
    public var descriptor: BluetoothUUID?

    /// The bytes of a write, nil for a read.
    public var writtenValue: Data? {
        switch kind {
        case .read: nil
        case .write(let value), .writeCommand(let value): value
        }
    }
}

/// A device's answer to a request.
public enum PeripheralResponse: Hashable, Sendable {
    /// The server does it with the stored value.
    case stored
    /// The value of a read, 0...512 bytes.
    case value(Data)
    /// The write is accepted; nothing is stored.
    case accepted
    /// The request is refused.
    case error(ATTCode)
    /// There is no answer, ever; after 30 s the central drops the link (Core Specification, Vol 3, Part F, 3.3.3).
    case unanswered
}

/// An event of a device.
public enum DeviceEvent: Hashable, Sendable {
    /// A central connected.
    case connected(CentralIdentity)
    /// A central disconnected.
    case disconnected(CentralIdentity)
    /// A central subscribed to a characteristic.
    case subscribed(CentralIdentity, AttributeID, characteristic: BluetoothUUID)
    /// A central unsubscribed from a characteristic; a disconnection brings no such event.
    case unsubscribed(CentralIdentity, AttributeID, characteristic: BluetoothUUID)
    /// A timer of the device's is due.
    case timer(Int)
    /// A test, a tool or a world file set a parameter: ``EmulatedDevice/set(_:to:)``.
    case parameterChanged(DeviceParameter, Double)
    /// A central opened an L2CAP channel.
    case channelOpened(CentralIdentity, ChannelID, psm: UInt16)
    /// Bytes arrived on an L2CAP channel.
    case channelReceived(ChannelID, Data)
    /// An L2CAP channel is over, by the central or with its link.
    case channelClosed(ChannelID)
}

/// A procedure of a central besides reading and writing, which a device may refuse.
public enum PeripheralProcedure: Hashable, Sendable {
    /// Looks for services.
    case discoverServices
    /// Looks for the services that a service includes.
    case discoverIncludedServices(of: BluetoothUUID)
    /// Looks for the characteristics of a service.
    case discoverCharacteristics(of: BluetoothUUID)
    /// Looks for the descriptors of a characteristic.
    case discoverDescriptors(of: BluetoothUUID)
    /// Writes the Client Characteristic Configuration of a characteristic, to subscribe to its value.
    case subscribe(to: BluetoothUUID)
    /// Writes the Client Characteristic Configuration of a characteristic, to hear no more.
    case unsubscribe(from: BluetoothUUID)
}

/// A device's answer to a procedure.
public enum ProcedureResponse: Hashable, Sendable {
    /// The server does it.
    case granted
    /// The procedure is refused.
    case error(ATTCode)
    /// There is no answer, ever; after 30 s the central drops the link (Core Specification, Vol 3, Part F, 3.3.3).
    case unanswered
}

/// The behaviour of an emulated device whose answers come from elsewhere: another task, a file, a socket.
///
/// Each request runs in a task of its own, outside the world. Virtual time stands until the answer is there; late
/// answers are made by sleeping on ``Emulator/swiftClock``, which lets time go on.
public protocol AsynchronousPeripheralHandler: Sendable {
    /// Answers a read or a write; called when the attribute's permissions allow it.
    func respond(to request: PeripheralRequest) async -> PeripheralResponse
}

/// A device to put on the air: a valid description and, if wanted, a handler.
public struct EmulatedPeripheral: Sendable {
    /// Its advertising and services.
    public let description: PeripheralDescription
    private(set) var makeBehaviour: (@Sendable () -> any DeviceBehaviour)?
    private(set) var asynchronousHandler: (any AsynchronousPeripheralHandler)?
    /// The built-in handler; nil if the device has its own or none.
    private(set) var builtInHandler: BuiltInHandler?

    /// A device that serves what its description holds, or plays its recording.
    ///
    /// - Throws: ``DescriptionError`` naming the impossible field and the rule.
    public init(_ description: PeripheralDescription) throws {
        try self.init(validating: description)
        try description.validateParameters()
        if let replay = description.replay {
            makeBehaviour = { RecordedBehaviour(replay) }
        } else {
            makeBehaviour = description.handler?.makeBehaviour
            builtInHandler = description.handler
        }
    }

    /// A device with a handler.
    ///
    /// - Throws: ``DescriptionError`` naming the impossible field and the rule.
    public init(_ description: PeripheralDescription, handler: some EmulatedPeripheralHandler) throws {
        try self.init(validating: description)
        makeBehaviour = { HandledBehaviour(handler) }
    }

    /// A device with an asynchronous handler.
    ///
    /// - Throws: ``DescriptionError`` naming the impossible field and the rule.
    public init(_ description: PeripheralDescription, handler: some AsynchronousPeripheralHandler) throws {
        try self.init(validating: description)
        try description.validateParameters()
        asynchronousHandler = handler
    }

    private init(validating description: PeripheralDescription) throws {
        try description.validate()
        self.description = description
    }
}

/// A handler with its state, without its type.
protocol DeviceBehaviour: Sendable {
    /// Begins, with the attributes of the device that was just switched on.
    mutating func begin(_ database: AttributeDatabase, address: DeviceAddress, seed: UInt64)
    /// The time from the request to the answer that follows; nil for what the link and the settings say.
    ///
    /// - Parameter written: The value of a write.
    mutating func responseTime(_ step: DeviceFault.Step, _ attribute: AttributeID, _ written: Data?) -> Duration?
    mutating func respond(to request: PeripheralRequest, device: inout DeviceActions) -> PeripheralResponse
    mutating func respond(
        to procedure: PeripheralProcedure, of central: CentralIdentity, device: inout DeviceActions
    ) -> ProcedureResponse
    mutating func handle(_ event: DeviceEvent, device: inout DeviceActions)
}

extension DeviceBehaviour {
    mutating func begin(_ database: AttributeDatabase, address: DeviceAddress, seed: UInt64) {}
    mutating func responseTime(_ step: DeviceFault.Step, _ attribute: AttributeID, _ written: Data?) -> Duration? {
        nil
    }
}

struct HandledBehaviour<Handler: EmulatedPeripheralHandler>: DeviceBehaviour {
    let handler: Handler
    var state: Handler.State

    init(_ handler: Handler) {
        self.handler = handler
        state = handler.makeState()
    }

    mutating func respond(to request: PeripheralRequest, device: inout DeviceActions) -> PeripheralResponse {
        handler.respond(to: request, state: &state, device: &device)
    }

    mutating func respond(
        to procedure: PeripheralProcedure, of central: CentralIdentity, device: inout DeviceActions
    ) -> ProcedureResponse {
        handler.respond(to: procedure, of: central, state: &state, device: &device)
    }

    mutating func handle(_ event: DeviceEvent, device: inout DeviceActions) {
        handler.handle(event, state: &state, device: &device)
    }
}
