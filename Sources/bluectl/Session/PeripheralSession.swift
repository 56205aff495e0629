import CoreBluetoothPackage

/// A conversation with a radio in the peripheral role.
@MainActor
final class PeripheralSession: NSObject, RadioSession {
    let radio: CBBackendSelection
    let manager: CBPeripheralManager
    var console: Console
    let steps: StepWaiter

    /// The number of the channel that was published last.
    private var publishedPSM: CBL2CAPPSM = 0

    /// Who answers; a request that nobody takes is refused.
    weak var server: (any PeripheralSessionServer)?

    init(_ radio: CBBackendSelection, console: Console, limit: Duration) {
        self.radio = radio
        self.console = console
        steps = StepWaiter(limit: limit)
        manager = CBPeripheralManager(backend: radio, delegate: nil, queue: .main)
        super.init()
        // Callbacks come through the main queue, so none has come yet.
        manager.delegate = self
    }

    var state: CBManagerState { manager.state }

    var backendName: String { manager.backendName }

    /// Publishes a service.
    ///
    /// - Throws: A failure; one of usage if the service itself is not allowed.
    func publish(_ service: CBMutableService) async throws {
        console.progress("Publishing \(AttributeText.label(service.uuid))…")
        defer { console.clearProgress() }
        do {
            try await perform(.publication(ObjectIdentifier(service))) { manager.add(service) }
        } catch let failure as Failure where failure.status != .timedOut {
            let label = AttributeText.label(service.uuid)
            throw Failure(failure.status, "cannot publish the service \(label): \(failure.description)")
        }
    }

    /// Listens for channels.
    ///
    /// - Returns: The number that the system chose.
    func publishChannel(withEncryption isRequired: Bool) async throws -> CBL2CAPPSM {
        do {
            try await perform(.channel) { manager.publishL2CAPChannel(withEncryption: isRequired) }
        } catch let failure as Failure where failure.status == .failed {
            throw Failure(.failed, "cannot listen for channels: \(failure.description)")
        }
        return publishedPSM
    }

    /// Advertises, connectable, until the session closes.
    ///
    /// What has no room is shortened or left out by Apple's rules.
    func advertise(_ content: AdvertisedContent) async throws {
        do {
            try await perform(.advertising) {
                manager.startAdvertising(
                    localName: content.name, serviceUUIDs: content.services,
                    manufacturerData: content.manufacturerData, serviceData: content.serviceData)
            }
        } catch let failure as Failure where failure.status == .failed {
            throw Failure(.failed, "cannot advertise: \(failure.description)")
        }
    }

    func close() async {
        steps.isClosing = true
        guard state == .poweredOn else { return }
        manager.stopAdvertising()
        manager.removeAllServices()
    }
}

/// Who answers what centrals ask of a session.
@MainActor
protocol PeripheralSessionServer: AnyObject {
    func read(_ request: CBATTRequest)
    func write(_ requests: [CBATTRequest])
    func subscriptionChanged(_ central: CBCentral, _ characteristic: CBCharacteristic, isSubscribed: Bool)
    func readyToUpdate()
    func opened(_ channel: CBL2CAPChannel)
}

extension PeripheralSession: @preconcurrency CBPeripheralManagerDelegate {
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        if state == .unknown || state == .resetting && isAwaiting(.state) { return }
        if isAwaiting(.state) { return answer(.state) }
        switch state {
        case .poweredOn: break
        // What is published stays, and goes on by itself when the adapter is on again.
        case .poweredOff where isAwaiting(.end): console.note("the Bluetooth adapter is off")
        default: if steps.isWaiting { fail(RadioState.failure(state)) }
        }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        let code = (error as? CBError)?.code
        let isOurs = code == .uuidNotAllowed || code == .invalidParameters
        let failure = error.map { Failure(isOurs ? .usage : .failed, ErrorText.of($0)) }
        answer(.publication(ObjectIdentifier(service)), error: failure)
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        answer(.advertising, error: error)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {
        publishedPSM = PSM
        answer(.channel, error: error)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        if let channel { server?.opened(channel) }
        if let error { console.note("a channel could not be opened: \(ErrorText.of(error))") }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        guard let server else { return peripheral.respond(to: request, withResult: .requestNotSupported) }
        server.read(request)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        guard let first = requests.first else { return }
        guard let server else { return peripheral.respond(to: first, withResult: .requestNotSupported) }
        server.write(requests)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) {
        server?.subscriptionChanged(central, characteristic, isSubscribed: true)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        server?.subscriptionChanged(central, characteristic, isSubscribed: false)
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { server?.readyToUpdate() }
}
