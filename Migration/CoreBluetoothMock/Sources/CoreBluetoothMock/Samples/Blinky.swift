import CoreBluetooth

/// A simulated board with a button and an LED, as in Nordic Semiconductor's sample "LED Button Service".
///
/// Add ``spec`` to the simulation with `CBMCentralManagerMock.simulatePeripherals(_:)`. Reads return the states;
/// writing 0 or 1 switches the LED; the button is notified.
///
/// Thread rule: all members may be used from any thread.
public class Blinky: @unchecked Sendable {
    private struct Fields {
        weak var delegate: (any BlinkyDelegate)?
        var isLedOn = false
        var isButtonPressed = false
    }

    /// The type of the LED Button Service.
    public static let serviceUUID = CBMUUID(string: "00001523-1212-EFDE-1523-785FEABCD123")

    /// The peripheral.
    public let spec: CBMPeripheralSpec

    let button: CBMCharacteristicMock
    let led: CBMCharacteristicMock
    // Invariant: mutable state is under this lock.
    private let fields: Protected<Fields>

    /// Creates a board.
    ///
    /// - Parameters:
    ///   - identifier: The identifier of its peripheral.
    ///   - name: The name of its peripheral.
    ///   - proximity: The distance to the host.
    ///   - delegate: Receives the actions of apps; not retained.
    public init(
        identifier: UUID = UUID(), name: String = "Nordic_Blinky", proximity: CBMProximity = .immediate,
        delegate: (any BlinkyDelegate)? = nil
    ) {
        fields = Protected(Fields(delegate: delegate))
        button = CBMCharacteristicMock(
            type: CBMUUID(string: "00001524-1212-EFDE-1523-785FEABCD123"), properties: [.notify, .read],
            descriptors: CBMClientCharacteristicConfigurationDescriptorMock())
        led = CBMCharacteristicMock(
            type: CBMUUID(string: "00001525-1212-EFDE-1523-785FEABCD123"),
            properties: [.read, .write, .writeWithoutResponse])
        let service = CBMServiceMock(type: Self.serviceUUID, primary: true, characteristics: button, led)
        let behavior = BlinkyBehavior()
        spec = CBMPeripheralSpec.simulatePeripheral(identifier: identifier, proximity: proximity)
            .advertising(
                advertisementData: [
                    CBMAdvertisementDataIsConnectable: NSNumber(value: true),
                    CBMAdvertisementDataLocalNameKey: name,
                    CBMAdvertisementDataServiceUUIDsKey: [Self.serviceUUID],
                ], withInterval: 0.250
            )
            .connectable(name: name, services: [service], delegate: behavior, connectionInterval: 0.020)
            .build()
        behavior.attach(to: self)
    }

    /// Presses the button if it is released, and releases it if it is pressed; subscribers are notified.
    public func simulateButtonToggle() {
        let isPressed = fields.withLock { fields in
            fields.isButtonPressed.toggle()
            return fields.isButtonPressed
        }
        spec.simulateValueUpdate(Data([isPressed ? 1 : 0]), for: button)
    }

    /// Restarts the board: the LED is off, the button is released, links are lost.
    public func simulateReset() { spec.simulateReset() }

    // MARK: Behavior

    var isLedOn: Bool { fields.withLock { $0.isLedOn } }
    var isButtonPressed: Bool { fields.withLock { $0.isButtonPressed } }

    func restart() {
        fields.withLock { fields in
            fields.isLedOn = false
            fields.isButtonPressed = false
        }
    }

    func switchLed(_ isOn: Bool) {
        let isChanged = fields.withLock { fields in
            defer { fields.isLedOn = isOn }
            return fields.isLedOn != isOn
        }
        if isChanged { notify { $0.blinky(self, didChangeLedState: isOn) } }
    }

    func changeSubscription(_ isSubscribed: Bool) {
        notify { $0.blinky(self, didChangeButtonSubscriptionState: isSubscribed) }
    }

    /// Calls the delegate on the main queue, in the selection of the world; virtual time waits for it.
    private func notify(_ body: @escaping (any BlinkyDelegate) -> Void) {
        guard let delegate = fields.withLock({ $0.delegate }) else { return }
        let world = spec.fields.withLock { $0.devices.compactMap(\.object).first?.world }
        let hold = world?.emulator?.hold()
        DispatchQueue.main.async {
            if let world { world.perform { body(delegate) } } else { body(delegate) }
            hold?.release()
        }
    }
}

/// A delegate that receives the actions of apps on a ``Blinky``; called on the main queue.
public protocol BlinkyDelegate: AnyObject {
    /// An app switched the LED.
    func blinky(_ blinky: Blinky, didChangeLedState isOn: Bool)
    /// An app subscribed to the button, or unsubscribed from it.
    func blinky(_ blinky: Blinky, didChangeButtonSubscriptionState isSubscribed: Bool)
}

/// The delegate of a board's spec, which does not retain the board.
private final class BlinkyBehavior: CBMPeripheralSpecDelegate {
    private let held = Protected<WeakReference<Blinky>?>(nil)

    private var blinky: Blinky? { held.withLock { $0?.object } }

    func attach(to blinky: Blinky) { held.withLock { $0 = WeakReference(blinky) } }

    func reset() { blinky?.restart() }

    func peripheral(_ peripheral: CBMPeripheralSpec, didDisconnect error: (any Error)?) {
        blinky?.changeSubscription(false)
    }

    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveReadRequestFor characteristic: CBMCharacteristicMock
    ) -> Result<Data, any Error> {
        guard let blinky else { return .failure(CBMATTError(.unlikelyError)) }
        let isOn = characteristic === blinky.led ? blinky.isLedOn : blinky.isButtonPressed
        return .success(Data([isOn ? 1 : 0]))
    }

    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveWriteRequestFor characteristic: CBMCharacteristicMock, data: Data
    ) -> Result<Void, any Error> {
        guard data == Data([0]) || data == Data([1]) else {
            return .failure(CBMATTError(.invalidAttributeValueLength))
        }
        blinky?.switchLed(data == Data([1]))
        return .success(())
    }

    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveWriteCommandFor characteristic: CBMCharacteristicMock, data: Data
    ) {
        guard data == Data([0]) || data == Data([1]) else { return }
        blinky?.switchLed(data == Data([1]))
    }

    func peripheral(
        _ peripheral: CBMPeripheralSpec, didUpdateNotificationStateFor characteristic: CBMCharacteristicMock,
        error: (any Error)?
    ) {
        if error == nil { blinky?.changeSubscription(characteristic.isNotifying) }
    }
}
