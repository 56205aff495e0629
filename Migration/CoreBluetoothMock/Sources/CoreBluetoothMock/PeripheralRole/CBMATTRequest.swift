import CoreBluetooth

/// A read or write request of a central; answer it with `CBMPeripheralManager.respond(to:withResult:)`.
///
/// Thread rule: set `value` on the thread that responds.
open class CBMATTRequest: NSObject {
    /// The origin of a request, which receives its answer.
    enum Origin {
        /// A central over the air.
        case air(CBATTRequest)
        /// A spec central, with an offset that requests of the emulator do not have.
        case spec(_ answer: (CBMATTError.Code, Data?) -> Void)
    }

    /// The central that sent the request.
    public let central: CBMCentral
    /// The characteristic of the request, which is the app's object.
    public let characteristic: CBMCharacteristic
    /// The first byte requested, counted from 0.
    public let offset: Int
    /// The bytes to write; for a read, the bytes to answer, from ``offset`` on.
    open var value: Data?

    let origin: Origin

    init(_ origin: Origin, of central: CBMCentral, at characteristic: CBMCharacteristic, offset: Int, value: Data?) {
        self.origin = origin
        self.central = central
        self.characteristic = characteristic
        self.offset = offset
        self.value = value
        super.init()
    }
}

/// A request over the selected backend.
public class CBMATTRequestNative: CBMATTRequest {}

/// A request over a simulated world.
open class CBMATTRequestMock: CBMATTRequest {}
