import BluetoothValues

/// A fault in a step that a central performs with a device.
///
/// A step is one procedure over the air. A host performs no step for what it already knows, such as the services of a
/// bonded device or a second subscription from the same host. A fault can be part of a ``PeripheralDescription``, and
/// so of a world file.
public struct DeviceFault: Hashable, Sendable {
    /// A procedure of a central with a device.
    public enum Step: String, Hashable, Sendable, CaseIterable, Codable {
        /// The central connects.
        case connect
        /// The central looks for services.
        case discoverServices
        /// The central looks for the services that a service includes.
        case discoverIncludedServices
        /// The central looks for the characteristics of a service.
        case discoverCharacteristics
        /// The central looks for the descriptors of a characteristic.
        case discoverDescriptors
        /// The central reads a characteristic or a descriptor.
        case read
        /// The central writes a characteristic or a descriptor with a response.
        case write
        /// The central writes a characteristic without a response.
        case writeCommand
        /// The central subscribes to a characteristic.
        case subscribe
        /// The central unsubscribes from a characteristic.
        case unsubscribe
        /// The device notifies or indicates a value.
        case notify
        /// The central measures the signal strength.
        case readRSSI
        /// The central opens an L2CAP channel.
        case openChannel
        /// The central pairs.
        case pair
    }

    /// The outcome of a step that meets the fault.
    public enum Effect: Hashable, Sendable {
        /// The device refuses the step and does nothing else.
        ///
        /// The code applies to ATT requests. A connect fails with "connection failed", a channel for lack of resources,
        /// and a pairing as refused; a write command or a value is lost.
        case fail(ATTCode = .unlikelyError)
        /// The device takes longer by this duration.
        ///
        /// Later steps of the same kind wait: requests behind a request, commands behind a command, values behind a
        /// value.
        case delay(Duration)
        /// The device does nothing until ``EmulatedDevice/resume()``.
        case pause
        /// The device closes the link, or the connect fails.
        case disconnect
        /// The device acts, and then the link is lost, so that the central gets no answer.
        ///
        /// Both sides notice the loss after the supervision timeout: the central's request fails because the connection
        /// timed out, although the device has acted. A connect succeeds, and the link is lost at once. A pairing gives
        /// keys to the device only. A write command or a value arrives, whether or not it would be confirmed.
        /// ``Step/readRSSI`` has no answer from the device.
        case loseAnswer
        /// The device acts at once, and its answer comes later by this duration.
        ///
        /// Later requests wait behind the answer; values that the device notifies do not. Applies to ATT requests.
        case delayAnswer(Duration)
        /// The value that arrives is malformed, and the device's own value is as before: the value that a device returns
        /// to a read, or notifies.
        ///
        /// The world's seed decides whether the value is truncated, lengthened or empty, or one of its bits is flipped.
        case corrupt
    }

    /// The step that fails.
    public var step: Step
    /// The outcome of the step.
    public var effect: Effect
    /// The characteristic that the step must concern; nil for any.
    public var characteristic: CharacteristicPath?
    /// The number of matching steps that succeed before the first failure, 0 or more.
    public var skip: Int
    /// The number of matching steps that fail, at least 1; nil for all.
    public var count: Int?

    /// Creates a fault; "fail the second write" is `DeviceFault(.write, .fail(), skip: 1)`.
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
        switch effect {
        case .delay(let time), .delayAnswer(let time):
            try require(time >= .zero, "\(path).time", "a delay is 0 or more")
        case .fail, .pause, .disconnect, .loseAnswer, .corrupt: break
        }
        if let rule = effect.name.brokenRule(at: step) { throw DescriptionError("\(path).what", rule) }
        try require(skip >= 0, "\(path).skip", "0 or more steps go well")
        try require(count ?? 1 >= 1, "\(path).count", "at least 1 step goes wrong")
    }
}

extension EmulatedDevice {
    /// Makes steps of centrals fail, as in "fail the second write"; faults of one step apply in the order of injection.
    ///
    /// A request that waits for more than 30 s ends the link (Core Specification, Vol 3, Part F, 3.3.3); a pairing that
    /// waits that long fails (Vol 3, Part H, 3.4). An effect that does not apply to the step adds nothing but a line to
    /// the trace.
    public func inject(_ fault: DeviceFault) { emulator.submit(.device(ref, .inject(fault))) }

    /// Removes the faults of the same step, effect and characteristic, however often they still apply.
    ///
    /// Paused steps stay paused; see ``resume()``.
    public func removeFault(_ fault: DeviceFault) { emulator.submit(.device(ref, .removeFault(fault))) }

    /// Removes all faults, and resumes paused steps.
    public func clearFaults() { emulator.submit(.device(ref, .clearFaults)) }

    /// Resumes paused steps; later steps still pause.
    public func resume() { emulator.submit(.device(ref, .resume)) }
}
