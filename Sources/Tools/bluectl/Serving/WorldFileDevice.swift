#if Emulator
import BluetoothBackend
import BluetoothEmulator
import Foundation

/// A world file, and the device of it that is served.
struct WorldFileDevice {
    private let contents: WorldFileContents
    /// The number of the device in the world, from 0.
    let index: Int
    let description: PeripheralDescription
    /// The parts of the file besides the devices, which only an emulated world has.
    let ignoredParts: [String]

    /// Reads the file and picks the device.
    ///
    /// - Parameter name: The name of the device, ignoring case; nil takes the only device.
    /// - Throws: A usage failure.
    init(path: String, device name: String?) throws(Failure) {
        contents = try WorldFile(path: path).contents()
        let world = try contents.description()
        let found = world.devices.indices.filter { index in
            name.map { world.devices[index].name.lowercased() == $0.lowercased() } ?? true
        }
        let names = world.devices.map { "\"\($0.name)\"" }.joined(separator: ", ")
        guard let index = found.first else {
            let rule = name.map { "there is no device \"\($0)\" among \(names)" } ?? "there is no device"
            throw contents.failure(at: "devices", rule)
        }
        guard found.count == 1 else {
            throw contents.failure(at: "devices", "there are several devices: choose one with --device: \(names)")
        }
        self.index = index
        description = world.devices[index]
        ignoredParts = [
            ("seed", world.seed != nil), ("preset", world.preset != nil),
            ("advertisingCollides", world.advertisingCollides), ("hosts", !world.hosts.isEmpty),
            ("script", !world.script.isEmpty),
        ].filter(\.1).map(\.0)
        try check()
    }

    func failure(at field: String, _ rule: String) -> Failure {
        contents.failure(at: "devices[\(index)].\(field)", rule)
    }

    /// Checks for features that only an emulated device can have.
    private func check() throws(Failure) {
        if let handler = description.handler {
            throw failure(
                at: "handler",
                "\"\(handler.rawValue)\" runs only in the emulator: serve supports values, timers and echo")
        }
        for (service, item) in description.services.enumerated() {
            for (characteristic, item) in item.characteristics.enumerated() {
                for (number, descriptor) in item.descriptors.enumerated() {
                    let path = "services[\(service)].characteristics[\(characteristic)].descriptors[\(number)]"
                    try check(descriptor, path)
                }
            }
        }
    }

    private func check(_ descriptor: DescriptorDescription, _ path: String) throws(Failure) {
        switch descriptor.uuid.bits16 {
        case 0x2901:
            guard String(data: descriptor.value, encoding: .utf8) != nil else {
                throw failure(at: "\(path).value", "a user description (2901) must be UTF-8 text")
            }
        case 0x2904: break
        default: throw failure(at: "\(path).uuid", "serve can publish only the descriptors 2901 and 2904")
        }
    }

    /// The fields of the file that an app cannot set.
    var ignoredFields: [String] {
        let plain = PeripheralDescription(name: description.name)
        var fields: [(String, Bool)] = [
            ("address", description.address != nil), ("proximity", description.proximity != plain.proximity),
            ("rssi", description.rssi != nil), ("maximumMTU", description.maximumMTU != plain.maximumMTU),
            ("connectionInterval", description.connectionInterval != nil),
            ("peripheralLatency", description.peripheralLatency != plain.peripheralLatency),
            ("supervisionTimeout", description.supervisionTimeout != nil),
            ("phy", description.phy != nil),
            ("maximumDataLength", description.maximumDataLength != plain.maximumDataLength),
            ("connectionEventLength", description.connectionEventLength != nil),
            ("packetsPerConnectionEvent", description.packetsPerConnectionEvent != nil),
            ("addressRotation", description.addressRotation != nil),
            ("packetLossRate", description.packetLossRate != plain.packetLossRate),
            ("pairing", description.pairing != plain.pairing),
        ]
        fields += description.channels.indices.map { ("channels[\($0)].psm", true) }
        let on = description.advertising.firstIndex(where: \.isEnabled)
        for (index, set) in description.advertising.enumerated() {
            if index == on { fields += ignored(of: set, "advertising[\(index)]") }
            if index != on, set.isEnabled { fields.append(("advertising[\(index)]", true)) }
        }
        for (index, service) in description.services.enumerated() {
            for (number, characteristic) in service.characteristics.enumerated() {
                let path = "services[\(index)].characteristics[\(number)].clientConfiguration"
                fields.append((path, characteristic.clientConfiguration != nil))
            }
        }
        return fields.filter(\.1).map(\.0)
    }

    private func ignored(of set: AdvertisingDescription, _ path: String) -> [(String, Bool)] {
        let plain = AdvertisingDescription(set.data)
        var fields: [(String, Bool)] = [
            ("\(path).interval", set.interval != plain.interval), ("\(path).connectable", !set.isConnectable),
            ("\(path).continuesWhileConnected", set.continuesWhileConnected), ("\(path).duration", set.duration != nil),
            ("\(path).extended", set.isExtended),
        ]
        for (part, data) in [("data", set.data), ("scanResponse", set.scanResponse ?? AdvertisingData())] {
            fields += [
                ("\(path).\(part).txPowerLevel", data.txPowerLevel != nil),
                ("\(path).\(part).solicitedServices", !data.solicitedServices.isEmpty),
            ]
        }
        return fields
    }
}
#endif
