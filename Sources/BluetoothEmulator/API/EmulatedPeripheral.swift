/// A device to put on the air: a valid description and, if wanted, a handler.
public struct EmulatedPeripheral: Sendable {
    /// What it advertises and serves.
    public let description: PeripheralDescription
    let makeBehaviour: (@Sendable () -> any DeviceBehaviour)?
    let asynchronousHandler: (any AsynchronousPeripheralHandler)?
    /// The built-in handler; nil if the device has its own or none.
    let builtInHandler: BuiltInHandler?

    /// A device that serves what its description holds.
    ///
    /// - Throws: ``DescriptionError`` naming the impossible field and the rule.
    public init(_ description: PeripheralDescription) throws {
        try description.validate()
        self.description = description
        try description.validateParameters()
        makeBehaviour = description.handler?.makeBehaviour
        asynchronousHandler = nil
        builtInHandler = description.handler
    }

    /// A device with a handler.
    ///
    /// - Throws: ``DescriptionError`` naming the impossible field and the rule.
    public init(_ description: PeripheralDescription, handler: some EmulatedPeripheralHandler) throws {
        try description.validate()
        self.description = description
        makeBehaviour = { HandledBehaviour(handler) }
        asynchronousHandler = nil
        builtInHandler = nil
    }

    /// A device with an asynchronous handler.
    ///
    /// - Throws: ``DescriptionError`` naming the impossible field and the rule.
    public init(_ description: PeripheralDescription, handler: some AsynchronousPeripheralHandler) throws {
        try description.validate()
        self.description = description
        try description.validateParameters()
        makeBehaviour = nil
        asynchronousHandler = handler
        builtInHandler = nil
    }
}
