import BluetoothBackend
import BluetoothSupport

extension PeripheralDescription {
    /// A device that removes or adds a service ten times a second while a central is connected.
    ///
    /// Finds apps that keep services and characteristics across `didModifyServices`, or that discover everything again
    /// each time.
    public static let changingServices = hostile("Changing Services", services: [.plain], handler: .changingServices)
}

/// Adds a service with a new value and takes it away again.
public struct ChangingServicesHandler: EmulatedPeripheralHandler {
    static let service: BluetoothUUID = "FFE0"

    /// A device that changes.
    public init() {}

    /// No change yet.
    public func makeState() -> Int { 0 }

    /// Changes while a central is connected.
    public func handle(_ event: DeviceEvent, state: inout Int, device: inout DeviceActions) {
        switch event {
        case .connected: device.startTimer(1, after: .milliseconds(100), every: .milliseconds(100))
        case .disconnected: device.stopTimer(1)
        case .timer(1):
            state += 1
            if state.isMultiple(of: 2) {
                device.removeService(Self.service)
            } else {
                let value = CharacteristicDescription("FFE1", .read, value: Data(littleEndian: UInt16(state & 0xFFFF)))
                device.addService(ServiceDescription(Self.service, characteristics: [value]))
            }
        default: break
        }
    }
}
