import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport

// The commands of devices: `/v1/devices`, `/v1/devices/7` and the paths below.
extension LiveWorld {
    func answerDevices(_ request: LiveRequest, _ parts: [Substring]) async throws(LiveError) -> LiveAnswer {
        guard let number = parts.first else {
            guard request.method == "POST" else { throw .notFound("\(request.method) \(request.path)") }
            return try await addDevice(request.body)
        }
        let device = try device(number)
        switch (request.method, parts.dropFirst().first, parts.count) {
        case ("GET", nil, 1): return try await details(of: device)
        case ("DELETE", nil, 1):
            try requireDescribed(device)
            // The name finds the device only before its removal.
            let source = source(of: device)
            device.remove()
            add("\(source).remove()")
        case ("PATCH", nil, 1): try change(device, request.body)
        case ("POST", let action?, 2): try perform(action, on: device, request)
        case ("DELETE", "faults", 2): try removeFaults(request.body, of: device)
        case ("DELETE", "keys", 2): try loseKeys(of: device, host: request.query["host"])
        case ("DELETE", "connect", 2):
            let host = try host(Substring(request.query["host"] ?? ""))
            host.disconnectOtherApp(from: device)
            add("\(source(of: host)).disconnectOtherApp(from: \(source(of: device)))")
        default: throw .notFound("\(request.method) \(request.path)")
        }
        return try await done()
    }

    private func device(_ text: Substring) throws(LiveError) -> EmulatedDevice {
        guard let number = UInt32(text), let device = emulator.device(number: number) else {
            throw .notFound("device \(text)")
        }
        return device
    }

    func requireDescribed(_ device: EmulatedDevice, path: String = "") throws(LiveError) {
        guard emulator.devices.contains(device) else {
            throw LiveError(409, "the device is what the apps of its host publish", path: path)
        }
    }

    private func addDevice(_ body: Data) async throws(LiveError) -> LiveAnswer {
        let added: EmulatedDevice
        do {
            added = try emulator.add(PeripheralDescription(json: body))
        } catch let error as DescriptionError {
            throw .invalid(error.path, error.rule)
        } catch {
            throw .invalid("", "\(error)")
        }
        add("try emulator.add(PeripheralDescription(json: Data(\(Self.literal(body)).utf8)))")
        return try await done(id: added.number)
    }

    /// Returns JSON as a raw literal of Swift, on one line.
    private static func literal(_ json: Data) -> String {
        let text = String(decoding: json, as: UTF8.self).split(whereSeparator: \.isNewline).joined(separator: " ")
        var hashes = "#"
        while text.contains("\"" + hashes) { hashes += "#" }
        return "\(hashes)\"\(text)\"\(hashes)"
    }

    // MARK: Actions

    private func perform(_ action: Substring, on device: EmulatedDevice, _ request: LiveRequest) throws(LiveError) {
        let source = source(of: device)
        switch action {
        case "values": try changeValue(of: device, request.body)
        case "disconnect":
            let isSilent: Bool = try isSilent(request.body)
            if isSilent { device.reset() } else { device.disconnect() }
            add(isSilent ? "\(source).reset()" : "\(source).disconnect()")
        case "address":
            _ = try CommandFields(request.body)
            try requireDescribed(device)
            device.rotateAddress()
            add("\(source).rotateAddress()")
        case "connect":
            let number: Int = try CommandFields(request.body, "host").required("host")
            let host = try host("\(number)")
            host.connectOtherApp(to: device)
            add("\(self.source(of: host)).connectOtherApp(to: \(source))")
        case "passkey":
            let passkey: Int = try CommandFields(request.body, "passkey").required("passkey")
            guard (0...999_999).contains(passkey) else { throw .invalid("passkey", "a passkey is 0...999999") }
            try requireDescribed(device)
            device.enterPasskey(passkey)
            add("\(source).enterPasskey(\(passkey))")
        case "faults": try inject(request.body, into: device)
        case "resume":
            _ = try CommandFields(request.body)
            device.resume()
            add("\(source).resume()")
        default: throw .notFound("\(request.method) \(request.path)")
        }
    }

    private func isSilent(_ body: Data) throws(LiveError) -> Bool {
        guard !body.isEmpty, body != Data("{}".utf8) else { return false }
        return try CommandFields(body, "silent").value("silent") ?? false
    }

    // MARK: Faults and keys

    private func fault(_ body: Data) throws(LiveError) -> DeviceFault {
        do {
            return try DeviceFault(json: body)
        } catch {
            throw .invalid(error.path, error.rule)
        }
    }

    private func inject(_ body: Data, into device: EmulatedDevice) throws(LiveError) {
        let fault = try fault(body)
        device.inject(fault)
        add("\(source(of: device)).inject(\(fault.source))")
    }

    /// Removes the faults like one, and resumes the steps that they paused; without one, all faults.
    private func removeFaults(_ body: Data, of device: EmulatedDevice) throws(LiveError) {
        let source = source(of: device)
        guard !body.isEmpty, body != Data("{}".utf8) else {
            device.clearFaults()
            add("\(source).clearFaults()")
            return
        }
        let fault = try fault(body)
        device.removeFault(fault)
        add("\(source).removeFault(\(fault.source))")
        guard fault.effect == .pause else { return }
        device.resume()
        add("\(source).resume()")
    }

    /// Deletes the device's keys of a host, or of all hosts.
    private func loseKeys(of device: EmulatedDevice, host number: String?) throws(LiveError) {
        let host: EmulatedHost?
        if let number { host = try self.host(Substring(number)) } else { host = nil }
        device.removeBond(with: host)
        add("\(source(of: device)).removeBond(\(host.map { "with: \(source(of: $0))" } ?? ""))")
    }

    // MARK: Values

    private func changeValue(of device: EmulatedDevice, _ body: Data) throws(LiveError) {
        let fields = try CommandFields(
            body, "characteristic", "service", "index", "descriptor", "value", "text", "number", "notify")
        try requireDescribed(device)
        let path = CharacteristicPath(
            try requiredUUID("characteristic", fields), service: try uuid("service", fields),
            index: try fields.value("index") ?? 0)
        let content = try ValueContent(fields)
        guard let present = device.value(of: path) else {
            throw .invalid("characteristic", "the device has no characteristic \(path.uuid)")
        }
        let value = try content.bytes { ValueType.of(path, at: device, present) }
        guard value.count <= ATTLimits.longestValue else {
            throw .invalid("value", "a value has at most \(ATTLimits.longestValue) bytes, not \(value.count)")
        }
        let isNotified: Bool = try fields.value("notify") ?? false
        let (source, characteristic) = (source(of: device), path.source)
        let data = "Data([\(value.map { "\($0)" }.joined(separator: ", "))])"
        if let descriptor = try uuid("descriptor", fields) {
            if case .number = content { throw .invalid("number", "the value of a descriptor is text or bytes") }
            guard !isNotified else { throw .invalid("notify", "only values of characteristics are notified") }
            guard device.value(ofDescriptor: descriptor, of: path) != nil else {
                throw .invalid("descriptor", Self.missing(descriptor, of: path))
            }
            device.setValue(value, ofDescriptor: descriptor, of: path)
            add("\(source).setValue(\(data), ofDescriptor: \"\(descriptor)\", of: \(characteristic))")
        } else if isNotified {
            device.notify(path, value: value)
            add("\(source).notify(\(characteristic), value: \(data))")
        } else {
            device.setValue(value, of: path)
            add("\(source).setValue(\(data), of: \(characteristic))")
        }
    }

    private static func missing(_ descriptor: BluetoothUUID, of path: CharacteristicPath) -> String {
        descriptor.bits16 == 0x2902
            ? "each central has a 2902 of its own" : "the characteristic \(path.uuid) has no descriptor \(descriptor)"
    }

    private func uuid(_ name: String, _ fields: CommandFields) throws(LiveError) -> BluetoothUUID? {
        fields.isPresent(name) ? try requiredUUID(name, fields) : nil
    }

    private func requiredUUID(_ name: String, _ fields: CommandFields) throws(LiveError) -> BluetoothUUID {
        let text: String = try fields.required(name)
        guard let uuid = BluetoothUUID(text) else { throw .invalid(name, "\"\(text)\" is no UUID") }
        return uuid
    }
}
