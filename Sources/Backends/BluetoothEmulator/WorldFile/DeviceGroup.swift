import BluetoothBackend
import BluetoothSupport

/// An entry of a world file that describes one device, or several of a kind: `{"name": "Tag {n}", "count": 50}`.
struct DeviceGroup: Codable, Sendable {
    /// The field with the number of devices.
    static let countField = "count"
    /// The text that a name contains in place of the device's number, from 1.
    private static let placeholder = "{n}"
    /// The limit on the devices of a world file; real files have fewer.
    static let maximumDevices = 10_000

    var device: PeripheralDescription
    /// The number of devices; nil for a single device whose name is used unchanged.
    var count: Int?

    init(_ device: PeripheralDescription) { self.device = device }

    init(from decoder: any Decoder) throws {
        self = try decoder.collecting(DeviceGroup(PeripheralDescription(name: ""))) {
            try DeviceGroup(reading: decoder)
        }
    }

    private init(reading decoder: any Decoder) throws {
        device = try PeripheralDescription.fields.read(decoder, beside: [Self.countField])
        let field = FieldReader(
            container: try decoder.container(keyedBy: FieldName.self), name: Self.countField)
        count = try field.value()
        guard (1...Self.maximumDevices).contains(count ?? 1) else {
            throw field.error("the number of devices is 1...\(Self.maximumDevices)")
        }
    }

    func encode(to encoder: any Encoder) throws { try device.encode(to: encoder) }

    /// The devices.
    var devices: [PeripheralDescription] {
        guard let count else { return [device] }
        return (1...count).map { number in
            var copy = device
            copy.name = Self.insert(number, in: device.name)
            copy.address = device.address.map { DeviceAddress(bits: ($0.bits + UInt64(number - 1)) & 0xFFFF_FFFF_FFFF) }
            for index in copy.advertising.indices { copy.advertising[index].insert(number) }
            return copy
        }
    }

    fileprivate static func insert(_ number: Int, in name: String) -> String {
        name.replacing(placeholder, with: "\(number)")
    }
}

extension AdvertisingDescription {
    /// Inserts the number of a device into its names.
    fileprivate mutating func insert(_ number: Int) {
        data.localName = data.localName.map { DeviceGroup.insert(number, in: $0) }
        guard let name = scanResponse?.localName else { return }
        scanResponse?.localName = DeviceGroup.insert(number, in: name)
    }
}

extension WorldDescription {
    /// The devices with distinct addresses: of several with one name, only the first has the address derived from the
    /// name alone.
    var addressedDevices: [PeripheralDescription] {
        var occurrences: [String: Int] = [:]
        return devices.map { device in
            guard device.address == nil else { return device }
            let number = occurrences[device.name, default: 0] + 1
            occurrences[device.name] = number
            guard number > 1 else { return device }
            var copy = device
            copy.address = PeripheralDescription.address(derivedFrom: "\(device.name) \(number)")
            return copy
        }
    }

    /// Returns a field's path in the world file, in which one entry may describe several devices.
    ///
    /// - Parameter path: A path such as `devices[37].rssi`.
    package static func pathInFile(_ path: String, of json: Data) -> String {
        struct Counts: Decodable {
            struct Count: Decodable { var count: Int? }
            var devices: [Count]?
        }
        // A file whose count is not a number has another mistake, whose path is already that of the file.
        let counts = try? JSONDecoder().decode(Counts.self, from: json).devices
        return pathInFile(path, (counts ?? []).enumerated().flatMap { Array(repeating: $0, count: $1.count ?? 1) })
    }

    /// - Parameter entries: For each device, the number of the entry that describes it.
    static func pathInFile(_ path: String, _ entries: [Int]) -> String {
        let parts = path.split(separator: "]", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, first.hasPrefix("devices["), let number = Int(first.dropFirst(8)),
            entries.indices.contains(number)
        else { return path }
        return "devices[\(entries[number])]" + (parts.dropFirst().first ?? "")
    }
}
