import CoreBluetooth

/// An attribute of the contract's peers, or of the services that the app publishes.
struct ContractAttribute: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The last digits of each UUID that the suite made, after the first eight.
    private static let commonTail = "-7A3D-4C5B-9E1F-2B6A8D4C0F01"

    /// The UUID; for the suite's own, the first eight digits.
    let description: String
    /// Quoted, as in lists.
    var debugDescription: String { description.debugDescription }

    init(_ uuid: String) { description = uuid.hasPrefix("C0DE") ? String(uuid.prefix(8)) : uuid }
    init(_ uuid: CBUUID) { self.init(uuid.uuidString) }

    /// Whether the suite made the UUID.
    var isOwn: Bool { description.hasPrefix("C0DE") }

    /// The whole UUID.
    var uuid: String { isOwn ? description + Self.commonTail : description }
}

extension CBUUID {
    convenience init(_ attribute: ContractAttribute) { self.init(string: attribute.uuid) }
    static func list(_ attributes: ContractAttribute...) -> [CBUUID] { attributes.map { CBUUID($0) } }
}

/// The peers "contract", "second" and "heart".
extension ContractAttribute {
    static let battery = Self("180F")
    static let batteryLevel = Self("2A19")

    static let main = Self("C0DE0001")
    /// Readable and writable; "hello" at the start.
    static let stored = Self("C0DE0101")
    /// Accepts write commands.
    static let commands = Self("C0DE0102")
    static let notifying = Self("C0DE0103")
    static let indicating = Self("C0DE0104")
    /// Readable; notifies and indicates.
    static let notifyingAndIndicating = Self("C0DE0105")
    /// 300 bytes.
    static let long = Self("C0DE0106")
    /// Refuses reads with 0x80, and writes with the written code.
    static let failing = Self("C0DE0107")
    static let writeOnly = Self("C0DE0109")
    /// 0x0A.
    static let readOnly = Self("C0DE010A")
    /// Two characteristics: 1 and 2.
    static let duplicate = Self("C0DE010B")
    static let described = Self("C0DE010C")
    /// A descriptor of `described`.
    static let ownDescriptor = Self("C0DE0D01")

    /// A secondary service, which `main` includes.
    static let included = Self("C0DE0002")
    static let includedValue = Self("C0DE0201")

    /// Two services with one characteristic each: 1 and 2.
    static let twin = Self("C0DE0003")
    static let twinValue = Self("C0DE0301")

    static let echoing = Self("C0DE0004")
    /// Notifies the written value.
    static let echo = Self("C0DE0401")

    /// The service of the peer "second".
    static let second = Self("C0DE0005")
    static let secondValue = Self("C0DE0501")

    /// Requires an encrypted link.
    static let secure = Self("C0DE0006")
    /// "safe".
    static let secret = Self("C0DE0601")
    static let secretNotifying = Self("C0DE0602")

    /// The service that is added and removed.
    static let extra = Self("C0DE0009")
    static let extraValue = Self("C0DE0901")
}

/// The services and characteristics that the app publishes.
extension ContractAttribute {
    static let served = Self("C0DE1000")
    /// Readable and writable; the app responds.
    static let dynamic = Self("C0DE1001")
    /// "static".
    static let constant = Self("C0DE1002")
    /// Notifies.
    static let updating = Self("C0DE1003")
    /// Indicates.
    static let updatingByIndication = Self("C0DE1004")
    static let commandOnly = Self("C0DE1005")
    /// Its properties promise accesses that its permissions refuse.
    static let locked = Self("C0DE1006")
    /// Requires an encrypted link.
    static let protected = Self("C0DE1007")
    static let protectedUpdating = Self("C0DE1008")
    static let dynamicWriteOnly = Self("C0DE1009")
    static let documented = Self("C0DE100A")

    static let other = Self("C0DE2000")
    static let otherValue = Self("C0DE2001")
    static let unpublished = Self("C0DE3000")
}

/// Assigned numbers.
extension ContractAttribute {
    static let genericAttribute = Self("1801")
    static let deviceInformation = Self("180A")
    static let heartRate = Self("180D")
    static let bloodPressure = Self("1810")
    static let alertNotification = Self("1811")
    static let humanInterfaceDevice = Self("1812")
    static let userDescription = Self("2901")
    static let clientConfiguration = Self("2902")
    static let presentationFormat = Self("2904")
    static let heartRateMeasurement = Self("2A37")
    static let bodySensorLocation = Self("2A38")
    static let l2capPSM = Self(CBUUIDL2CAPPSMCharacteristicString)
}
