public import CoreBluetooth

// Invariant: `fields` are reached under their lock; all else is constant.
/// A read or a write of a central.
public final class EmulatedCBATTRequest: NSObject, @unchecked Sendable {
    /// The central that asks.
    public let central: EmulatedCBCentral
    /// The characteristic that it asks about.
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

    /// The bytes that are written, or the answer to a read, from the offset on.
    ///
    /// A read that is answered with nil gets the stored value.
    public var value: Data? {
        get { fields.withLock { $0.value } }
        set { fields.withLock { $0.value = newValue } }
    }

    /// - Returns: Whether it was not answered before.
    func markAnswered(_ result: CBATTError.Code) -> Bool {
        fields.withLock { fields in
            guard fields.result == nil else { return false }
            fields.result = result
            return true
        }
    }

    /// The answer that was given; nil before.
    var result: CBATTError.Code? { fields.withLock { $0.result } }
}
