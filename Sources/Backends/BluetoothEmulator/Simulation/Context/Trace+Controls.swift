import BluetoothBackend
import BluetoothSupport
import BluetoothTracing

extension WorldInput {
    /// The device that the input adds or controls.
    var device: Ref<Device>? {
        switch self {
        case .device(let device, _), .deviceAdded(let device): device
        default: nil
        }
    }

    /// Returns the source and the line of a control or of a handler's answer; nil for inputs of managers.
    ///
    /// - Parameter name: The name of the device or host that the control concerns.
    func trace(of name: String?) -> (source: String, line: TraceLine)? {
        let name = name.map { " " + $0.quoted } ?? ""
        switch self {
        case .device(let device, let control): return ("device \(device.serial)\(name)", control.trace)
        case .deviceAdded(let device): return ("device \(device.serial)\(name)", TraceLine("added", showsValues: true))
        case .host(_, let control): return ("host\(name)", control.trace)
        case .configure: return ("emulator", TraceLine("configure", showsValues: true))
        case .interference(let chance): return ("air", line("setInterference") { $0.add("chance", chance) })
        case .answered(let reply): return ("handler", reply.trace)
        case .link(let number, let control): return control.trace.map { ("link \(number)", $0) }
        case .activate, .central, .peripheral, .pairing, .exchange: return nil
        }
    }
}

extension LinkControl {
    fileprivate var trace: TraceLine? {
        switch self {
        case .close(let reason): line("close") { $0.add("reason", reason.rawValue) }
        case .setParameters(let parameters):
            line("setParameters") { $0.add(parameters) }
        // Packets, which other kinds of traces show.
        case .notify, .send: nil
        case .askUser(let side, let question):
            line("askUser") { line in
                line.add("side", quoted: "\(side)")
                line.add("question", quoted: "\(question)")
            }
        case .endPairing(let result): line("endPairing") { $0.add("result", quoted: "\(result)") }
        case .setSecurity(let level): line("setSecurity") { $0.add("level", quoted: "\(level)") }
        }
    }
}

extension DeviceControl {
    /// The control's name, which is that of the method of ``EmulatedDevice``, and its arguments.
    fileprivate var trace: TraceLine {
        switch self {
        case .notify(let target, let value): line("notify") { $0.add(target, value) }
        case .notifyAtOnce(let path, let value): line("notifyAtOnce") { $0.add(path, value) }
        case .setValue(let target, let value): line("setValue") { $0.add(target, value) }
        case .hold(let path, let isHeld):
            line("hold") { line in
                line.add(path)
                line.add("isHeld", isHeld)
            }
        case .send(let channel, let data):
            line("send") { line in
                line.add("channel", channel)
                line.add("data", private: data)
            }
        case .closeChannel(let channel): line("closeChannel") { $0.add("channel", channel) }
        case .note(let text): line("note") { $0.add("text", quoted: text) }
        case .setParameter(let parameter, let value): line("setParameter") { $0.add(parameter.rawValue, value) }
        case .startTimer(let number, let delay, let interval):
            line("startTimer") { line in
                line.add("timer", number)
                line.add("after", delay)
                line.add("every", interval)
            }
        case .stopTimer(let number): line("stopTimer") { $0.add("timer", number) }
        default: stateTrace
        }
    }

    /// The controls of the device as a whole.
    private var stateTrace: TraceLine {
        switch self {
        case .setAdvertising(let index, _, _): line("setAdvertising") { $0.add("set", index) }
        case .enableAdvertising(let index, let isEnabled):
            line("enableAdvertising") { line in
                line.add("set", index)
                line.add("isEnabled", isEnabled)
            }
        case .setProximity(let proximity): line("setProximity") { $0.add("proximity", proximity.rawValue) }
        case .setRSSI(let rssi): line("setRSSI") { $0.add("rssi", rssi) }
        case .addService(let service): line("addService") { $0.add("service", service.uuid) }
        case .removeService(let uuid, let index):
            line("removeService") { $0.add("service", index == 0 ? uuid.text : "\(uuid)#\(index)") }
        case .removeServiceNumber(let number): line("removeService") { $0.add("number", number) }
        case .replaceServices(let services, _): line("replaceServices") { $0.add("count", services.count) }
        case .disconnect(let error): line("disconnect") { if let error { $0.add("error", quoted: "\(error.error)") } }
        case .rename(let name, let isAnnounced):
            line("rename") { line in
                line.add("name", quoted: name)
                if isAnnounced { line.add("isAnnounced", true) }
            }
        case .changeAddress(let address): line("changeAddress") { $0.add("address", address) }
        case .setPacketLoss(let loss): line("setPacketLoss") { $0.add("probability", loss) }
        case .setPairing(let pairing):
            line("setPairing") { line in
                line.add("capability", pairing.capability.rawValue)
                line.add("answer", pairing.answer.rawValue)
            }
        case .enterPasskey(let passkey): line("enterPasskey") { $0.add("passkey", PasskeyText.digits(passkey)) }
        case .lose(let staysOnAir): line("lose") { $0.add("staysOnAir", staysOnAir) }
        case .loseBonds(let host): line("loseBonds") { $0.add("host", host?.description ?? "all") }
        case .exchangeMTU(let mtu): line("exchangeMTU") { $0.add("mtu", mtu) }
        case .failConnections(let count): line("failConnections") { $0.add("count", count) }
        case .inject(let fault):
            line("inject") { line in
                line.add("step", fault.step.rawValue)
                line.add("effect", quoted: fault.effect.text)
            }
        case .removeFault(let fault):
            line("removeFault") { line in
                line.add("step", fault.step.rawValue)
                line.add("effect", quoted: fault.effect.text)
            }
        case .setParameters(let parameters):
            line("setParameters") { line in
                line.add("interval", parameters.interval)
                line.add("peripheralLatency", parameters.peripheralLatency)
                line.add("supervisionTimeout", parameters.supervisionTimeout)
            }
        // The other controls have no arguments.
        default: line("\(self)")
        }
    }
}

/// An incident at a device that no event reports.
enum TraceNote {
    /// A step met a fault.
    case fault(DeviceFault.Step, DeviceFault.Effect)
    /// A number of packets were lost and sent again.
    case losses(Int)

    /// Returns a line such as `"Heart": 2 packets lost`.
    func text(of device: String?) -> String {
        let text =
            switch self {
            case .fault(let step, let effect): "fault applied to \(step.rawValue): \(effect.text)"
            case .losses(let count): count == 1 ? "1 packet lost" : "\(count) packets lost"
            }
        return (device.map { $0.quoted + ": " } ?? "") + text
    }
}

extension DeviceFault.Effect {
    /// The effect as text, such as `fail 80` or `delay 2.0 seconds`.
    fileprivate var text: String {
        switch self {
        case .fail(let code): "fail \(code.rawValue)"
        case .delay(let time): "delay \(time)"
        case .delayAnswer(let time): "delayAnswer \(time)"
        case .pause, .disconnect, .loseAnswer, .corrupt: name.rawValue
        }
    }
}

extension HostControl {
    /// The name of the control, and its arguments.
    fileprivate var trace: TraceLine {
        switch self {
        case .power(let isOn): line("setPower") { $0.add("isOn", isOn) }
        case .authorize(let status): line("setAuthorization") { $0.add("status", status.rawValue) }
        case .reset(let time): line("reset") { $0.add("for", time) }
        case .plug(let isPlugged): line("setPlugged") { $0.add("isPlugged", isPlugged) }
        case .setState(let state): line("setState") { $0.add("state", state?.rawValue ?? "nil") }
        case .setAdvertising(let advertising):
            line("setAdvertising") { line in
                line.add("interval", advertising.interval)
                line.add("isExtended", advertising.isExtended)
            }
        case .setMaximumMTU(let mtu): line("setMaximumMTU") { $0.add("mtu", mtu) }
        case .setAirAddress(let address): line("setAirAddress") { $0.add("address", address) }
        case .setLinkParameters(let parameters): line("setLinkParameters") { $0.add(parameters) }
        case .setPort(let port):
            line("setPort") { line in
                line.add("address", port?.address.description ?? "nil")
                line.add("isAttached", port?.isAttached == true)
            }
        case .forget(let peer): line("forget") { $0.add("peer", peer: peer) }
        case .remember(let peer): line("remember") { $0.add("peer", peer: peer) }
        case .setFeature(let feature, let isSupported):
            line("setSupport") { line in
                line.add("feature", feature.rawValue)
                line.add("isSupported", isSupported)
            }
        case .terminateApp(let identifier): line("terminateApp") { $0.add("identifier", quoted: identifier) }
        case .preserveCentral(let state, let identifier):
            line("preserve") { line in
                line.add("identifier", quoted: identifier)
                line.add("peers", peers: state.peers.map(\.summary.id))
            }
        case .preservePeripheral(let state, let identifier):
            line("preserve") { line in
                line.add("identifier", quoted: identifier)
                line.add("services", list: state.services.map(\.uuid))
            }
        case .authorizeANCS(let peer, let isAuthorized):
            line("authorizeANCS") { line in
                line.add("peer", peer: peer)
                line.add("isAuthorized", isAuthorized)
            }
        default: bondTrace
        }
    }

    /// The controls of bonds and of other apps.
    private var bondTrace: TraceLine {
        switch self {
        case .bond(let device): line("bond") { $0.add("device", device.serial) }
        case .removeBond(let address): line("removeBond") { $0.add("address", address) }
        case .connectOtherApp(let peer, let isWithoutAdvertising):
            line("connectOtherApp") { line in
                line.add("peer", peer: peer)
                if isWithoutAdvertising { line.add("withoutAdvertising", true) }
            }
        case .disconnectOtherApp(let peer): line("disconnectOtherApp") { $0.add("peer", peer: peer) }
        case .requestSecurity(let peer): line("requestSecurity") { $0.add("peer", peer: peer) }
        case .disconnectCentral(let peer, let isForSecurity):
            line("disconnectCentral") { line in
                line.add("peer", peer: peer)
                line.add("isForSecurity", isForSecurity)
            }
        // The other controls have no arguments.
        default: line("\(self)")
        }
    }
}

extension HandlerReply {
    fileprivate var trace: TraceLine {
        line("respond") { line in
            switch origin {
            case .connect(let host, _): line.add("host", host)
            case .operation(_, let number): line.add("request", number)
            case .command(_, let attribute, _): line.add("attribute", attribute)
            case .event: break
            }
            switch answer {
            case .request(.value(let value)): line.add(value: value)
            case .request(.error(let code)), .procedure(.error(let code)): line.add("attCode", code.rawValue)
            case .connection(.failure(let error)), .procedure(.failure(let error)), .request(.failure(let error)):
                line.add("error", quoted: "\(error.error)")
            case .connection(let response): line.add("response", "\(response)")
            case .procedure(let response): line.add("response", "\(response)")
            case .request(let response): line.add("response", "\(response)")
            case .channel(let request, let response):
                line.add("psm", request.psm)
                if case .refused(let refusal) = response { line.add("refusal", "\(refusal)") }
            }
        }
    }
}

extension TraceLine {
    fileprivate mutating func add(_ parameters: ConnectionParameters) {
        add("interval", parameters.interval)
        add("latency", parameters.peripheralLatency)
        add("timeout", parameters.supervisionTimeout)
    }

    /// Adds a characteristic, and optionally a value.
    fileprivate mutating func add(_ path: CharacteristicPath, _ value: Data? = nil) {
        add("characteristic", characteristic: path.uuid, of: path.service, instance: path.index)
        add(value: value)
    }

    /// Adds the attribute that a control names, and a value.
    fileprivate mutating func add(_ target: AttributeTarget, _ value: Data) {
        switch target {
        case .path(let path): return add(path, value)
        case .descriptor(let uuid, let path):
            add(path)
            add("descriptor", uuid)
        case .position(let position): add("position", "\(position)")
        }
        add(value: value)
    }
}

/// Creates a line with its fields.
private func line(_ name: String, _ addFields: (inout TraceLine) -> Void = { _ in }) -> TraceLine {
    var line = TraceLine(name, showsValues: true)
    addFields(&line)
    return line
}
