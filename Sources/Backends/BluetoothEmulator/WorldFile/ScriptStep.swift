import BluetoothBackend
public import BluetoothSupport

/// A step of a world's script: an action on a device, a host or the whole world at an instant.
///
/// The action has the effect of the corresponding control of ``EmulatedDevice``, ``EmulatedHost`` or ``Emulator``.
public struct ScriptStep: Hashable, Sendable {
    /// An action on a device.
    public enum DeviceAction: Hashable, Sendable {
        /// Moves the device nearer, farther or out of range.
        case setProximity(Proximity)
        /// Sets the mean signal strength in dBm, -127...20.
        case setRSSI(Int)
        /// Switches all advertising sets on or off.
        case setAdvertising(Bool)
        /// Stores a value, and notifies subscribers if `isNotified`.
        case setValue(Data, of: CharacteristicPath, isNotified: Bool = true)
        /// Closes the device's links.
        case disconnect
        /// Loses the device's links without disconnecting, as in a restart: centrals notice after the supervision
        /// timeout.
        case reset
        /// Changes to a new private address: hosts without the device's keys see a new device; its links stay.
        case rotateAddress
        /// Injects a fault into steps of centrals from now on.
        case inject(DeviceFault)
        /// Removes all faults, and resumes paused steps.
        case clearFaults
        /// Resumes paused steps; later steps still pause.
        case resume
    }

    /// An action on a host.
    public enum HostAction: Hashable, Sendable {
        /// Switches the adapter on or off.
        case setPower(Bool)
        /// Unplugs the adapter or plugs it in; the state is `.unsupported` while it is unplugged.
        case setPlugged(Bool)
        /// Restarts the system's Bluetooth service; the state is `.resetting` for the duration, 0 or more.
        case reset(for: Duration)
    }

    /// An action on a device, a host or the whole world.
    public enum Action: Hashable, Sendable {
        /// An action on the device with a name or an address.
        case device(String, DeviceAction)
        /// An action on the host with a name.
        case host(String, HostAction)
        /// Loses each packet with a chance of 0...1, from now on; 0 ends the interference.
        case interference(Double)
    }

    /// The maximum number of steps of a script.
    static let maximumCount = 10_000

    /// The time since the world began, 0 or more.
    public var time: Duration
    /// The action at that time.
    public var action: Action

    /// The time at which the step is over by itself.
    var end: Duration {
        if case .host(_, .reset(let duration)) = action { time + duration } else { time }
    }

    /// Creates a step.
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
        case .interference(let chance):
            try require((0.0...1.0).contains(chance), "\(path).interference", "a chance is 0...1")
        case .host(let name, let action):
            try require(
                name == "default" || hosts.contains { $0.name == name }, "\(path).host",
                "there is no host \"\(name)\"")
            if case .reset(let time) = action {
                try require(time >= .zero, "\(path).resetting", "a restart takes 0 s or longer")
            }
        case .device(let name, let action):
            let device = devices[try devices.index(of: name, path: "\(path).device")]
            switch action {
            case .setRSSI(let rssi):
                try require((-127...20).contains(rssi), "\(path).rssi", "the signal strength is -127...20 dBm")
            case .inject(let fault): try fault.validate(path: "\(path).fault")
            case .setValue(let value, let characteristic, _):
                try validate(value, of: characteristic, in: device, path: path)
            case .setProximity, .setAdvertising, .disconnect, .reset, .rotateAddress, .clearFaults, .resume: break
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
