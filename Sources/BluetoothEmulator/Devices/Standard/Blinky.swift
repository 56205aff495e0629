public import BluetoothBackend
import BluetoothSupport

extension PeripheralDescription {
    /// A board with a button and an LED, as Nordic Semiconductor's sample "LED Button Service" has it.
    public static let blinky = PeripheralDescription(
        name: "nRF Blinky", address: "C0:DE:00:00:15:23",
        advertising: [
            AdvertisingDescription(
                AdvertisingData(localName: "nRF Blinky"),
                scanResponse: AdvertisingData(services: [BlinkyHandler.service]))
        ],
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

/// A button that somebody presses every five seconds for one second while a central listens, and an LED that takes
/// 0 and 1.
public struct BlinkyHandler: EmulatedPeripheralHandler {
    /// The LED Button Service.
    public static let service: BluetoothUUID = "00001523-1212-EFDE-1523-785FEABCD123"
    /// 1 while the button is pressed.
    public static let button: BluetoothUUID = "00001524-1212-EFDE-1523-785FEABCD123"
    /// 1 while the LED is on.
    public static let led: BluetoothUUID = "00001525-1212-EFDE-1523-785FEABCD123"

    static let press = 1
    static let release = 2

    /// A board.
    public init() {}

    /// Refuses what is neither on nor off.
    public func respond(
        to request: PeripheralRequest, state: inout Void, device: inout DeviceActions
    ) -> PeripheralResponse {
        guard request.characteristic == Self.led, let value = request.writtenValue else { return .stored }
        return value == Data([0]) || value == Data([1]) ? .stored : .error(.invalidAttributeValueLength)
    }

    /// Presses and releases the button while somebody listens.
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
