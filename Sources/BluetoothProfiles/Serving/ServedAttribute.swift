public import CoreBluetooth

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
