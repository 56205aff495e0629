import BluetoothEmulator
import CoreBluetoothTesting
import Testing

@testable import CoreBluetoothMock

/// An app in the peripheral role, which records its callbacks and answers as a test requires.
final class Peripheral: CBMPeripheralManagerDelegate, CBMCentralSpecDelegate, @unchecked Sendable {
    struct State {
        var lines: [String] = []
        var result = CBMATTError.Code.success
        var value = Data([1, 2, 3])
        var requests: [CBMATTRequest] = []
        var centrals: [CBMCentral] = []
        var services: [CBMMutableService] = []
    }

    let state = Protected(State())
    private(set) var manager: CBMPeripheralManager!
    let characteristic = CBMMutableCharacteristic(
        type: CBMUUID(string: "FF01"), properties: [.read, .write, .writeWithoutResponse, .notify], value: nil,
        permissions: [.readable, .writeable])
    let service = CBMMutableService(type: CBMUUID(string: "FF00"), primary: true)

    init(_ make: (Peripheral) -> CBMPeripheralManager = { CBMPeripheralManagerMock(delegate: $0, queue: nil) }) {
        service.characteristics = [characteristic]
        manager = make(self)
    }

    /// Returns an app that publishes a service and advertises.
    static func published(emulator: Emulator = .current) async throws -> Peripheral {
        CBMCentralManagerMock.simulatePowerOn()
        let app = Peripheral()
        try await emulator.advance(by: .seconds(1))
        app.manager.add(app.service)
        app.manager.startAdvertising([
            CBMAdvertisementDataLocalNameKey: "App", CBMAdvertisementDataServiceUUIDsKey: [app.service.uuid],
        ])
        try await emulator.advance(by: .seconds(1))
        #expect(app.take() == ["state poweredOn", "added FF00", "advertising"])
        return app
    }

    func take() -> [String] {
        state.withLock { state in
            defer { state.lines = [] }
            return state.lines
        }
    }

    private func note(_ line: String, _ error: (any Error)? = nil) {
        let code = error.map { ($0 as? CBMError)?.code.rawValue ?? -1 }
        state.withLock { $0.lines.append(code.map { "\(line): CB \($0)" } ?? line) }
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBMPeripheralManager) { note("state \(peripheral.state)") }

    func peripheralManager(_ peripheral: CBMPeripheralManager, willRestoreState dict: [String: Any]) {
        let services = dict[CBMPeripheralManagerRestoredStateServicesKey] as? [CBMMutableService] ?? []
        state.withLock { $0.services = services }
        note("restored \(services.count)")
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBMPeripheralManager, error: (any Error)?) {
        note("advertising", error)
    }

    func peripheralManager(_ peripheral: CBMPeripheralManager, didAdd service: CBMService, error: (any Error)?) {
        note("added \(service.uuid.uuidString)", error)
    }

    func peripheralManager(
        _ peripheral: CBMPeripheralManager, central: CBMCentral, didSubscribeTo characteristic: CBMCharacteristic
    ) {
        state.withLock { $0.centrals.append(central) }
        note("subscribed")
    }

    func peripheralManager(
        _ peripheral: CBMPeripheralManager, central: CBMCentral, didUnsubscribeFrom characteristic: CBMCharacteristic
    ) {
        note("unsubscribed")
    }

    func peripheralManager(_ peripheral: CBMPeripheralManager, didReceiveRead request: CBMATTRequest) {
        note("read \(request.offset)")
        let (value, result) = state.withLock { ($0.value, $0.result) }
        request.value = Data(value.dropFirst(request.offset))
        state.withLock { $0.requests.append(request) }
        peripheral.respond(to: request, withResult: result)
    }

    func peripheralManager(_ peripheral: CBMPeripheralManager, didReceiveWrite requests: [CBMATTRequest]) {
        note("write " + requests.map { "\($0.offset): \($0.value?.count ?? 0)" }.joined(separator: ", "))
        state.withLock { $0.requests += requests }
        peripheral.respond(to: requests[0], withResult: state.withLock { $0.result })
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBMPeripheralManager) { note("ready") }

    func peripheralManager(
        _ peripheral: CBMPeripheralManager, didPublishL2CAPChannel PSM: CBML2CAPPSM, error: (any Error)?
    ) {
        note("published channel", error)
    }

    func peripheralManager(
        _ peripheral: CBMPeripheralManager, didUnpublishL2CAPChannel PSM: CBML2CAPPSM, error: (any Error)?
    ) {
        note("unpublished channel", error)
    }

    // MARK: CBMCentralSpecDelegate

    func central(
        _ central: CBMCentralSpec, didReceiveUpdate value: Data, for characteristic: CBMMutableCharacteristic
    ) {
        #expect(characteristic === self.characteristic)
        note("update \(value.count)")
    }
}
