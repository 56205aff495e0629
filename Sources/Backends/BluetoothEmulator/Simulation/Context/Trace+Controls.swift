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
        case .interference(let chance): return ("air", line("setInterference", ["chance": chance]))
        case .answered(let reply): return ("handler", reply.trace)
        case .link(let number, let control): return control.trace.map { ("link \(number)", $0) }
        case .activate, .central, .peripheral, .pairing, .exchange: return nil
        }
    }
}

extension LinkControl {
    fileprivate var trace: TraceLine? {
        switch self {
        case .close(let reason): line("close", ["reason": reason.rawValue])
        case .setParameters(let parameters): line("setParameters") { $0.add(parameters) }
        // Packets, which other kinds of traces show.
        case .notify, .send: nil
        case .askUser(let side, let question):
            line("askUser", ["side": "\(side)".quoted, "question": "\(question)".quoted])
        case .endPairing(let result): line("endPairing", ["result": "\(result)".quoted])
        case .setSecurity(let level): line("setSecurity", ["level": "\(level)".quoted])
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
        case .send(let channel, let data): line("send", ["channel": channel]) { $0.add("data", private: data) }
        case .closeChannel(let channel): line("closeChannel", ["channel": channel])
        case .note(let text): line("note", ["text": text.quoted])
        case .setParameter(let parameter, let value): line("setParameter", [parameter.rawValue: value])
        case .startTimer(let number, let delay, let interval):
            line("startTimer", ["timer": number, "after": delay, "every": interval])
        case .stopTimer(let number): line("stopTimer", ["timer": number])
        default: stateTrace
        }
    }

    /// The controls of the device as a whole.
    private var stateTrace: TraceLine {
        switch self {
        case .setAdvertising(let index, _, _): line("setAdvertising", ["set": index])
        case .enableAdvertising(let index, let isEnabled):
            line("enableAdvertising", ["set": index, "isEnabled": isEnabled])
        case .setProximity(let proximity): line("setProximity", ["proximity": proximity.rawValue])
        case .setRSSI(let rssi): line("setRSSI", ["rssi": rssi])
        case .addService(let service): line("addService", ["service": service.uuid])
        case .removeService(let uuid, let index):
            line("removeService", ["service": index == 0 ? uuid.text : "\(uuid)#\(index)"])
        case .removeServiceNumber(let number): line("removeService", ["number": number])
        case .replaceServices(let services, _): line("replaceServices", ["count": services.count])
        case .disconnect(let error): line("disconnect", ["error": error.map { "\($0.error)".quoted }])
        case .rename(let name, let isAnnounced):
            line("rename", ["name": name.quoted, "isAnnounced": isAnnounced ? true : nil])
        case .changeAddress(let address): line("changeAddress", ["address": address])
        case .setPacketLoss(let loss): line("setPacketLoss", ["probability": loss])
        case .setPairing(let pairing):
            line("setPairing", ["capability": pairing.capability.rawValue, "answer": pairing.answer.rawValue])
        case .enterPasskey(let passkey): line("enterPasskey", ["passkey": PasskeyText.digits(passkey)])
        case .lose(let staysOnAir): line("lose", ["staysOnAir": staysOnAir])
        case .loseBonds(let host): line("loseBonds", ["host": host?.description ?? "all"])
        case .exchangeMTU(let mtu): line("exchangeMTU", ["mtu": mtu])
        case .failConnections(let count): line("failConnections", ["count": count])
        case .inject(let fault): line("inject", fault.traceFields)
        case .removeFault(let fault): line("removeFault", fault.traceFields)
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

extension DeviceFault {
    /// The step and the effect.
    fileprivate var traceFields: TraceFields { ["step": step.rawValue, "effect": effect.text.quoted] }
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
        case .power(let isOn): line("setPower", ["isOn": isOn])
        case .authorize(let status): line("setAuthorization", ["status": status.rawValue])
        case .reset(let time): line("reset", ["for": time])
        case .plug(let isPlugged): line("setPlugged", ["isPlugged": isPlugged])
        case .setState(let state): line("setState", ["state": state?.rawValue ?? "nil"])
        case .setAdvertising(let advertising):
            line("setAdvertising", ["interval": advertising.interval, "isExtended": advertising.isExtended])
        case .setMaximumMTU(let mtu): line("setMaximumMTU", ["mtu": mtu])
        case .setAirAddress(let address): line("setAirAddress", ["address": address])
        case .setLinkParameters(let parameters): line("setLinkParameters") { $0.add(parameters) }
        case .setPort(let port):
            line("setPort", ["address": port?.address.description ?? "nil", "isAttached": port?.isAttached == true])
        case .forget(let peer): line("forget", of: peer)
        case .remember(let peer): line("remember", of: peer)
        case .setFeature(let feature, let isSupported):
            line("setSupport", ["feature": feature.rawValue, "isSupported": isSupported])
        case .terminateApp(let identifier): line("terminateApp", ["identifier": identifier.quoted])
        case .preserveCentral(let state, let identifier):
            line("preserve", ["identifier": identifier.quoted]) { line in
                line.add("peers", peers: state.peers.map(\.summary.id))
            }
        case .preservePeripheral(let state, let identifier):
            line("preserve", ["identifier": identifier.quoted]) { line in
                line.add("services", list: state.services.map(\.uuid))
            }
        case .authorizeANCS(let peer, let isAuthorized):
            line("authorizeANCS", of: peer, ["isAuthorized": isAuthorized])
        default: bondTrace
        }
    }

    /// The controls of bonds and of other apps.
    private var bondTrace: TraceLine {
        switch self {
        case .bond(let device): line("bond", ["device": device.serial])
        case .removeBond(let address): line("removeBond", ["address": address])
        case .connectOtherApp(let peer, let isWithoutAdvertising):
            line("connectOtherApp", of: peer, ["withoutAdvertising": isWithoutAdvertising ? true : nil])
        case .disconnectOtherApp(let peer): line("disconnectOtherApp", of: peer)
        case .requestSecurity(let peer): line("requestSecurity", of: peer)
        case .disconnectCentral(let peer, let isForSecurity):
            line("disconnectCentral", of: peer, ["isForSecurity": isForSecurity])
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

/// The fields of a line, in order; those without a value are left out.
private typealias TraceFields = KeyValuePairs<String, (any CustomStringConvertible)?>

/// Creates a line: the peer, the fields, and then further ones that are not plain text.
private func line(
    _ name: String, of peer: PeerID? = nil, _ fields: TraceFields = [:],
    then addFields: (inout TraceLine) -> Void = { _ in }
) -> TraceLine {
    var line = TraceLine(name, showsValues: true)
    line.add("peer", peer: peer)
    for (field, value) in fields { line.add(field, value?.description) }
    addFields(&line)
    return line
}
