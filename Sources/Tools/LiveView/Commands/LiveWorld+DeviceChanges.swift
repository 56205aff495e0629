import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport

// The command `PATCH /v1/devices/7`, which changes all of its fields or none.
extension LiveWorld {
    func change(_ device: EmulatedDevice, _ body: Data) throws(LiveError) {
        let fields = try CommandFields(
            body, "proximity", "rssi", "name", "advertising", "advertisingInterval", "parameters")
        let proximity = try proximity(fields)
        let isRSSIReset = try fields.isNull("rssi")
        let rssi: Int? = isRSSIReset ? nil : try fields.value("rssi")
        if let rssi, !(-127...20).contains(rssi) { throw .invalid("rssi", "the signal strength is -127...20 dBm") }
        let name = try name(fields, of: device)
        let isAdvertising: Bool? = try fields.value("advertising")
        if isAdvertising != nil { try requireDescribed(device, path: "advertising") }
        let sets = try advertisingSets(fields, of: device)
        let parameters: [String: Double] = try fields.value("parameters") ?? [:]
        try check(parameters, of: device)

        let source = source(of: device)
        if let proximity {
            device.setProximity(proximity)
            add("\(source).setProximity(.\(proximity))")
        }
        if rssi != nil || isRSSIReset {
            device.setRSSI(rssi)
            add("\(source).setRSSI(\(rssi.map { "\($0)" } ?? "nil"))")
        }
        if let (interval, descriptions) = sets { set(descriptions, interval, of: device) }
        if let isAdvertising {
            device.setAdvertising(isAdvertising)
            add("\(source).setAdvertising(\(isAdvertising))")
        }
        for (parameter, value) in parameters.sorted(by: { $0.key < $1.key }) {
            device.set(DeviceParameter(rawValue: parameter), to: value)
            add("\(source).set(\(parameter.quoted), to: \(value))")
        }
        if let name {
            device.rename(name)
            add("\(source).rename(\(name.quoted))")
        }
    }

    private func proximity(_ fields: CommandFields) throws(LiveError) -> Proximity? {
        guard let text: String = try fields.value("proximity") else { return nil }
        guard let proximity = Proximity(rawValue: text) else {
            let names = Proximity.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalid("proximity", "the proximities are \(names)")
        }
        return proximity
    }

    /// Returns a new advertising interval, and the advertising sets with it; nil without a change.
    private func advertisingSets(
        _ fields: CommandFields, of device: EmulatedDevice
    ) throws(LiveError) -> (Duration, [AdvertisingDescription])? {
        guard let seconds: Double = try fields.value("advertisingInterval") else { return nil }
        try requireDescribed(device, path: "advertisingInterval")
        let interval = Duration.seconds(seconds)
        guard var sets = device.presentDescription?.advertising, !sets.isEmpty else {
            throw .invalid("advertisingInterval", "the device has nothing to advertise")
        }
        for index in sets.indices {
            sets[index].interval = interval
            do {
                try sets[index].validate()
            } catch {
                throw .invalid("advertisingInterval", error.rule)
            }
        }
        return (interval, sets)
    }

    /// Replaces advertising sets that were checked.
    private func set(_ descriptions: [AdvertisingDescription], _ interval: Duration, of device: EmulatedDevice) {
        let source = source(of: device)
        for (index, description) in descriptions.enumerated() {
            do {
                try device.setAdvertising(description, set: index)
            } catch {
                preconditionFailure("the set was checked: \(error)")
            }
        }
        add(
            "for (index, var set) in (\(source).presentDescription?.advertising ?? []).enumerated() { "
                + "set.interval = \(HandRecord.source(of: interval)); "
                + "try \(source).setAdvertising(set, set: index) }")
    }

    private func name(_ fields: CommandFields, of device: EmulatedDevice) throws(LiveError) -> String? {
        guard let name: String = try fields.value("name") else { return nil }
        guard (1...248).contains(name.utf8.count) else { throw .invalid("name", "a name has 1...248 bytes") }
        try requireDescribed(device, path: "name")
        return name
    }

    private func check(_ parameters: [String: Double], of device: EmulatedDevice) throws(LiveError) {
        let known = device.presentDescription?.handler?.parameters ?? [:]
        for name in parameters.keys.sorted() where known[DeviceParameter(rawValue: name)] == nil {
            let names = known.keys.map(\.rawValue).sorted().joined(separator: ", ")
            throw .invalid(
                "parameters.\(name)", names.isEmpty ? "the device has no parameters" : "the parameters are \(names)")
        }
    }

    /// Returns the source of a device in a test: by its name if no other device has it.
    func source(of device: EmulatedDevice) -> String {
        let devices = emulator.devices
        if !device.name.isEmpty, devices.count(where: { $0.name == device.name }) == 1 {
            return "try #require(emulator.device(named: \(device.name.quoted)))"
        }
        if let index = devices.firstIndex(of: device) { return "emulator.devices[\(index)]" }
        let host = emulator.hosts.first { $0.peripheral == device }
        return "try #require(\(host.map(source(of:)) ?? "emulator.host").peripheral)"
    }
}

extension CharacteristicPath {
    /// The Swift source of the path.
    var source: String {
        let service = service.map { ", service: \"\($0.text)\"" } ?? ""
        return "CharacteristicPath(\"\(uuid.text)\"\(service)\(index > 0 ? ", index: \(index)" : ""))"
    }
}

extension DeviceFault {
    /// The Swift source of the fault.
    var source: String {
        let effect =
            switch effect {
            case .fail(let code): ".fail(ATTCode(rawValue: \(code.rawValue)))"
            case .delay(let time), .delayAnswer(let time): ".\(effect.name)(\(HandRecord.source(of: time)))"
            case .pause, .disconnect, .loseAnswer, .corrupt: ".\(effect.name)"
            }
        let path = characteristic.map { ", of: \($0.source)" } ?? ""
        return "DeviceFault(.\(step), \(effect)\(path), skip: \(skip), count: \(count.map { "\($0)" } ?? "nil"))"
    }
}
