#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The purpose of a call to a client.
enum RequestPurpose: Sendable {
    /// A call whose answer changes nothing.
    case ignored
    case agent(adapter: Int, PairingRequestID)
    /// The objects of an application.
    case application(adapter: Int, ApplicationKey, ClientCallID)
    /// The properties of an advertisement, for a call or after a change.
    case advertisement(adapter: Int, AdvertisementID, ClientCallID?)
    case monitor(adapter: Int, MonitorRootKey)
    /// The batteries that a client provides.
    case batteries(BatteryProvider)
    case read(adapter: Int, RequestID)
    /// A part of a write.
    case write(adapter: Int, RequestID)
    /// The socket for the values of a characteristic.
    case acquireNotify(adapter: Int, AttributeID, central: PeerID)
}

// Clients: their answers, their signals and their disconnections.
extension BluetoothDaemon {
    mutating func replied(_ id: RequestToClient.ID, _ result: Result<[DBusValue], DBusError>) {
        switch requests.removeValue(forKey: id) {
        case .agent(let index, let request)?: agentReplied(request, result, on: index)
        case .application(let index, let key, let call)?: applicationRead(key, result, call, on: index)
        case .advertisement(let index, let id, let call)?: advertisementRead(id, result, call, on: index)
        case .monitor(let index, let key)?: monitorRead(key, result, on: index)
        case .batteries(let provider)?: batteriesRead(provider, result)
        case .read(let index, let request)?: readAnswered(request, result, on: index)
        case .write(let index, let request)?: writeAnswered(request, result, on: index)
        case .acquireNotify(let index, let attribute, let central)?:
            acquireNotifyAnswered(attribute, central, result, on: index)
        case .ignored?, nil: break
        }
    }

    /// Handles a signal of an object that a client registered.
    mutating func receive(_ signal: ClientSignal) {
        switch (signal.interface, signal.member) {
        case (StandardInterface.properties.name, "PropertiesChanged"):
            let properties = signal.arguments.dropFirst().first?.propertiesValue ?? [:]
            switch signal.arguments.first?.stringValue {
            case BlueZInterfaces.characteristic?:
                if let value = properties["Value"]?.bytesValue { valueChanged(value, signal) }
            case Advertisements.interface?: advertisementChanged(signal)
            case BatteryProvider.interface?: batteryChanged(signal)
            default: break
            }
        case (StandardInterface.objectManager.name, "InterfacesRemoved"): objectsRemoved(signal)
        case (StandardInterface.objectManager.name, "InterfacesAdded"):
            objectsAdded(signal)
            batteryAdded(signal)
        default: break
        }
    }

    /// Removes the registered objects that a client withdraws.
    private mutating func objectsRemoved(_ signal: ClientSignal) {
        guard let path = signal.arguments.first?.pathValue, let interfaces = signal.arguments.last?.stringsValue else {
            return
        }
        if interfaces.contains(BlueZInterfaces.service) {
            serviceRemoved(path, ApplicationKey(client: signal.sender, root: signal.path))
        }
        if interfaces.contains(Self.monitorInterface) { monitorRemoved(path, of: signal.sender) }
        if interfaces.contains(BatteryProvider.interface) { batteryRemoved(path, signal) }
    }

    /// Ends all sessions, links and registrations of a client that left the bus.
    mutating func forget(_ client: String) {
        for index in adapters.indices {
            if adapters[index].discovery.forget(client) { discoveryChanged(on: index) }
            endSessions(of: client, on: index)
            endPendingCalls(of: client, on: index)
            forgetApplications(of: client, on: index)
            forgetAdvertisements(of: client, on: index)
            forgetMonitors(of: client, on: index)
        }
        profiles.forget(client)
        forgetBatteryProviders(of: client)
        if let agent = agents.remove(of: client) {
            abandonQuestions(of: agent)
            agentsChanged()
        }
        for (socket, purpose) in sockets.sorted(by: { $0.key.rawValue < $1.key.rawValue })
        where purpose.client == client {
            output(.close(socket))
            closed(socket)
        }
    }

    private mutating func endSessions(of client: String, on index: Int) {
        for (peer, device) in adapters[index].devices {
            for (id, found) in device.database.characteristics.sorted(by: { $0.key < $1.key }) {
                for (call, sender) in found.starting where sender == client {
                    adapters[index].devices[peer]?.database.characteristics[id]?.starting.removeAll { $0.call == call }
                    refuse(call, BlueZError.failed("Operation failed"))
                }
                endSession(client, id, of: peer, on: index)
            }
        }
    }

    /// Cancels connects and pairings that the client asked for.
    private mutating func endPendingCalls(of client: String, on index: Int) {
        for (peer, device) in adapters[index].devices where device.connection.connect?.call?.sender == client {
            output(.central(adapter: index, .disconnect(peer: peer)))
            connectFailed(peer, on: index, BackendError(.operationCancelled, operation: "connect"))
        }
        for (peer, device) in adapters[index].devices where device.security.pairing?.sender == client {
            for (question, asked) in adapters[index].pairing.questions where asked.peer == peer {
                reject(question, on: index)
            }
            endPairing(of: peer, on: index, BlueZError.authenticationCanceled)
        }
    }
}
#endif
