import BluetoothBackend
public import BluetoothSupport

/// A step of the script of a world: what happens to a device or a host at an instant.
///
/// It happens as the control of ``EmulatedDevice`` or ``EmulatedHost`` does.
public struct ScriptStep: Hashable, Sendable {
    /// What happens to a device.
    public enum DeviceAction: Hashable, Sendable {
        /// It comes nearer, goes farther or goes out of range.
        case setProximity(Proximity)
        /// Its mean signal strength changes; in dBm, -127...20.
        case setRSSI(Int)
        /// All its advertising sets go on or off.
        case setAdvertising(Bool)
        /// A value is stored, and if `isNotified`, subscribers are notified of it.
        case setValue(Data, of: CharacteristicPath, isNotified: Bool = true)
        /// It closes its links.
        case disconnect
        /// A step of centrals goes wrong from now on.
        case inject(DeviceFault)
    }

    /// What happens.
    public enum Action: Hashable, Sendable {
        /// An action on the device of a name or an address.
        case device(String, DeviceAction)
        /// The adapter of the host of a name goes on or off.
        case host(String, isPowered: Bool)
    }

    /// More steps than any script has.
    static let maximumCount = 10_000

    /// The time since the world began, 0 or more.
    public var time: Duration
    /// What happens then.
    public var action: Action

    /// A step.
    public init(at time: Duration, _ action: Action) {
        self.time = time
        self.action = action
    }

    /// Checks the step against the devices and hosts of its world.
    func validate(
        path: String, devices: [PeripheralDescription], hosts: [HostDescription]
    ) throws(DescriptionError) {
        try require(time >= .zero, "\(path).at", "a step is at 0 s or later")
        switch action {
        case .host(let name, _):
            try require(
                name == "default" || hosts.contains { $0.name == name }, "\(path).host",
                "there is no host \"\(name)\"")
        case .device(let name, let action):
            let device = devices[try devices.index(of: name, path: "\(path).device")]
            switch action {
            case .setRSSI(let rssi):
                try require((-127...20).contains(rssi), "\(path).rssi", "the signal strength is -127...20 dBm")
            case .inject(let fault): try fault.validate(path: "\(path).fault")
            case .setValue(let value, let characteristic, _):
                try validate(value, of: characteristic, in: device, path: path)
            case .setProximity, .setAdvertising, .disconnect: break
            }
        }
    }

    private func validate(
        _ value: Data, of path: CharacteristicPath, in device: PeripheralDescription, path field: String
    ) throws(DescriptionError) {
        let found = device.services.filter { path.service == nil || $0.uuid == path.service }
            .flatMap(\.characteristics).filter { $0.uuid == path.uuid }
        guard let characteristic = found.dropFirst(path.index).first else {
            let number = path.index > 0 ? " with the index \(path.index)" : ""
            throw DescriptionError(
                "\(field).characteristic", "\"\(device.name)\" has no characteristic \(path.uuid)\(number)")
        }
        try require(
            value.count <= characteristic.maximumLength, "\(field).value",
            "\(value.count) bytes do not fit: the characteristic has \(characteristic.maximumLength)")
    }
}
