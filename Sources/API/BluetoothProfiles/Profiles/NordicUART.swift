public import AsyncBluetooth
public import CoreBluetooth

/// The service Nordic UART: its characteristics.
///
/// Source: Nordic Semiconductor, "Nordic UART Service (NUS)", nRF Connect SDK.
public enum NordicUARTService {
    /// The service's UUID.
    public static let uuid = CBUUID(string: "6E400001-B5A3-F393-E0A9-E50E24DCCA9E")
    /// The bytes that the client sends to the device.
    public static let receive = GATTCharacteristic<Data>(
        CBUUID(string: "6E400002-B5A3-F393-E0A9-E50E24DCCA9E"), in: uuid, [.write, .writeWithoutResponse])
    /// The bytes that the device sends.
    public static let transmit = GATTCharacteristic<Data>(
        CBUUID(string: "6E400003-B5A3-F393-E0A9-E50E24DCCA9E"), in: uuid, .notify)
}

/// A client of another device's serial line.
public struct NordicUARTClient: Sendable {
    /// The device.
    public let peripheral: Peripheral

    /// Creates a client of a device; sends no request.
    public init(_ peripheral: Peripheral) { self.peripheral = peripheral }

    /// The received bytes.
    public var received: ValueSequence<Data> { peripheral.notifications(of: NordicUARTService.transmit.id) }

    /// Sends bytes in pieces that fit into packets; waits for room.
    public func send(_ data: Data) async throws {
        let size = try await peripheral.maximumWriteLength(for: .withoutResponse)
        for start in stride(from: 0, to: data.count, by: max(1, size)) {
            try await peripheral.writeWithoutResponse(
                Data(data.dropFirst(start).prefix(size)), to: NordicUARTService.receive.id)
        }
    }
}

/// A simulated device with a serial line.
public final class NordicUARTServer: ProfileServer {
    private let receive: ServedValue<Data>
    private let transmit: ServedValue<Data>

    /// Creates a line.
    ///
    /// `answer`: Returns the bytes that the device sends back, each at most one notification; by default it returns the
    /// received bytes. It runs on the device's queue.
    public init(answer: @escaping @Sendable (Data) -> [Data] = { [$0] }) {
        let transmit = ServedValue(NordicUARTService.transmit)
        self.transmit = transmit
        receive = ServedValue(
            NordicUARTService.receive,
            accept: { data in
                for message in answer(data) { transmit.send(message) }
            })
    }

    /// The UUID of the service Nordic UART.
    public var service: CBUUID { NordicUARTService.uuid }
    /// The characteristic that receives bytes, and the one that sends bytes.
    public var values: [any ServedAttribute] { [receive, transmit] }

    /// Sends bytes to subscribers, at most one notification: 20 bytes fit into every MTU.
    public func send(_ data: Data) { transmit.send(data) }
}
