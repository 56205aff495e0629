public import BluetoothBackend
public import BluetoothSupport

/// What a device wishes to do, collected while its handler runs and done right after.
public struct DeviceActions: Sendable {
    /// The time since the world began.
    public let now: Duration
    /// The wall date, which follows the world's time.
    public let date: Date
    var controls: [DeviceControl] = []

    init(now: Duration, date: Date) {
        self.now = now
        self.date = date
    }

    // MARK: Values

    /// Notifies (or indicates to) subscribers of a value and keeps it.
    public mutating func notify(_ characteristic: CharacteristicPath, value: Data) {
        controls.append(.notify(characteristic, value))
    }

    /// Notifies every connected central of a value at once, subscribed or not, before the answer to the request that
    /// is being handled.
    ///
    /// No device should. Hosts drop what no app subscribed to.
    public mutating func notifyAtOnce(_ characteristic: CharacteristicPath, value: Data) {
        controls.append(.notifyAtOnce(characteristic, value))
    }

    /// Keeps a value without telling anybody.
    public mutating func setValue(_ value: Data, of characteristic: CharacteristicPath) {
        controls.append(.setValue(characteristic, value))
    }

    // MARK: Timers

    /// Starts a timer, in place of a running one of the same number: ``DeviceEvent/timer(_:)``.
    ///
    /// - Parameters:
    ///   - number: Any number; a timer's name.
    ///   - delay: From now to the first time.
    ///   - period: Repeats it so often; nil fires once. A repeating timer does not keep the world from being idle.
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
        controls.append(.disconnect)
    }

    /// Forgets all links without a word, as by a crash, and is on the air again.
    public mutating func reset() {
        controls.append(.lose(staysOnAir: true))
    }

    /// Exchanges the ATT MTU as the device, 23...517 bytes.
    public mutating func exchangeMTU(_ mtu: Int) {
        controls.append(.exchangeMTU(mtu))
    }

    // MARK: Channels

    /// Sends bytes on an L2CAP channel, as soon as the central has room for them.
    public mutating func send(_ data: Data, on channel: ChannelID) {
        controls.append(.send(channel, data))
    }

    /// Closes an L2CAP channel, after all that was sent before.
    public mutating func close(_ channel: ChannelID) {
        controls.append(.closeChannel(channel))
    }

    // MARK: Services

    /// Adds a service, with Service Changed to those who are connected.
    ///
    /// An impossible one is not added; the trace says why.
    public mutating func addService(_ service: ServiceDescription) {
        controls.append(.addService(service))
    }

    /// Removes a service, with Service Changed to those who are connected.
    ///
    /// - Parameters:
    ///   - uuid: The service's type.
    ///   - index: Which one among those of that UUID, from 0 on.
    public mutating func removeService(_ uuid: BluetoothUUID, index: Int = 0) {
        controls.append(.removeService(uuid, index: index))
    }

    /// Writes a line to the emulator's ``Emulator/trace``.
    public mutating func note(_ text: String) {
        controls.append(.note(text))
    }
}
