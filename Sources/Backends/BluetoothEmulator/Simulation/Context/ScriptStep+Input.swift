// The steps of a world's script as inputs.
extension ScriptStep {
    func input(
        _ hosts: Hosts, _ described: [PeripheralDescription], _ refs: [Ref<Device>]
    ) throws(DescriptionError) -> WorldInput {
        switch action {
        case .interference(let chance): return .interference(chance)
        case .host(let name, let action):
            guard let host = hosts.index(named: name) else {
                throw DescriptionError("host", "there is no host \"\(name)\"")
            }
            return .host(host, action.control)
        case .device(let name, let action):
            return .device(refs[try described.index(of: name, path: "device")], action.control)
        }
    }
}

extension ScriptStep.DeviceAction {
    /// The control with the effect of the action.
    var control: DeviceControl {
        switch self {
        case .setProximity(let proximity): .setProximity(proximity)
        case .setRSSI(let rssi): .setRSSI(rssi)
        case .setAdvertising(let isOn): .enableAdvertising(nil, isOn)
        case .setValue(let value, let path, true): .notify(.path(path), value)
        case .setValue(let value, let path, false): .setValue(.path(path), value)
        case .disconnect: .disconnect(nil)
        case .reset: .lose(staysOnAir: true)
        case .rotateAddress: .rotateAddress
        case .inject(let fault): .inject(fault)
        case .clearFaults: .clearFaults
        case .resume: .resume
        }
    }
}

extension ScriptStep.HostAction {
    /// The control with the effect of the action.
    var control: HostControl {
        switch self {
        case .setPower(let isOn): .power(isOn)
        case .setPlugged(let isPlugged): .plug(isPlugged)
        case .reset(let time): .reset(time)
        }
    }
}
