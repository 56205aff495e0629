public import BluetoothBackend
public import BluetoothSupport

extension PeripheralDescription {
    /// A device with a serial line that returns what it gets.
    ///
    /// `EmulatedPeripheral(.nordicUART, handler: NordicUARTHandler { … })` answers otherwise.
    public static let nordicUART = PeripheralDescription(
        name: "Nordic UART", address: "C0:DE:6E:40:00:01",
        advertising: [
            AdvertisingDescription(
                AdvertisingData(localName: "Nordic UART"),
                scanResponse: AdvertisingData(services: [NordicUARTHandler.service]))
        ],
        services: [
            ServiceDescription(
                NordicUARTHandler.service,
                characteristics: [
                    CharacteristicDescription(NordicUARTHandler.receive, [.write, .writeWithoutResponse]),
                    CharacteristicDescription(NordicUARTHandler.transmit, .notify),
                ])
        ],
        handler: .nordicUART)
}

/// A serial line: what is written to it is answered with notifications.
///
/// Source: Nordic Semiconductor, "Nordic UART Service (NUS)", nRF Connect SDK.
public struct NordicUARTHandler: EmulatedPeripheralHandler {
    /// The Nordic UART Service.
    public static let service: BluetoothUUID = "6E400001-B5A3-F393-E0A9-E50E24DCCA9E"
    /// What the device receives.
    public static let receive: BluetoothUUID = "6E400002-B5A3-F393-E0A9-E50E24DCCA9E"
    /// What the device sends.
    public static let transmit: BluetoothUUID = "6E400003-B5A3-F393-E0A9-E50E24DCCA9E"

    private let answer: @Sendable (Data) -> [Data]

    /// A line.
    ///
    /// - Parameter answer: What the device sends back; each is cut into what a notification takes. It runs inside a step
    ///   of the world: it must be quick and pure. By default the device returns what it gets.
    public init(answer: @escaping @Sendable (Data) -> [Data] = { [$0] }) { self.answer = answer }

    /// Keeps what was received last, and answers.
    public func respond(
        to request: PeripheralRequest, state: inout Void, device: inout DeviceActions
    ) -> PeripheralResponse {
        guard request.characteristic == Self.receive, let received = request.writtenValue else { return .stored }
        for message in answer(received) {
            for piece in Self.pieces(of: message, size: request.central.mtu - 3) {
                device.notify(CharacteristicPath(Self.transmit), value: piece)
            }
        }
        return .stored
    }

    /// Pieces of at most `size` bytes.
    static func pieces(of data: Data, size: Int) -> [Data] {
        stride(from: 0, to: data.count, by: size).map { Data(data.dropFirst($0).prefix(size)) }
    }
}
