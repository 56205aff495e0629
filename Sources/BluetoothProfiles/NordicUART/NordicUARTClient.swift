public import AsyncBluetooth
public import CoreBluetooth

/// A serial line to another device.
public struct NordicUARTClient: Sendable {
    /// The device.
    public let peripheral: Peripheral

    /// The line to a device; nothing is asked yet.
    public init(_ peripheral: Peripheral) { self.peripheral = peripheral }

    /// What the device sends.
    public var received: ValueSequence<Data> { peripheral.notifications(of: NordicUARTService.transmit.id) }

    /// Sends bytes, cut into what a packet carries; waits while there is no room.
    public func send(_ data: Data) async throws {
        let size = try await peripheral.maximumWriteLength(for: .withoutResponse)
        for start in stride(from: 0, to: data.count, by: max(1, size)) {
            try await peripheral.writeWithoutResponse(
                Data(data.dropFirst(start).prefix(size)), to: NordicUARTService.receive.id)
        }
    }
}
