public import BluetoothBackend
public import BluetoothSupport

/// The actions of a device, collected while its handler runs and performed right after it.
public struct DeviceActions: Sendable {
    /// The time since the world began.
    public let now: Duration
    /// The wall-clock date, which follows the world's time.
    public let date: Date
    var controls: [DeviceControl] = []

    // MARK: Values

    /// Stores a value, and notifies or indicates it to subscribers.
    public mutating func notify(_ characteristic: CharacteristicPath, value: Data) {
        controls.append(.notify(.path(characteristic), value))
    }

    /// Stores the value of the characteristic at a position, and notifies or indicates it to subscribers.
    public mutating func notify(at position: AttributePosition, value: Data) {
        controls.append(.notify(.position(position), value))
    }

    /// Notifies every connected central of a value at once, subscribed or not, before the present request is answered.
    ///
    /// The specification forbids this. Hosts drop values to which no app subscribed.
    public mutating func notifyAtOnce(_ characteristic: CharacteristicPath, value: Data) {
        controls.append(.notifyAtOnce(characteristic, value))
    }

    /// Stores a value without notifying it.
    public mutating func setValue(_ value: Data, of characteristic: CharacteristicPath) {
        controls.append(.setValue(.path(characteristic), value))
    }

    /// Stores the value of a descriptor, the first one of its type in the characteristic, without notifying a central.
    public mutating func setValue(
        _ value: Data, ofDescriptor descriptor: BluetoothUUID, of characteristic: CharacteristicPath
    ) {
        controls.append(.setValue(.descriptor(descriptor, of: characteristic), value))
    }

    /// Stores the value of the characteristic or descriptor at a position, without notifying it.
    public mutating func setValue(_ value: Data, at position: AttributePosition) {
        controls.append(.setValue(.position(position), value))
    }

    // MARK: Timers

    /// Starts a timer, which causes ``DeviceEvent/timer(_:)``; replaces a running timer with the same number.
    ///
    /// - Parameters:
    ///   - number: A number that identifies the timer.
    ///   - delay: The time from now until the timer first fires.
    ///   - period: The time between later firings; nil fires once. A repeating timer does not keep the world from being
    ///     idle.
    public mutating func startTimer(_ number: Int, after delay: Duration, every period: Duration? = nil) {
        controls.append(.startTimer(number, after: delay, every: period))
    }

    /// Stops a timer.
    public mutating func stopTimer(_ number: Int) {
        controls.append(.stopTimer(number))
    }

    // MARK: Links

    /// Closes all links.
    public mutating func disconnect() {
        controls.append(.disconnect(nil))
    }

    /// Loses all links without disconnecting, as in a crash, and advertises again.
    public mutating func reset() {
        controls.append(.lose(staysOnAir: true))
    }

    /// Starts an exchange of the ATT MTU from the device's side, 23...517 bytes.
    public mutating func exchangeMTU(_ mtu: Int) {
        controls.append(.exchangeMTU(mtu))
    }

    // MARK: Channels

    /// Sends bytes on an L2CAP channel, as soon as the central has room for them.
    public mutating func send(_ data: Data, on channel: ChannelID) {
        controls.append(.send(channel, data))
    }

    /// Closes an L2CAP channel after everything sent before has been delivered.
    public mutating func close(_ channel: ChannelID) {
        controls.append(.closeChannel(channel))
    }

    // MARK: Services

    /// Adds a service, and indicates Service Changed to connected centrals.
    ///
    /// An invalid service is not added, and a line in the trace reports it.
    public mutating func addService(_ service: ServiceDescription) {
        controls.append(.addService(service))
    }

    /// Removes a service, and indicates Service Changed to connected centrals.
    ///
    /// - Parameters:
    ///   - uuid: The service's type.
    ///   - index: The index among the services with that UUID, from 0.
    public mutating func removeService(_ uuid: BluetoothUUID, index: Int = 0) {
        controls.append(.removeService(uuid, index: index))
    }

    /// Writes a line to the emulator's ``Emulator/trace``.
    public mutating func log(_ text: String) {
        controls.append(.note(text))
    }
}

/// A property of a device that a test, tool or world file sets, such as its battery level or the wearer's heart rate.
///
/// The constants are those of the built-in devices; a custom handler may define others.
public struct DeviceParameter: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    /// The name, as in world files.
    public let rawValue: String
    /// Creates a parameter from its name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Creates a parameter from a literal.
    public init(stringLiteral value: String) { rawValue = value }

    /// The battery's charge, 0...100 percent.
    public static let batteryLevel: DeviceParameter = "batteryLevel"
    /// The heart rate, 0...65,535 beats per minute.
    ///
    /// Until it is set, it varies between 60 and 90.
    public static let heartRate: DeviceParameter = "heartRate"
    /// Whether the heart rate sensor touches the skin: 0 or 1.
    public static let sensorContact: DeviceParameter = "sensorContact"
    /// Whether the heart rate sensor detects whether it touches the skin: 0 or 1.
    public static let sensorContactSupported: DeviceParameter = "sensorContactSupported"
    /// The energy expended, 0...65,535 kJ.
    public static let energyExpended: DeviceParameter = "energyExpended"
    /// The temperature, -100...300 in the thermometer's unit.
    public static let temperature: DeviceParameter = "temperature"
    /// Whether the thermometer measures in degrees Fahrenheit: 0 or 1.
    public static let fahrenheit: DeviceParameter = "fahrenheit"
    /// The time between two measurements of the thermometer, 0...65,535 s; 0 stops measuring.
    public static let measurementInterval: DeviceParameter = "measurementInterval"
    /// The cadence, 0...400 revolutions of the crank per minute.
    public static let cadence: DeviceParameter = "cadence"
    /// The speed, 0...2,000 revolutions of the wheel per minute.
    public static let wheelRate: DeviceParameter = "wheelRate"
    /// The offset of the device's clock, -1e9...1e9 s; positive if the clock is ahead.
    public static let timeOffset: DeviceParameter = "timeOffset"
    /// The time zone, in quarters of an hour east of UTC: -48...56.
    public static let timeZone: DeviceParameter = "timeZone"
    /// The daylight saving time, in quarters of an hour: 0, 2, 4 or 8.
    public static let daylightSaving: DeviceParameter = "daylightSaving"
}

extension Double {
    /// Returns the nearest integer in a range; NaN becomes the lower bound.
    func whole(in range: ClosedRange<Int>) -> Int {
        guard self > Double(range.lowerBound) else { return range.lowerBound }
        return self < Double(range.upperBound) ? Int(rounded()) : range.upperBound
    }
}
