import BluetoothBackend
import BluetoothSupport
import BluetoothValues

// The controls of devices and hosts in words, for people; the trace has the names of the methods.

extension WorldInput {
    /// The control or the handler's answer in words, after its source: `advertising switched on`.
    var words: String {
        switch self {
        case .device(_, let control): control.words
        case .deviceAdded: "added"
        case .host(_, let control): control.words
        case .configure: "configuration changed"
        case .answered: "answered"
        case .activate, .central, .peripheral, .pairing: ""
        }
    }
}

extension DeviceControl {
    /// The control in words.
    var words: String {
        switch self {
        case .notify(let target, let value): "\(value.words) stored in \(target.words) and notified"
        case .notifyAtOnce(let path, let value): "\(value.words) of \(path.words) notified at once"
        case .setValue(let target, let value): "\(value.words) stored in \(target.words)"
        case .hold(let path, let isHeld): "reads of \(path.words) \(isHeld ? "held" : "answered again")"
        case .send(let channel, let data): "\(data.count) bytes sent on channel \(channel.rawValue)"
        case .closeChannel(let channel): "channel \(channel.rawValue) closed"
        case .note(let text): text
        case .setParameter(let parameter, let value): parameter.words(setTo: value)
        case .startTimer(let number, let delay, _): "timer \(number) started, due in \(delay.words)"
        case .stopTimer(let number): "timer \(number) stopped"
        case .inject(let fault): "fault added. \(fault.words { $0.words })"
        case .removeFault(let fault): "fault removed. \(fault.words { $0.words })"
        case .clearFaults: "all faults removed"
        case .resume: "paused steps resumed"
        case .addService(let service): "service \(name(of: service.uuid)) added"
        case .removeService(let uuid, _): "service \(name(of: uuid)) removed"
        case .removeServiceNumber: "service removed"
        default: stateWords
        }
    }

    /// The controls of the device as a whole.
    private var stateWords: String {
        switch self {
        case .setAdvertising(let index, _, _): "advertising set \(index) changed"
        case .enableAdvertising(let index, let isOn):
            "advertising\(index.map { " set \($0)" } ?? "") switched \(isOn ? "on" : "off")"
        case .setProximity(let proximity): "moved \(proximity.words)"
        case .setRSSI(let rssi):
            rssi.map { "signal strength set to \($0) dBm" } ?? "signal strength follows the distance"
        case .disconnect: "links closed"
        case .lose(let staysOnAir): "links lost" + (staysOnAir ? "" : ", advertising switched off")
        case .rename(let name, _): "renamed \(name.quoted)"
        case .changeAddress(let address): "address changed to \(address)"
        case .rotateAddress: "new private address"
        case .setPacketLoss(let rate): "\(Decimals.fixed(rate * 100, 1)) % of the packets are lost"
        case .setPairing(let pairing):
            "pairs with \(pairing.capability.words), the user \(pairing.answer.words)"
        case .loseBonds(let host): "keys of \(host.map { "\($0)" } ?? "all hosts") lost"
        case .exchangeMTU(let mtu): "MTU \(mtu) requested"
        case .failConnections(let count):
            count == 1 ? "the next connection fails" : "the next \(count) connections fail"
        case .setParameters(let parameters): "connection interval \(parameters.interval.words) requested"
        case .remove: "removed"
        default: ""
        }
    }
}

extension HostControl {
    /// The control in words.
    var words: String {
        switch self {
        case .power(let isOn): "switched \(isOn ? "on" : "off")"
        case .authorize(let status): "permission: \(status.words)"
        case .reset(let time): "Bluetooth service restarts for \(time.words)"
        case .plug(let isPlugged): "adapter \(isPlugged ? "plugged in" : "unplugged")"
        case .setState(let state):
            state.map { "state set: \($0.words)" } ?? "state follows power, adapter and permission"
        case .setMaximumMTU(let mtu): mtu.map { "at most MTU \($0)" } ?? "no limit of the MTU"
        case .setAdvertising: "advertising changed"
        case .rotateAddress: "new private address"
        case .forget: "device forgotten"
        case .remember: "device remembered"
        case .setFeature(let feature, let isSupported):
            "\(feature.words): \(isSupported ? "supported" : "not supported")"
        case .terminateApp(let identifier): "app \(identifier.quoted) terminated"
        case .preserveCentral(_, let identifier), .preservePeripheral(_, let identifier):
            "state of app \(identifier.quoted) preserved"
        case .authorizeANCS(_, let isAuthorized): "access to notifications \(isAuthorized ? "granted" : "revoked")"
        case .bond(let device): "bonded with device \(device.serial)"
        case .removeBond(let address): "bond with \(address) removed"
        case .connectOtherApp: "another app connects"
        case .disconnectOtherApp: "another app releases its connection"
        case .disconnectCentral: "link of a central closed"
        }
    }
}

extension DeviceParameter {
    /// Returns the change of the parameter in words.
    fileprivate func words(setTo value: Double) -> String {
        let words = words
        if words.isSwitch { return "\(words.title.lowercasedFirst): \(value == 0 ? "no" : "yes")" }
        let number = Int(exactly: value).map { "\($0)" } ?? "\(value)"
        return "\(words.title.lowercasedFirst) set to \(number)" + (words.unit.isEmpty ? "" : " " + words.unit)
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

extension Data {
    /// The bytes in hexadecimal digits, or "an empty value".
    fileprivate var words: String { isEmpty ? "an empty value" : hexText }
}

extension String {
    fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
