import BluetoothBackend
import BluetoothSupport

extension WorldInput {
    /// The device that the input concerns.
    var device: Ref<Device>? {
        switch self {
        case .device(let device, _), .deviceAdded(let device): device
        default: nil
        }
    }

    /// The text of an input that is no command of a role.
    ///
    /// - Parameter name: The name of the device that the input concerns.
    func trace(device name: String?) -> String {
        let name = name.map { " " + $0.debugDescription } ?? ""
        return switch self {
        case .activate(let manager): "manager \(manager.serial): activate"
        case .device(let device, let control): "device \(device.serial)\(name): \(control.trace)"
        case .deviceAdded(let device): "device \(device.serial)\(name): added"
        case .host(let host, let control): "host \(host): \(control.trace)"
        case .answered(_, let request, let response): "handler: \(response.trace(request))"
        case .central, .peripheral, .pairing: ""
        }
    }
}

extension DeviceControl {
    fileprivate var trace: String {
        switch self {
        case .notify(let path, let value): Self.line("notify", path, value)
        case .setValue(let path, let value): Self.line("setValue", path, value)
        case .setParameter(let parameter, let value): "setParameter \(parameter.rawValue)=\(value)"
        case .hold(let path, let isHeld): Self.line("hold", path) + " isHeld=\(isHeld)"
        case .setAdvertising(let index, _): "setAdvertising set=\(index)"
        case .addService(let service): "addService service=\(service.uuid)"
        case .setPairing(let pairing):
            "setPairing capability=\(pairing.capability.rawValue) answer=\(pairing.answer.rawValue)"
        case .send(let channel, let data): Self.line("send channel=\(channel)", nil, data)
        case .loseBonds(let host): "loseBonds host=\(host?.description ?? "all")"
        default: "\(self)"
        }
    }

    private static func line(_ name: String, _ path: CharacteristicPath?, _ value: Data? = nil) -> String {
        var line = TraceLine(name, showsValues: true)
        if let path {
            let instance = path.index == 0 ? "" : "#\(path.index)"
            line.add("characteristic", (path.service.map { "\($0)/" } ?? "") + "\(path.uuid)\(instance)")
        }
        line.add("value", private: value)
        return line.text
    }
}

extension HostControl {
    fileprivate var trace: String {
        switch self {
        case .bond(let device): "bond device=\(device.serial)"
        case .preserveCentral(let state, let identifier):
            "preserve \(identifier) peers=\(state.peers.map(\.summary.id))"
        case .preservePeripheral(let state, let identifier):
            "preserve \(identifier) services=\(state.services.map(\.uuid.text))"
        default: "\(self)"
        }
    }
}

extension PeripheralResponse {
    fileprivate func trace(_ request: UInt64) -> String {
        var line = TraceLine("respond", showsValues: true)
        line.add("request", request)
        switch self {
        case .value(let value): line.add("value", private: value)
        case .error(let code): line.add("attCode", code.rawValue)
        case .stored: line.add("response", "stored")
        case .accepted: line.add("response", "accepted")
        case .unanswered: line.add("response", "unanswered")
        }
        return line.text
    }
}
