/// What goes wrong with a step that a central takes with a device, as data.
///
/// A step is one procedure over the air. What a host knows by itself (services of a bonded device, a second
/// subscription of one host) takes none.
public struct DeviceFault: Hashable, Sendable {
    /// What a central does.
    public enum Step: String, Hashable, Sendable, CaseIterable {
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
        /// Asks to be told of a characteristic's value.
        case subscribe
        /// Wants to hear no more of it.
        case unsubscribe
    }

    /// What happens instead.
    public enum Effect: Hashable, Sendable {
        /// The step is refused; the device does nothing.
        case fail(ATTCode)
        /// The device takes that much longer.
        case delay(Duration)
        /// The device does nothing until ``EmulatedDevice/resume()``.
        case pause
    }

    /// The step that goes wrong.
    public var step: Step
    /// What happens.
    public var effect: Effect
    /// The characteristic that the step must be about; nil for any.
    public var characteristic: CharacteristicPath?
    /// How many of the next steps go wrong, at least 1; nil for all.
    public var count: Int?

    /// Describes a fault.
    public init(_ step: Step, _ effect: Effect, of characteristic: CharacteristicPath? = nil, count: Int? = 1) {
        self.step = step
        self.effect = effect
        self.characteristic = characteristic
        self.count = count.map { max(1, $0) }
    }
}

extension EmulatedDevice {
    /// Makes steps of centrals go wrong, as in "fail the second write": faults of one step happen in the order in which
    /// they came.
    ///
    /// A step that waits for more than 30 s ends the link (Core Specification, Vol 3, Part F, 3.3.3).
    public func inject(_ fault: DeviceFault) { emulator.submit(.device(ref, .inject(fault))) }

    /// Takes all faults back, and lets paused steps go on.
    public func clearFaults() { emulator.submit(.device(ref, .clearFaults)) }

    /// Lets paused steps go on; later ones pause as before.
    public func resume() { emulator.submit(.device(ref, .resume)) }
}
