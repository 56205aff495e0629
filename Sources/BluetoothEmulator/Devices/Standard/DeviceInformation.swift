import BluetoothBackend
public import BluetoothSupport

/// What a maker says of its device.
///
/// Source: Device Information Service 1.2, 3.
public struct DeviceInformation: Hashable, Sendable {
    /// Who makes it: 2A29.
    public var manufacturer: String?
    /// The model: 2A24.
    public var model: String?
    /// The number of this piece: 2A25.
    public var serialNumber: String?
    /// The revision of the hardware: 2A27.
    public var hardwareRevision: String?
    /// The revision of the firmware: 2A26.
    public var firmwareRevision: String?
    /// The revision of the software: 2A28.
    public var softwareRevision: String?
    /// The System ID: 2A23.
    public var systemID: SystemID?
    /// The IEEE 11073-20601 regulatory certification data list: 2A2A.
    public var regulatoryCertification: Data?
    /// The vendor's and the product's number: 2A50.
    public var plugAndPlayID: PlugAndPlayID?

    /// A maker's number and the number that it gave.
    public struct SystemID: Hashable, Sendable {
        /// The maker's own number, 40 bits.
        public var manufacturerIdentifier: UInt64
        /// The number that the IEEE gave the maker, 24 bits.
        public var organizationallyUniqueIdentifier: UInt32

        /// Takes the low 40 and the low 24 bits.
        public init(manufacturerIdentifier: UInt64, organizationallyUniqueIdentifier: UInt32) {
            self.manufacturerIdentifier = manufacturerIdentifier & 0xFF_FFFF_FFFF
            self.organizationallyUniqueIdentifier = organizationallyUniqueIdentifier & 0xFF_FFFF
        }

        var data: Data { Data(littleEndian: UInt64(organizationallyUniqueIdentifier) << 40 | manufacturerIdentifier) }
    }

    /// What identifies a product to a system.
    public struct PlugAndPlayID: Hashable, Sendable {
        /// Who gave the vendor its number.
        public enum Source: UInt8, Hashable, Sendable {
            /// The Bluetooth SIG.
            case bluetooth = 1
            /// The USB Implementers Forum.
            case usb = 2
        }

        /// Who gave the vendor its number.
        public var source: Source
        /// The vendor.
        public var vendor: UInt16
        /// The vendor's number of the product.
        public var product: UInt16
        /// The product's version, as 0xJJMN for JJ.M.N.
        public var version: UInt16

        /// A product.
        public init(source: Source, vendor: UInt16, product: UInt16, version: UInt16) {
            self.source = source
            self.vendor = vendor
            self.product = product
            self.version = version
        }

        var data: Data {
            var data = Data([source.rawValue])
            for number in [vendor, product, version] { data.append(littleEndian: number) }
            return data
        }
    }

    /// What a maker says; what is nil has no characteristic.
    public init(
        manufacturer: String? = nil, model: String? = nil, serialNumber: String? = nil,
        hardwareRevision: String? = nil, firmwareRevision: String? = nil, softwareRevision: String? = nil,
        systemID: SystemID? = nil, regulatoryCertification: Data? = nil, plugAndPlayID: PlugAndPlayID? = nil
    ) {
        self.manufacturer = manufacturer
        self.model = model
        self.serialNumber = serialNumber
        self.hardwareRevision = hardwareRevision
        self.firmwareRevision = firmwareRevision
        self.softwareRevision = softwareRevision
        self.systemID = systemID
        self.regulatoryCertification = regulatoryCertification
        self.plugAndPlayID = plugAndPlayID
    }
}

extension ServiceDescription {
    /// The Device Information Service, with a characteristic for each thing that is said.
    public static func deviceInformation(_ information: DeviceInformation) -> ServiceDescription {
        func text(_ text: String?) -> Data? { text.map { Data($0.utf8) } }
        let values: [(CharacteristicDescription, Data?)] = [
            (CharacteristicDescription("2A29", .read), text(information.manufacturer)),
            (CharacteristicDescription("2A24", .read), text(information.model)),
            (CharacteristicDescription("2A25", .read), text(information.serialNumber)),
            (CharacteristicDescription("2A27", .read), text(information.hardwareRevision)),
            (CharacteristicDescription("2A26", .read), text(information.firmwareRevision)),
            (CharacteristicDescription("2A28", .read), text(information.softwareRevision)),
            (CharacteristicDescription("2A23", .read), information.systemID?.data),
            (CharacteristicDescription("2A2A", .read), information.regulatoryCertification),
            (CharacteristicDescription("2A50", .read), information.plugAndPlayID?.data),
        ]
        return ServiceDescription(
            "180A",
            characteristics: values.compactMap { characteristic, value in
                guard let value else { return nil }
                var characteristic = characteristic
                characteristic.value = value
                return characteristic
            })
    }
}

extension PeripheralDescription {
    /// A device that says everything that a maker can say of it.
    public static let deviceInformation = deviceInformation(
        DeviceInformation(
            manufacturer: "Emulated Devices", model: "DIS-1", serialNumber: "0001", hardwareRevision: "A",
            firmwareRevision: "1.0.0", softwareRevision: "1.0.0",
            systemID: .init(manufacturerIdentifier: 0x12_3456_789A, organizationallyUniqueIdentifier: 0xBC_DEF0),
            regulatoryCertification: Data([0, 0, 0, 0]),
            plugAndPlayID: .init(source: .bluetooth, vendor: 0xFFFF, product: 1, version: 0x0100)))

    /// A device with nothing but what its maker says of it.
    public static func deviceInformation(_ information: DeviceInformation) -> PeripheralDescription {
        PeripheralDescription(
            name: "Device Information", address: "C0:DE:00:00:18:0A",
            advertising: [AdvertisingDescription(AdvertisingData(localName: "Device Information", services: ["180A"]))],
            services: [.deviceInformation(information)], handler: .deviceInformation)
    }
}
