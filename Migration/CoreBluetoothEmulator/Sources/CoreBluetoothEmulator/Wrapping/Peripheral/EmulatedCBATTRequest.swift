public import CoreBluetooth

// Invariant: `fields` are accessed under their lock; the rest is constant.
/// A read or a write of a central.
public final class EmulatedCBATTRequest: NSObject, @unchecked Sendable {
    /// The central that sent the request.
    public let central: EmulatedCBCentral
    /// The characteristic of the request.
    public let characteristic: EmulatedCBCharacteristic
    /// The offset of the first byte, in bytes.
    public let offset: Int
    let core: CBATTRequest
    private let fields: Guarded<(value: Data?, result: CBATTError.Code?)>

    init(
        _ core: CBATTRequest, _ central: EmulatedCBCentral, _ characteristic: EmulatedCBMutableCharacteristic
    ) {
        self.core = core
        self.central = central
        self.characteristic = characteristic
        offset = core.offset
        fields = Guarded((core.value, nil))
        super.init()
    }

    /// The bytes to write, or the answer to a read, from the offset on.
    ///
    /// A read that is answered with nil returns the stored value.
    public var value: Data? {
        get { fields.withLock { $0.value } }
        set { fields.withLock { $0.value = newValue } }
    }

    /// - Returns: Whether the request had no answer yet.
    func markAnswered(_ result: CBATTError.Code) -> Bool {
        fields.withLock { fields in
            guard fields.result == nil else { return false }
            fields.result = result
            return true
        }
    }

    /// The answer; nil before it was given.
    var result: CBATTError.Code? { fields.withLock { $0.result } }
}
