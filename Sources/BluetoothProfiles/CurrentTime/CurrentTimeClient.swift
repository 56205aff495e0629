public import AsyncBluetooth
public import CoreBluetooth

/// The clock of another device.
public struct CurrentTimeClient: Sendable {
    /// The device.
    public let peripheral: Peripheral

    /// The clock of a device; nothing is asked yet.
    public init(_ peripheral: Peripheral) { self.peripheral = peripheral }

    /// Reads the time.
    public func time() async throws -> CurrentTime { try await peripheral.read(CurrentTimeService.time) }

    /// Sets the time.
    ///
    /// - Throws: ATT error 0x80, "Data Field Ignored", of a device that took only a part of it.
    public func setTime(_ time: CurrentTime) async throws {
        try await peripheral.write(time, to: CurrentTimeService.time)
    }

    /// The time each time that it was adjusted.
    public var adjustments: AsyncThrowingMapSequence<ValueSequence<Data>, CurrentTime> {
        peripheral.values(of: CurrentTimeService.time)
    }

    /// Reads the difference of local time from UTC; nil where the device has no such characteristic.
    public func localTimeInformation() async throws -> LocalTimeInformation? {
        try await peripheral.readIfPresent(CurrentTimeService.local)
    }

    /// Reads the source of the time; nil where the device has no such characteristic.
    public func referenceTimeInformation() async throws -> ReferenceTimeInformation? {
        try await peripheral.readIfPresent(CurrentTimeService.reference)
    }
}
