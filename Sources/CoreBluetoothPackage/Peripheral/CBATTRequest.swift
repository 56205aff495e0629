public import Foundation

/// A read or write that a central asks for.
///
/// Answer with `CBPeripheralManager.respond(to:withResult:)`, from any thread. Source: Apple, CBATTRequest.
open class CBATTRequest: NSObject {
    /// Who asks.
    public let central: CBCentral

    /// The characteristic asked for: the app's own object.
    public let characteristic: CBCharacteristic

    /// The first byte asked for, counted from 0.
    public let offset: Int

    /// The bytes to write; for a read, the bytes to answer, from ``offset`` on.
    open var value: Data?

    /// Makes a request.
    init(central: CBCentral, characteristic: CBCharacteristic, offset: Int, value: Data?) {
        self.central = central
        self.characteristic = characteristic
        self.offset = offset
        self.value = value
        super.init()
    }
}
