public import BluetoothBackend
public import BluetoothSupport

extension PeripheralDescription {
    /// A board with a button and an LED, like Nordic Semiconductor's sample "LED Button Service".
    public static let blinky = builtIn(
        "nRF Blinky", "C0:DE:00:00:15:23",
        services: [
            ServiceDescription(
                BlinkyHandler.service,
                characteristics: [
                    CharacteristicDescription(BlinkyHandler.button, [.read, .notify], value: Data([0])),
                    CharacteristicDescription(
                        BlinkyHandler.led, [.read, .write, .writeWithoutResponse], value: Data([0]), maximumLength: 1),
                ])
        ],
        handler: .blinky)
}

/// A button that is pressed every five seconds for one second while a central subscribes, and an LED that accepts 0
/// and 1.
public struct BlinkyHandler: EmulatedPeripheralHandler {
    /// The LED Button Service.
    public static let service: BluetoothUUID = "00001523-1212-EFDE-1523-785FEABCD123"
    /// The button's characteristic: 1 while the button is pressed.
    public static let button: BluetoothUUID = "00001524-1212-EFDE-1523-785FEABCD123"
    /// The LED's characteristic: 1 while the LED is on.
    public static let led: BluetoothUUID = "00001525-1212-EFDE-1523-785FEABCD123"

    static let press = 1
    static let release = 2

    /// Creates the handler.
    public init() {}

    /// Refuses values other than on and off, with the codes of the
    /// [nRF Connect SDK](https://github.com/nrfconnect/sdk-nrf/blob/main/subsys/bluetooth/services/lbs.c).
    public func respond(
        to request: PeripheralRequest, state: inout Void, device: inout DeviceActions
    ) -> PeripheralResponse {
        guard request.characteristic == Self.led, let value = request.writtenValue else { return .stored }
        guard value.count == 1 else { return .error(.invalidAttributeValueLength) }
        return value == Data([0]) || value == Data([1]) ? .stored : .error(.valueNotAllowed)
    }

    /// Presses and releases the button while a central subscribes.
    public func handle(_ event: DeviceEvent, state: inout Void, device: inout DeviceActions) {
        switch event {
        case .subscribed:
            device.startTimer(Self.press, after: .seconds(5), every: .seconds(5))
            device.startTimer(Self.release, after: .seconds(6), every: .seconds(5))
        case .unsubscribed, .disconnected:
            device.stopTimer(Self.press)
            device.stopTimer(Self.release)
        case .timer(Self.press): device.notify(CharacteristicPath(Self.button), value: Data([1]))
        case .timer(Self.release): device.notify(CharacteristicPath(Self.button), value: Data([0]))
        default: break
        }
    }
}

/// The Blinky board of an emulated device.
public struct EmulatedBlinky: Sendable {
    /// The device with these controls.
    public let device: EmulatedDevice

    /// Creates the controls of a device; nil if it is not a Blinky board.
    public init?(_ device: EmulatedDevice) {
        guard device.has(CharacteristicPath(BlinkyHandler.button)) else { return nil }
        self.device = device
    }

    /// Presses or releases the button; subscribers are notified.
    public func setButton(isPressed: Bool) {
        device.notify(CharacteristicPath(BlinkyHandler.button), value: Data([isPressed ? 1 : 0]))
    }
}

extension PeripheralDescription {
    /// A device that stores, returns and notifies what is written to it.
    public static let echo = builtIn(
        "Echo", "C0:DE:00:00:EC:40",
        services: [
            ServiceDescription(
                "0000EC40-7A3D-4C5B-9E1F-2B6A8D4C0F01",
                characteristics: [
                    CharacteristicDescription(
                        "0000EC41-7A3D-4C5B-9E1F-2B6A8D4C0F01", [.read, .write, .writeWithoutResponse, .notify],
                        echo: true)
                ])
        ])
}

extension PeripheralDescription {
    /// A device with a serial line that returns what it receives.
    ///
    /// `EmulatedPeripheral(.nordicUART, handler: NordicUARTHandler { … })` gives other answers.
    public static let nordicUART = builtIn(
        "Nordic UART", "C0:DE:6E:40:00:01",
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

/// A serial line that answers what is written to it with notifications.
///
/// Source: Nordic Semiconductor, "Nordic UART Service (NUS)", nRF Connect SDK.
public struct NordicUARTHandler: EmulatedPeripheralHandler {
    /// The Nordic UART Service.
    public static let service: BluetoothUUID = "6E400001-B5A3-F393-E0A9-E50E24DCCA9E"
    /// The characteristic on which the device receives.
    public static let receive: BluetoothUUID = "6E400002-B5A3-F393-E0A9-E50E24DCCA9E"
    /// The characteristic on which the device sends.
    public static let transmit: BluetoothUUID = "6E400003-B5A3-F393-E0A9-E50E24DCCA9E"

    private let answer: @Sendable (Data) -> [Data]

    /// Creates a serial line.
    ///
    /// - Parameter answer: Returns the data that the device sends back; each element is split to fit into
    ///   notifications. It runs inside a step of the world and must be quick and pure. By default, the device returns
    ///   what it receives.
    public init(answer: @escaping @Sendable (Data) -> [Data] = { [$0] }) { self.answer = answer }

    /// Stores the last received data, and sends the answer.
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

    /// Splits data into pieces of at most `size` bytes.
    static func pieces(of data: Data, size: Int) -> [Data] {
        stride(from: 0, to: data.count, by: size).map { Data(data.dropFirst($0).prefix(size)) }
    }
}

/// The Nordic UART of an emulated device.
public struct EmulatedNordicUART: Sendable {
    /// The device with these controls.
    public let device: EmulatedDevice

    /// Creates the controls of a device; nil if it has no Nordic UART.
    public init?(_ device: EmulatedDevice) {
        guard device.has(CharacteristicPath(NordicUARTHandler.transmit)) else { return nil }
        self.device = device
    }

    /// Sends data from the device, in notifications of at most 20 bytes, which fit every MTU.
    public func send(_ data: Data) {
        for piece in NordicUARTHandler.pieces(of: data, size: 20) {
            device.notify(CharacteristicPath(NordicUARTHandler.transmit), value: piece)
        }
    }
}
