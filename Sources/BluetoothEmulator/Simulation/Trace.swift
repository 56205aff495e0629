import BluetoothBackend
import BluetoothSupport
import DequeModule

/// The inputs and outputs of a world, as values; reading the trace formats them.
struct Trace: Sendable {
    private enum Entry: Sendable {
        /// An input, and the name of the device that it concerns.
        case input(WorldInput, String?)
        case output(WorldOutput)
        case note(String)

        /// The command or event of a role.
        var message: (role: String, manager: Ref<Manager>, any TraceMessage)? {
            switch self {
            case .input(.central(let manager, let command), _): ("central", manager, command)
            case .input(.peripheral(let manager, let command), _): ("peripheral", manager, command)
            case .input(.pairing(let manager, let command), _): ("pairing", manager, command)
            case .output(.central(let manager, let event)): ("central", manager, event)
            case .output(.peripheral(let manager, let event)): ("peripheral", manager, event)
            case .output(.pairing(let manager, let event)): ("pairing", manager, event)
            case .input, .output, .note: nil
            }
        }
    }

    private let limit: Int
    private var entries = Deque<(at: Nanoseconds, entry: Entry)>()
    /// The names that the entries before the first one gave.
    private var names = TraceNames()

    init(limit: Int) { self.limit = limit }

    var isOn: Bool { limit > 0 }

    /// One line each: `12.345678901 < central 1: read …`; `<` is an input of the world, `>` an output, `!` a note.
    var lines: [String] {
        var names = names
        return entries.map { Self.line($0.at, $0.entry, &names) }
    }

    mutating func record(_ input: WorldInput, device: String?, at now: Nanoseconds) {
        if isOn { append(.input(input, device), now) }
    }

    mutating func record(_ output: WorldOutput, at now: Nanoseconds) {
        if isOn { append(.output(output), now) }
    }

    /// Records what no event reports, such as a dropped command.
    mutating func log(_ text: @autoclosure () -> String, at now: Nanoseconds) {
        if isOn { append(.note(text()), now) }
    }

    private mutating func append(_ entry: Entry, _ now: Nanoseconds) {
        if entries.count >= limit { learn(entries.removeFirst().entry) }
        entries.append((now, entry))
    }

    /// Learns from an entry that is removed, without the box that ``Entry/message`` needs.
    private mutating func learn(_ entry: Entry) {
        switch entry {
        case .input(.central(let manager, let command), _): names.learn(command, role: Int(manager.serial))
        case .input(.peripheral(let manager, let command), _): names.learn(command, role: Int(manager.serial))
        case .output(.central(let manager, let event)): names.learn(event, role: Int(manager.serial))
        case .output(.peripheral(let manager, let event)): names.learn(event, role: Int(manager.serial))
        case .input, .output, .note: break
        }
    }

    private static func line(_ now: Nanoseconds, _ entry: Entry, _ names: inout TraceNames) -> String {
        let fraction = String(now % 1_000_000_000)
        let time = "\(now / 1_000_000_000)." + String(repeating: "0", count: 9 - fraction.count) + fraction
        return switch entry {
        case .note(let text): "\(time) ! \(text)"
        case .input(let input, let device): "\(time) < \(text(of: entry, &names) ?? input.trace(device: device))"
        case .output: "\(time) > \(text(of: entry, &names) ?? "")"
        }
    }

    private static func text(of entry: Entry, _ names: inout TraceNames) -> String? {
        guard let (role, manager, message) = entry.message else { return nil }
        return "\(role) \(manager.serial): "
            + names.line(for: message, role: Int(manager.serial), showsValues: true)
    }
}

extension WorldInput {
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
        case .stored, .accepted, .unanswered: line.add("response", "\(self)")
        }
        return line.text
    }
}

// Lines of the trace that say why something does not happen.
extension World {
    /// Notes which devices a scan that starts will not report, and why: ten at most.
    mutating func noteSilentDevices(for parameters: ScanParameters, on host: Int) {
        guard isNoting else { return }
        var count = 0
        for ref in devices.refs where devices[ref]?.host != host {
            guard let device = devices[ref], let reason = silence(of: device, for: parameters) else { continue }
            count += 1
            guard count <= 10 else { return }
            log("device \(ref.serial) \"\(device.description.name)\" will not be discovered: \(reason)")
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
        if id == nil { log("control ignored: device \(ref.serial) has no characteristic \(path.uuid)") }
        return id
    }

    mutating func update(_ path: CharacteristicPath, _ value: Data, of ref: Ref<Device>) {
        guard let id = existing(path, of: ref) else { return }
        devices[ref]?.server.database[id]?.value = value
        if isNoting, subscriberCount(path, of: ref) == 0 {
            log("new value of \(path.uuid) not sent: no central subscribes to it")
        }
        for link in devices[ref]?.links ?? [] { notify(value, id, on: link) }
    }
}
