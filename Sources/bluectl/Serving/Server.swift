#if Emulator
import BluetoothEmulator
import CoreBluetoothPackage

/// Answers for a device: stores what is written, returns what is stored, notifies by its timers, and tells of it all.
@MainActor
final class Server: PeripheralRoleServer {
    /// A value on its way to subscribers; nil is all of them.
    private struct Update {
        let served: StoredCharacteristic
        let value: Data
        let centrals: [CBCentral]?
    }

    private let role: PeripheralRole
    private let device: ServedDevice
    private let listing: ServerEventPrinter
    private let channels: ChannelServer
    /// How many of the services are published.
    private(set) var publishedCount = 0
    /// What waits for room, in order.
    private var waiting: [Update] = []

    init(_ device: ServedDevice, role: PeripheralRole) {
        self.role = role
        self.device = device
        listing = ServerEventPrinter(role.console, backend: role.emulatedBackend)
        channels = ChannelServer(role: role, listing: listing)
        role.server = self
    }

    /// Publishes the services, listens for channels, then advertises.
    func start() async throws {
        for service in device.services {
            try await role.publish(service)
            publishedCount += 1
        }
        listing.published(device)
        for channel in device.channels { try await channels.publish(channel) }
        guard let advertised = device.advertised else {
            return role.console.note("\(PrintableText.of(device.name)) advertises nothing, as the file says")
        }
        try await role.advertise(advertised)
        role.showAdvertising(advertised)
    }

    func opened(_ channel: CBL2CAPChannel) { channels.opened(channel) }

    /// Ends the timers and the channels.
    func stop() {
        channels.stop()
        for served in device.characteristics { served.timer?.cancel() }
    }

    // MARK: Requests

    func read(_ request: CBATTRequest) {
        guard let served = device.served(request.characteristic) else {
            return role.manager.respond(to: request, withResult: .attributeNotFound)
        }
        switch served.read(from: request.offset) {
        case .success(let value):
            request.value = value
            role.manager.respond(to: request, withResult: .success)
            listing.request("read", request, value: value)
        case .failure(let error):
            role.manager.respond(to: request, withResult: error.code)
            listing.request("read", request, error: error.code)
        }
    }

    /// All of them are taken, or none.
    func write(_ requests: [CBATTRequest]) {
        var values: [ObjectIdentifier: (served: StoredCharacteristic, value: Data)] = [:]
        for request in requests {
            guard let served = device.served(request.characteristic) else {
                return role.manager.respond(to: request, withResult: .attributeNotFound)
            }
            let key = ObjectIdentifier(served)
            let before = values[key]?.value ?? served.value
            switch served.written(request.value ?? Data(), at: request.offset, over: before) {
            case .success(let value): values[key] = (served, value)
            case .failure(let error):
                role.manager.respond(to: request, withResult: error.code)
                return listing.request("write", request, value: request.value, error: error.code)
            }
        }
        guard let first = requests.first else { return }
        for (served, value) in values.values { served.store(value) }
        role.manager.respond(to: first, withResult: .success)
        for request in requests { listing.request("write", request, value: request.value) }
        for (served, value) in values.values where served.description.echo {
            echo(value, of: served, to: first.central)
        }
    }

    /// Tells the writer what it wrote, if it subscribes.
    private func echo(_ value: Data, of served: StoredCharacteristic, to central: CBCentral) {
        let subscribers = served.object.subscribedCentrals ?? []
        guard subscribers.contains(where: { $0.identifier == central.identifier }) else { return }
        send(Update(served: served, value: value, centrals: [central]))
    }

    // MARK: Subscriptions

    func subscriptionChanged(_ central: CBCentral, _ characteristic: CBCharacteristic, isSubscribed: Bool) {
        listing.subscription(central, characteristic, isSubscribed: isSubscribed)
        guard let served = device.served(characteristic) else { return }
        if served.object.subscribedCentrals?.isEmpty ?? true {
            served.timer?.cancel()
            served.timer = nil
            waiting.removeAll { $0.served === served }
        } else if served.timer == nil, let interval = served.description.timer?.interval {
            served.timer = Task { [weak self] in
                while true {
                    do {
                        try await Task.sleep(for: interval)
                    } catch {
                        return
                    }
                    self?.fire(served)
                }
            }
        }
    }

    private func fire(_ served: StoredCharacteristic) {
        served.advance()
        // A link that is slower than the timer skips values.
        guard !waiting.contains(where: { $0.served === served }) else { return }
        send(Update(served: served, value: served.value, centrals: nil))
    }

    private func send(_ update: Update) {
        if !waiting.isEmpty || !isSent(update) { waiting.append(update) }
    }

    private func isSent(_ update: Update) -> Bool {
        let object = update.served.object
        guard role.manager.updateValue(update.value, for: object, onSubscribedCentrals: update.centrals) else {
            return false
        }
        listing.notification(object, update.value, to: update.centrals?.first)
        return true
    }

    func readyToUpdate() {
        while let next = waiting.first, isSent(next) { waiting.removeFirst() }
    }
}
#endif
