import BluetoothBackend
import BluetoothSupport
import BluetoothValues

// The controls of devices and hosts as predicates, for people: `moves out of range`. The trace has the names of the
// methods.

extension WorldInput {
    /// The control or the handler's answer, as a predicate of its source.
    var words: String {
        switch self {
        case .device(_, let control): control.words
        case .deviceAdded: "is added"
        case .host(_, let control): control.words
        case .configure: "changes its configuration"
        case .interference(let chance): Self.words(ofInterference: chance)
        case .answered: "answers"
        case .link(_, let control): control.words
        case .activate, .central, .peripheral, .pairing, .exchange: ""
        }
    }

    /// A chance of interference, as a predicate of the air.
    fileprivate static func words(ofInterference chance: Double) -> String {
        chance > 0 ? "loses \(percent(chance)) of all packets" : "is free of interference"
    }
}

extension ScriptStep {
    /// The action in words: `Lock moves out of range`.
    package var words: String {
        switch action {
        case .device(let name, let action): "\(name.printable) \(action.control.words)"
        case .host(let name, let action): "host \(name.printable) \(action.control.words)"
        case .interference(let chance): "the air \(WorldInput.words(ofInterference: chance))"
        }
    }
}

extension LinkControl {
    /// The control as a predicate of the link.
    fileprivate var words: String {
        switch self {
        case .close: "is closed"
        case .setParameters(let parameters): "changes its interval to \(parameters.interval.words)"
        case .setSecurity(let level): "is now \(level)"
        case .askUser(_, let question): "asks \(question)"
        case .endPairing(let result): "ends a pairing: \(result)"
        case .notify, .send: ""
        }
    }
}

extension DeviceControl {
    /// The control as a predicate of the device.
    var words: String {
        switch self {
        case .notify(let target, let value): "stores \(value.words) in \(target.words) and notifies it"
        case .notifyAtOnce(let path, let value): "notifies \(value.words) of \(path.words) at once"
        case .setValue(let target, let value): "stores \(value.words) in \(target.words)"
        case .hold(let path, let isHeld): "\(isHeld ? "holds" : "answers") reads of \(path.words)"
        case .send(let channel, let data): "sends \(data.count) bytes on channel \(channel.rawValue)"
        case .closeChannel(let channel): "closes channel \(channel.rawValue)"
        case .note(let text): "logs: \(text)"
        case .setParameter(let parameter, let value): parameter.words(setTo: value)
        case .startTimer(let number, let delay, _): "starts timer \(number), due in \(delay.words)"
        case .stopTimer(let number): "stops timer \(number)"
        case .inject(let fault): "gets a fault. \(fault.words { $0.words })"
        case .removeFault(let fault): "no longer has a fault. \(fault.words { $0.words })"
        case .clearFaults: "no longer has faults"
        case .resume: "resumes paused steps"
        case .addService(let service): "adds service \(name(of: service.uuid))"
        case .removeService(let uuid, _): "removes service \(name(of: uuid))"
        case .removeServiceNumber: "removes a service"
        case .replaceServices(let services, _): "serves \(services.count) services"
        default: stateWords
        }
    }

    /// The controls of the device as a whole.
    private var stateWords: String {
        switch self {
        case .setAdvertising(let index, _, _): "changes advertising set \(index)"
        case .enableAdvertising(let index, let isOn):
            "switches advertising\(index.map { " set \($0)" } ?? "") \(isOn ? "on" : "off")"
        case .setProximity(.far): "moves far away"
        case .setProximity(let proximity): "moves \(proximity.words)"
        case .setRSSI(let rssi):
            rssi.map { "sets its signal strength to \($0) dBm" } ?? "lets its signal strength follow the distance"
        case .disconnect: "closes its links"
        case .lose(let staysOnAir): "resets" + (staysOnAir ? "" : " and switches advertising off")
        case .rename(let name, _): "is renamed \(name.quoted)"
        case .changeAddress(let address): "changes its address to \(address)"
        case .rotateAddress: "takes a new private address"
        case .setPacketLoss(let rate): "loses \(percent(rate)) of its packets"
        case .setPairing(let pairing):
            "pairs with \(pairing.capability.words), the user \(pairing.answer.words)"
        case .enterPasskey(let passkey): "enters the passkey \(PasskeyText.digits(passkey))"
        case .loseBonds(let host): "loses its keys of \(host.map { "\($0)" } ?? "all hosts")"
        case .exchangeMTU(let mtu): "requests MTU \(mtu)"
        case .failConnections(let count): "fails the next \(count == 1 ? "connection" : "\(count) connections")"
        case .setParameters(let parameters): "requests a connection interval of \(parameters.interval.words)"
        case .remove: "is removed"
        default: ""
        }
    }
}

extension HostControl {
    /// The control as a predicate of the host.
    var words: String {
        switch self {
        case .power(let isOn): "switches its adapter \(isOn ? "on" : "off")"
        case .authorize(let status): "changes the permission: \(status.words)"
        case .reset(let time): "restarts its Bluetooth service, which takes \(time.words)"
        case .plug(let isPlugged): "has its adapter \(isPlugged ? "plugged in" : "unplugged")"
        case .setState(let state):
            state.map { "shows the state \($0.words)" } ?? "shows the state of its adapter and permission again"
        case .setMaximumMTU(let mtu): mtu.map { "allows MTU \($0) at most" } ?? "no longer limits the MTU"
        case .setAdvertising: "changes its advertising"
        case .rotateAddress: "takes a new private address"
        case .setAirAddress(let address): "uses the address \(address)"
        case .setLinkParameters(let parameters): "requests links with an interval of \(parameters.interval.words)"
        case .setPort(let port):
            port.map { "\($0.isAttached ? "attaches" : "is expected") at \($0.address)" } ?? "has no port anymore"
        case .forget: "forgets a device"
        case .remember: "remembers a device"
        case .setFeature(let feature, let isSupported):
            "\(isSupported ? "supports" : "does not support") \(feature.words)"
        case .terminateApp(let identifier): "terminates app \(identifier.quoted)"
        case .preserveCentral(_, let identifier), .preservePeripheral(_, let identifier):
            "preserves the state of app \(identifier.quoted)"
        case .authorizeANCS(_, let isAuthorized): "\(isAuthorized ? "grants" : "revokes") access to notifications"
        case .bond(let device): "bonds with device \(device.serial)"
        case .removeBond(let address): "removes the bond with \(address)"
        case .connectOtherApp: "connects another app"
        case .disconnectOtherApp: "disconnects another app"
        case .disconnectCentral: "closes the link of a central"
        case .requestSecurity: "asks a central to encrypt the link"
        }
    }
}

extension DeviceParameter {
    /// Returns the change of the parameter, as a predicate of the device.
    fileprivate func words(setTo value: Double) -> String {
        let words = words
        let text = words.isSwitch ? (value == 0 ? "no" : "yes") : number(value)
        return "sets \(words.title.lowercasedFirst) to \(text)" + (words.unit.isEmpty ? "" : " " + words.unit)
    }
}

extension AttributeTarget {
    /// The attribute for people.
    fileprivate var words: String {
        switch self {
        case .path(let path): path.words
        case .descriptor(let uuid, let path): "descriptor \(uuid) of \(path.words)"
        case .position(let position): "the attribute at \(position)"
        }
    }
}

extension CharacteristicPath {
    /// The vendor's name, or the UUID.
    fileprivate var words: String { name(of: uuid) }
}

/// Returns the vendor's name of an attribute, or its UUID.
///
/// The names of assigned numbers are a table that only programs for people carry.
private func name(of uuid: BluetoothUUID) -> String { VendorNames.attribute(uuid.text) ?? uuid.text }

/// Returns a number, without a fraction if it is whole.
private func number(_ value: Double) -> String { Int(exactly: value).map { "\($0)" } ?? "\(value)" }

/// Returns a chance in percent.
private func percent(_ chance: Double) -> String { number((chance * 1e6).rounded() / 1e4) + " %" }

extension Data {
    /// The bytes in hexadecimal digits, or "an empty value".
    fileprivate var words: String { isEmpty ? "an empty value" : hexText }
}
