#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport

/// The purpose of a call to a client.
enum RequestPurpose: Sendable {
    /// A call whose answer changes nothing.
    case ignored
    case agent(adapter: Int, PairingRequestID)
    /// The objects of an application.
    case application(adapter: Int, ClientObject, ClientCallID)
    /// The properties of an advertisement, for a call or after a change.
    case advertisement(adapter: Int, AdvertisementID, ClientCallID?)
    case monitor(adapter: Int, ClientObject)
    /// The batteries that a client provides.
    case batteries(BatteryProvider)
    case read(adapter: Int, RequestID)
    /// A part of a write.
    case write(adapter: Int, RequestID)
    /// The socket for the values of a characteristic.
    case acquireNotify(adapter: Int, AttributeID, central: PeerID)

    /// The time within which the client must answer.
    func deadline(_ configuration: EmulatedBlueZConfiguration) -> Duration {
        switch self {
        case .agent: configuration.agentDeadline
        case .application, .advertisement, .monitor, .batteries: configuration.applicationDeadline
        case .read, .write, .acquireNotify, .ignored: configuration.attributeDeadline
        }
    }
}

// Clients: their answers, their signals and their disconnections.
extension BluetoothDaemon {
    mutating func replied(_ id: RequestToClient.ID, _ result: Result<[DBusValue], DBusError>) {
        switch context.requests.removeValue(forKey: id) {
        case .agent(let index, let request)?: adapters[index].pairing.agentReplied(request, result, &context)
        case .application(let index, let key, let call)?:
            let isPowered = adapters[index].state.isPowered
            adapters[index].applications.objectsRead(key, result, for: call, isPowered: isPowered, &context)
        case .advertisement(let index, let id, let call)?:
            adapters[index].advertisements.propertiesRead(id, result, for: call, adapters[index].state, &context)
        case .monitor(let index, let key)?: adapters[index].monitorsRead(key, result, &context)
        case .batteries(let provider)?: batteriesRead(provider, result)
        case .read(let index, let request)?: adapters[index].applications.readAnswered(request, result, &context)
        case .write(let index, let request)?: adapters[index].applications.writeAnswered(request, result, &context)
        case .acquireNotify(let index, let attribute, let central)?:
            adapters[index].applications.acquireNotifyAnswered(attribute, central, result, &context)
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
                if let value = properties["Value"]?.bytesValue { valueChanged(Data(value), signal) }
            case Advertisements.interface?:
                for index in adapters.indices { adapters[index].advertisements.changed(signal, &context) }
            case BatteryProvider.interface?: batteryChanged(signal)
            default: break
            }
        case (StandardInterface.objectManager.name, "InterfacesRemoved"): objectsRemoved(signal)
        case (StandardInterface.objectManager.name, "InterfacesAdded"): objectsAdded(signal)
        default: break
        }
    }

    /// Sends the value of a client's characteristic that notifies by its property.
    private mutating func valueChanged(_ value: Data, _ signal: ClientSignal) {
        for index in adapters.indices { adapters[index].applications.valueChanged(value, of: signal.object, &context) }
    }

    /// Adds the monitors and batteries that a client exports below a registered root.
    private mutating func objectsAdded(_ signal: ClientSignal) {
        guard let path = signal.arguments.first?.pathValue, let value = signal.arguments.last else { return }
        let interfaces = ApplicationDescription.interfaces(in: value)
        if let properties = interfaces[AdvertisementMonitors.interface] {
            for index in adapters.indices {
                adapters[index].monitorAdded(path, properties, of: signal.sender, &context)
            }
        }
        if let properties = interfaces[BatteryProvider.interface] { batteryAdded(path, properties, signal) }
    }

    /// Removes the registered objects that a client withdraws.
    private mutating func objectsRemoved(_ signal: ClientSignal) {
        guard let path = signal.arguments.first?.pathValue, let interfaces = signal.arguments.last?.stringsValue else {
            return
        }
        if interfaces.contains(BlueZInterfaces.service) {
            for index in adapters.indices {
                let isPowered = adapters[index].state.isPowered
                adapters[index].applications.serviceRemoved(path, signal.object, isPowered: isPowered, &context)
            }
        }
        if interfaces.contains(AdvertisementMonitors.interface) {
            for index in adapters.indices { adapters[index].monitorRemoved(path, of: signal.sender, &context) }
        }
        if interfaces.contains(BatteryProvider.interface) { batteryRemoved(path, signal) }
    }

    /// Ends all sessions, links and registrations of a client that left the bus.
    mutating func forget(_ client: String) {
        for index in adapters.indices { adapters[index].forget(client, &context) }
        profiles.forget(client)
        context.forgetBatteryProviders(of: client)
        if let agent = context.agents.remove(where: { $0.client == client }) {
            abandonQuestions(of: agent)
            agentsChanged()
        }
        for (socket, purpose) in context.sockets.sorted(by: { $0.key.rawValue < $1.key.rawValue })
        where purpose.client == client {
            context.output(.close(socket))
            closed(socket)
        }
    }
}
#endif
