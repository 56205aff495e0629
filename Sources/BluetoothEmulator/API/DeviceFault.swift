import BluetoothValues

/// A fault of a step that a central performs with a device, as data.
///
/// A step is one procedure over the air. What a host knows by itself (services of a bonded device, a second
/// subscription of one host) takes none. A fault can be part of a ``PeripheralDescription``, and so of a world file.
public struct DeviceFault: Hashable, Sendable {
    /// A procedure of a central with a device.
    public enum Step: String, Hashable, Sendable, CaseIterable {
        /// The central connects.
        case connect
        /// Looks for services.
        case discoverServices
        /// Looks for the services that a service includes.
        case discoverIncludedServices
        /// Looks for the characteristics of a service.
        case discoverCharacteristics
        /// Looks for the descriptors of a characteristic.
        case discoverDescriptors
        /// Reads a characteristic or a descriptor.
        case read
        /// Writes one, with an answer.
        case write
        /// Writes one without an answer.
        case writeCommand
        /// Subscribes to a characteristic.
        case subscribe
        /// Unsubscribes from it.
        case unsubscribe
        /// The device notifies or indicates a value.
        case notify
        /// The central measures the signal.
        case readRSSI
        /// Opens an L2CAP channel.
        case openChannel
        /// Pairs.
        case pair
    }

    /// The outcome instead.
    public enum Effect: Hashable, Sendable {
        /// The step is refused; the device does nothing.
        ///
        /// The code is that of requests of ATT. A connect fails with "connection failed", a channel because of missing resources,
        /// a pairing as refused; a write command or a value is lost.
        case fail(ATTCode = .unlikelyError)
        /// The device takes that much longer.
        ///
        /// What needs the answer waits behind it: later requests behind a request, later commands behind a command,
        /// later values behind a value.
        case delay(Duration)
        /// The device does nothing until ``EmulatedDevice/resume()``.
        case pause
        /// The device closes the link; a connect fails.
        case disconnect
    }

    /// The step that fails.
    public var step: Step
    /// The outcome of the step.
    public var effect: Effect
    /// The characteristic that the step must be about; nil for any.
    public var characteristic: CharacteristicPath?
    /// The number of such steps that succeed before, 0 or more.
    public var skip: Int
    /// The number of next steps that fail, at least 1; nil for all.
    public var count: Int?

    /// Describes a fault: "fail the second write" is `DeviceFault(.write, .fail(), skip: 1)`.
    public init(
        _ step: Step, _ effect: Effect, of characteristic: CharacteristicPath? = nil, skip: Int = 0, count: Int? = 1
    ) {
        self.step = step
        self.effect = effect
        self.characteristic = characteristic
        self.skip = max(0, skip)
        self.count = count.map { max(1, $0) }
    }

    /// Checks a fault of a description.
    func validate(path: String) throws(DescriptionError) {
        if case .fail(let code) = effect, code.rawValue == 0 {
            throw DescriptionError("\(path).code", "an ATT error code is 1...255")
        }
        if case .delay(let time) = effect, time < .zero {
            throw DescriptionError("\(path).time", "a delay is 0 or more")
        }
        try require(skip >= 0, "\(path).skip", "0 or more steps go well")
        try require(count ?? 1 >= 1, "\(path).count", "at least 1 step goes wrong")
    }
}

extension EmulatedDevice {
    /// Makes steps of centrals go wrong, as in "fail the second write": faults of one step happen in the order in which
    /// they came.
    ///
    /// A request that waits for more than 30 s ends the link (Core Specification, Vol 3, Part F, 3.3.3), a pairing that
    /// does fails (Vol 3, Part H, 3.4).
    public func inject(_ fault: DeviceFault) { emulator.submit(.device(ref, .inject(fault))) }

    /// Removes all faults, and resumes paused steps.
    public func clearFaults() { emulator.submit(.device(ref, .clearFaults)) }

    /// Resumes paused steps; later ones pause as before.
    public func resume() { emulator.submit(.device(ref, .resume)) }
}
