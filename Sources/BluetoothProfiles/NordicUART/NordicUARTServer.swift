public import CoreBluetooth

/// A device with a serial line that this program plays.
public final class NordicUARTServer: ProfileServer {
    private let receive: ServedValue<Data>
    private let transmit: ServedValue<Data>

    /// A line.
    ///
    /// - Parameter answer: What the device sends back, at most what a notification carries each; it returns what it
    ///   gets by default. It runs on the device's queue.
    public init(answer: @escaping @Sendable (Data) -> [Data] = { [$0] }) {
        let transmit = ServedValue(NordicUARTService.transmit)
        self.transmit = transmit
        receive = ServedValue(
            NordicUARTService.receive,
            accept: { data in
                for message in answer(data) { transmit.send(message) }
            })
    }

    /// Nordic UART.
    public var service: CBUUID { NordicUARTService.uuid }
    /// What it receives, and what it sends.
    public var values: [any ServedAttribute] { [receive, transmit] }

    /// Sends bytes to subscribers, at most what a notification carries: 20 bytes go everywhere.
    public func send(_ data: Data) { transmit.send(data) }
}
