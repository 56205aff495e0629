import BluetoothBackend
public import Foundation

/// A reference to a request of a manager.
struct RequestReference {
    let core: PeripheralCore
    let request: RequestID
    /// The request's number within the callback, from 0.
    let part: Int
}

/// A read or write request of a central.
///
/// Answer with `CBPeripheralManager.respond(to:withResult:)`, from any thread. Source: Apple, CBATTRequest.
open class CBATTRequest: NSObject {
    /// The central that sent the request.
    public let central: CBCentral

    /// The characteristic of the request, which is the app's object.
    public let characteristic: CBCharacteristic

    /// The first byte requested, counted from 0.
    public let offset: Int

    /// The bytes to write; for a read, the bytes to answer, from ``offset`` on.
    ///
    /// Not thread-safe: set it on the thread that responds.
    open var value: Data?

    /// The request in the manager; nil for a request that no manager created.
    let reference: RequestReference?

    init(
        central: CBCentral, characteristic: CBCharacteristic, offset: Int, value: Data?,
        reference: RequestReference? = nil
    ) {
        self.central = central
        self.characteristic = characteristic
        self.offset = offset
        self.value = value
        self.reference = reference
        super.init()
    }
}
