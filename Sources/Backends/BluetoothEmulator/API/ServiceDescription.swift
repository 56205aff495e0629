public import BluetoothBackend
public import BluetoothSupport
public import BluetoothValues

/// A service of an emulated device.
public struct ServiceDescription: Hashable, Sendable {
    /// The service's UUID.
    public var uuid: BluetoothUUID
    /// Whether the service is a primary service.
    public var isPrimary: Bool
    /// The services that the service includes; each must precede it.
    public var includes: [ServicePath]
    /// The characteristics, in handle order.
    public var characteristics: [CharacteristicDescription]

    /// Creates a service.
    public init(
        _ uuid: BluetoothUUID, isPrimary: Bool = true, includes: [ServicePath] = [],
        characteristics: [CharacteristicDescription] = []
    ) {
        self.uuid = uuid
        self.isPrimary = isPrimary
        self.includes = includes
        self.characteristics = characteristics
    }

    var handleCount: Int { 1 + includes.count + characteristics.reduce(0) { $0 + $1.handleCount } }

    /// Checks the service and everything in it.
    ///
    /// - Throws: ``DescriptionError`` naming the field and the rule.
    public func validate(path: String = "service") throws(DescriptionError) {
        for (path, part) in characteristics.located(at: "\(path).characteristics") { try part.validate(path: path) }
    }
}

/// A characteristic of an emulated device.
public struct CharacteristicDescription: Hashable, Sendable {
    /// A value that is notified periodically while a central subscribes.
    public struct Timer: Hashable, Sendable {
        /// The time between notifications; more than 0.
        public var interval: Duration
        /// The values, in turn; if empty, the stored value is notified.
        public var values: [Data]

        /// Creates a timer.
        public init(every interval: Duration, values: [Data] = []) {
            self.interval = interval
            self.values = values
        }
    }

    /// The characteristic's UUID.
    public var uuid: BluetoothUUID
    /// The properties in the characteristic's declaration.
    public var properties: CharacteristicProperties
    /// The accesses that the server permits; nil derives them from the properties.
    public var permissions: AttributePermissions?
    /// The initial value, 0...512 bytes.
    public var value: Data
    /// The longest value that can be written, 0...512 bytes.
    public var maximumLength: Int
    /// The timer that notifies values while a central subscribes.
    public var timer: Timer?
    /// Whether each writer that subscribes is notified of what it wrote.
    public var echo: Bool
    /// Whether the characteristic has a Client Characteristic Configuration; nil derives this from the properties.
    public var clientConfiguration: Bool?
    /// The descriptors other than 2902, in handle order.
    public var descriptors: [DescriptorDescription]

    /// Creates a characteristic.
    public init(
        _ uuid: BluetoothUUID, _ properties: CharacteristicProperties, value: Data = Data(),
        permissions: AttributePermissions? = nil, maximumLength: Int = ATTLimits.longestValue, timer: Timer? = nil,
        echo: Bool = false,
        clientConfiguration: Bool? = nil, descriptors: [DescriptorDescription] = []
    ) {
        self.uuid = uuid
        self.properties = properties
        self.permissions = permissions
        self.value = value
        self.maximumLength = maximumLength
        self.timer = timer
        self.echo = echo
        self.clientConfiguration = clientConfiguration
        self.descriptors = descriptors
    }

    var handleCount: Int { 2 + (hasClientConfiguration ? 1 : 0) + descriptors.count }

    var hasClientConfiguration: Bool {
        clientConfiguration ?? !properties.isDisjoint(with: [.notify, .indicate])
    }

    package var effectivePermissions: AttributePermissions {
        if let permissions { return permissions }
        var result: AttributePermissions = []
        if properties.contains(.read) { result.insert(.readable) }
        if !properties.isDisjoint(with: [.write, .writeWithoutResponse]) { result.insert(.writeable) }
        return result
    }

    func validate(path: String) throws(DescriptionError) {
        try require(
            value.count <= ATTLimits.longestValue, "\(path).value", "a value has at most 512 bytes, not \(value.count)")
        try require(
            (0...ATTLimits.longestValue).contains(maximumLength), "\(path).maximumLength", "a value has 0...512 bytes")
        if let timer {
            try require(timer.interval > .zero, "\(path).timer.interval", "the interval is more than 0")
            try require(
                !properties.isDisjoint(with: [.notify, .indicate]), "\(path).timer",
                "only what has the property notify or indicate notifies")
            for (path, value) in timer.values.located(at: "\(path).timer.values") {
                try require(value.count <= ATTLimits.longestValue, path, "a value has at most 512 bytes")
            }
        }
        for (path, part) in descriptors.located(at: "\(path).descriptors") { try part.validate(path: path) }
    }
}

/// A descriptor of an emulated device.
public struct DescriptorDescription: Hashable, Sendable {
    /// The descriptor's UUID; not 2902, which the server adds itself.
    public var uuid: BluetoothUUID
    /// The initial value, 0...512 bytes.
    public var value: Data
    /// The accesses that the server permits.
    public var permissions: AttributePermissions

    /// Creates a descriptor.
    public init(_ uuid: BluetoothUUID, value: Data, permissions: AttributePermissions = [.readable]) {
        self.uuid = uuid
        self.value = value
        self.permissions = permissions
    }

    func validate(path: String) throws(DescriptionError) {
        try require(
            uuid.bits16 != 0x2902, "\(path).uuid", "2902 is made by itself where a characteristic notifies or indicates"
        )
        try require(
            value.count <= ATTLimits.longestValue, "\(path).value", "a value has at most 512 bytes, not \(value.count)")
    }
}

/// The path of a service in a device: its UUID and, if that is not unique, its index.
public struct ServicePath: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The service's UUID.
    public var uuid: BluetoothUUID
    /// The index among the services with that UUID, in handle order, from 0.
    public var index: Int

    /// Creates the path of a service.
    public init(_ uuid: BluetoothUUID, index: Int = 0) {
        self.uuid = uuid
        self.index = max(0, index)
    }

    /// Creates the path of the first service with a UUID; traps if the literal is not a UUID.
    public init(stringLiteral text: String) {
        self.init(BluetoothUUID(stringLiteral: text))
    }
}

extension ServicePath: CustomStringConvertible {
    /// The path as text: `180F`, and `180F#1` for the second one.
    public var description: String { index == 0 ? uuid.text : "\(uuid.text)#\(index)" }
}

/// The path of a characteristic in a device: its UUID and, if that is not unique, its service and index.
public struct CharacteristicPath: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The service's UUID; nil searches all services.
    public var service: BluetoothUUID?
    /// The characteristic's UUID.
    public var uuid: BluetoothUUID
    /// The index among the matching characteristics, in handle order, from 0.
    public var index: Int

    /// Creates the path of a characteristic.
    public init(_ uuid: BluetoothUUID, service: BluetoothUUID? = nil, index: Int = 0) {
        self.service = service
        self.uuid = uuid
        self.index = max(0, index)
    }

    /// Creates the path of the first characteristic with a UUID; traps if the literal is not a UUID.
    public init(stringLiteral text: String) {
        self.init(BluetoothUUID(stringLiteral: text))
    }
}

/// An L2CAP channel that an emulated device listens for.
public struct ChannelDescription: Hashable, Sendable {
    /// The PSM that a central opens, 0x01...0xFF; 0x80...0xFF are free to use.
    ///
    /// Source: Core Specification, Vol 3, Part A, 4.22.
    public var psm: UInt16
    /// Whether the link must be encrypted.
    public var isEncryptionRequired: Bool
    /// Whether the device sends back what it receives.
    public var echo: Bool

    /// Creates a channel to listen for.
    public init(psm: UInt16, isEncryptionRequired: Bool = false, echo: Bool = false) {
        self.psm = psm
        self.isEncryptionRequired = isEncryptionRequired
        self.echo = echo
    }

    func validate(path: String) throws(DescriptionError) {
        try require((1...0xFF).contains(psm), "\(path).psm", "a channel's number is 1...255")
    }
}
