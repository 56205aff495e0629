import BluetoothBackend
import BluetoothSupport

// Lines of the trace that say why something does not happen.
extension World {
    /// Notes which devices a scan that starts will not report, and why: ten at most.
    mutating func noteSilentDevices(for parameters: ScanParameters, on host: Int) {
        guard trace.isOn else { return }
        var count = 0
        for ref in devices.refs where devices[ref]?.host != host {
            guard let device = devices[ref], let reason = silence(of: device, for: parameters) else { continue }
            count += 1
            guard count <= 10 else { return }
            trace.note("device \(ref.serial) \"\(device.name)\" will not be discovered: \(reason)", at: now)
        }
    }

    private func silence(of device: Device, for parameters: ScanParameters) -> String? {
        if !device.signal.isOn { return "its host is off" }
        if !device.signal.isInRange { return "it is out of range" }
        if device.advertiser.sets.isEmpty { return "it has no advertising set" }
        let enabled = device.advertiser.sets.filter(\.isEnabled)
        if enabled.isEmpty { return "its advertising is off" }
        if !device.links.isEmpty, !enabled.contains(where: \.description.continuesWhileConnected) {
            return "it is connected and does not advertise meanwhile"
        }
        var heard = Advertisement()
        for set in enabled {
            _ = heard.merge(set.advertisement)
            if let scanResponse = set.scanResponse { _ = heard.merge(scanResponse) }
        }
        if parameters.matches(heard) { return nil }
        func list(_ uuids: [BluetoothUUID]?) -> String { "[\((uuids ?? []).map(\.text).joined(separator: ","))]" }
        return "it advertises services=\(list(heard.serviceUUIDs)), not \(list(parameters.services))"
    }

    // MARK: Values

    /// The characteristic that a control names; a line in the trace if there is none.
    mutating func existing(_ path: CharacteristicPath, of ref: Ref<Device>) -> AttributeID? {
        let id = characteristic(path, of: ref)
        if id == nil { trace.note("control ignored: device \(ref.serial) has no characteristic \(path.uuid)", at: now) }
        return id
    }

    mutating func update(_ path: CharacteristicPath, _ value: Data, of ref: Ref<Device>) {
        guard let id = existing(path, of: ref) else { return }
        devices[ref]?.server.database[id]?.value = value
        if trace.isOn, subscriberCount(path, of: ref) == 0 {
            trace.note("new value of \(path.uuid) not sent: no central subscribes to it", at: now)
        }
        for link in devices[ref]?.links ?? [] { notify(value, id, on: link) }
    }
}
