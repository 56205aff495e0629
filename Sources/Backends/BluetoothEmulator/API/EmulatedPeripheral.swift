/// A device for the world: a valid description and, optionally, a handler.
public struct EmulatedPeripheral: Sendable {
    /// The device's advertising and services.
    public let description: PeripheralDescription
    private(set) var makeBehavior: (@Sendable () -> any DeviceBehavior)?
    private(set) var asynchronousHandler: (any AsynchronousPeripheralHandler)?
    /// The built-in handler; nil if the device has its own handler or no handler.
    private(set) var builtInHandler: BuiltInHandler?

    /// Creates a device that serves its description, or replays its recording.
    ///
    /// - Throws: ``DescriptionError`` naming the invalid field and the rule.
    public init(_ description: PeripheralDescription) throws {
        try self.init(validating: description)
        try description.validateParameters()
        if let replay = description.replay {
            makeBehavior = { RecordedBehavior(replay) }
        } else {
            makeBehavior = description.handler?.makeBehavior
            builtInHandler = description.handler
        }
    }

    /// Creates a device with a handler.
    ///
    /// - Throws: ``DescriptionError`` naming the invalid field and the rule.
    public init(_ description: PeripheralDescription, handler: some EmulatedPeripheralHandler) throws {
        try self.init(validating: description)
        makeBehavior = { HandledBehavior(handler) }
    }

    /// Creates a device with an asynchronous handler.
    ///
    /// - Throws: ``DescriptionError`` naming the invalid field and the rule.
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
