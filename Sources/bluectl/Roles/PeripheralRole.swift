import CoreBluetoothPackage

/// The peripheral role of a command: what it publishes and advertises.
@MainActor
final class PeripheralRole: NSObject, CommandRole {
    let backend: CBBackendSelection
    let manager: CBPeripheralManager
    var console: Console
    var limit: Duration

    /// The number of the channel that was published last.
    private var publishedPSM: CBL2CAPPSM = 0
    /// The one callback that is awaited.
    private var awaited: (kind: Callback, continuation: CheckedContinuation<Void, any Error>)?

    /// Who answers; a request that nobody takes is refused.
    weak var server: (any PeripheralRoleServer)?

    /// What is awaited of the manager.
    private enum Callback {
        case state, publication, channel, advertising
        /// Nothing but a state in which the manager has lost what was published.
        case loss
    }

    init(_ backend: CBBackendSelection, console: Console, limit: Duration) {
        self.backend = backend
        self.console = console
        self.limit = limit
        manager = CBPeripheralManager(backend: backend, delegate: nil, queue: .main)
        super.init()
        // Callbacks come through the main queue, so none has come yet.
        manager.delegate = self
    }

    var backendName: String { manager.backendName }

    // MARK: Callbacks

    /// Begins something and waits for the callback that answers it.
    private func callback(
        _ kind: Callback, _ begin: @escaping @MainActor () -> Void = {}
    ) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                awaited = (kind, continuation)
                begin()
            }
        } onCancel: {
            Task { @MainActor in finish(kind, CancellationError()) }
        }
    }

    /// The callback has come, if it is awaited.
    private func finish(_ kind: Callback, _ error: (any Error)? = nil) {
        guard let awaited, awaited.kind == kind else { return }
        self.awaited = nil
        guard let error else { return awaited.continuation.resume() }
        awaited.continuation.resume(
            throwing: error is Failure || error is CancellationError
                ? error : Failure(.failed, ErrorText.of(error)))
    }

    func waitUntilPoweredOn() async throws {
        try await step("waiting for the adapter") {
            try await self.callback(.state) { if self.isSettled { self.finish(.state) } }
        }
        guard manager.state == .poweredOn else { throw AdapterFailure.failure(manager.state) }
    }

    private var isSettled: Bool { manager.state != .unknown && manager.state != .resetting }

    /// Waits for so long, or until the adapter has lost what was published.
    func wait(for duration: Duration?) async throws {
        do {
            try await step("serving", within: duration) { try await self.callback(.loss) }
        } catch let failure as Failure where failure.status == .timedOut {
            // The duration is over.
        }
    }

    /// Publishes a service.
    ///
    /// - Throws: A failure; one of usage if the service itself is not allowed.
    func publish(_ service: CBMutableService) async throws {
        console.progress("Publishing \(AttributeText.label(service.uuid))…")
        defer { console.clearProgress() }
        do {
            try await step("publishing a service") {
                try await self.callback(.publication) { self.manager.add(service) }
            }
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
            try await step("listening for channels") {
                try await self.callback(.channel) { self.manager.publishL2CAPChannel(withEncryption: isRequired) }
            }
        } catch let failure as Failure where failure.status == .failed {
            throw Failure(.failed, "cannot listen for channels: \(failure.description)")
        }
        return publishedPSM
    }

    /// Advertises, connectable, until the command ends.
    ///
    /// What has no room is shortened or left out by Apple's rules.
    func advertise(_ content: AdvertisedContent) async throws {
        do {
            try await step("starting to advertise") {
                try await self.callback(.advertising) {
                    self.manager.startAdvertising(
                        localName: content.name, serviceUUIDs: content.services,
                        manufacturerData: content.manufacturerData, serviceData: content.serviceData)
                }
            }
        } catch let failure as Failure where failure.status == .failed {
            throw Failure(.failed, "cannot advertise: \(failure.description)")
        }
    }

    func close() async {
        guard manager.state == .poweredOn else { return }
        manager.stopAdvertising()
        manager.removeAllServices()
    }
}

/// Answers what centrals ask.
@MainActor
protocol PeripheralRoleServer: AnyObject {
    func read(_ request: CBATTRequest)
    func write(_ requests: [CBATTRequest])
    func subscriptionChanged(_ central: CBCentral, _ characteristic: CBCharacteristic, isSubscribed: Bool)
    func readyToUpdate()
    func opened(_ channel: CBL2CAPChannel)
}

extension PeripheralRole: @preconcurrency CBPeripheralManagerDelegate {
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard let kind = awaited?.kind else { return }
        switch (kind, peripheral.state) {
        case (.state, _): if isSettled { finish(.state) }
        case (_, .unknown): break
        case (_, .poweredOn): break
        // What is published stays, and goes on by itself when the adapter is on again.
        case (.loss, .poweredOff): console.note("the Bluetooth adapter is off")
        default: finish(kind, AdapterFailure.failure(peripheral.state))
        }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        let code = (error as? CBError)?.code
        let isOurs = code == .uuidNotAllowed || code == .invalidParameters
        let failure = error.map { Failure(isOurs ? .usage : .failed, ErrorText.of($0)) }
        finish(.publication, failure)
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        finish(.advertising, error)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {
        publishedPSM = PSM
        finish(.channel, error)
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
