import CoreBluetooth

/// A server as a long-running service.
extension PeripheralServer {
    /// Publishes and advertises the server's ``ServedOffer`` until the task is cancelled.
    ///
    /// It has the shape of `Service` in swift-service-lifecycle, so `extension PeripheralServer: @retroactive Service {}`
    /// makes a server one. It waits for the adapter in every state, and publishes again what an adapter that was reset or
    /// unplugged has lost. When the task is cancelled it stops advertising, withdraws what it has published, and returns.
    /// A server without an offer publishes nothing here, and waits for the cancellation.
    ///
    /// - Throws: ``BluetoothError`` where the system refuses a service or the advertisement; all is withdrawn before.
    public func run() async throws {
        var published: [ServiceID] = []
        var isAdvertised = false
        defer {
            if isAdvertised { stopAdvertising() }
            for service in published { remove(service) }
        }
        for await state in states {
            switch state {
            case .poweredOn:
                do {
                    for service in (offer?.services ?? []).dropFirst(published.count) {
                        published.append(try await add(service))
                    }
                    if let offer, !isAdvertised {
                        try await startAdvertising(name: offer.name, services: offer.advertisedServices)
                        isAdvertised = true
                    }
                } catch is CancellationError {
                    return
                } catch let error as BluetoothError {
                    // The next state tells how to go on.
                    guard case .unavailable = error.reason else { throw error }
                }
            case .poweredOff:
                // The services stay, and what is advertised goes on with the power.
                core.log.warning(.server, "Bluetooth is switched off: the server waits")
            case .unauthorized, .unsupported:
                core.log.warning(.server, "Bluetooth is \(state): the server waits")
                fallthrough
            default:
                // What was published before the change is gone; what was published since then is published anew, too.
                for service in published { remove(service) }
                published = []
                isAdvertised = false
            }
        }
    }
}
