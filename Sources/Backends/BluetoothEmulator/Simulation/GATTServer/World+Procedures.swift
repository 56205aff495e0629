import BluetoothBackend
import BluetoothSupport
import BluetoothValues

// The procedures besides reads and writes that a device's handler grants or refuses, and the controls of handlers.
extension World {
    /// Asks the device's handler whether it grants a discovery or a subscription.
    ///
    /// If the handler refuses, the operation is answered; if it does not answer, the operation stays open.
    mutating func isGranted(_ answered: Link.CompletedRequest, on ref: Ref<Link>) -> Bool {
        let device = answered.device
        guard air.devices[device]?.handler.isPresent == true, let procedure = procedure(of: answered, on: ref) else {
            return true
        }
        if air.devices[device]?.handler.asynchronous != nil {
            ask(.procedure(procedure), about: answered, on: ref)
            return false
        }
        var actions = DeviceActions(now: .nanoseconds(context.now), date: context.date)
        let response = air.devices[device]?.handler.behavior?.respond(to: procedure, device: &actions)
        for control in actions.controls { apply(control, to: device) }
        switch response {
        case .granted?, nil: return true
        case .error(let code)?: fail(answered.operation, code, on: ref, "procedure")
        case .failure(let error)?: fail(answered.operation, carrying: error, on: ref, "procedure")
        case .unanswered?: startTransactionTimeout(ref)
        }
        return false
    }

    /// Returns the procedure of an operation; nil for an operation that the handler is not asked about.
    func procedure(of answered: Link.CompletedRequest, on ref: Ref<Link>) -> PeripheralProcedure? {
        if links[ref]?.client.cache != nil, answered.operation.kind.isDiscovery { return nil }
        switch answered.operation.kind {
        case .request(.discoverServices(let types)):
            return PeripheralProcedure(central: links.central(of: ref, hosts), kind: .discoverServices, types: types)
        case .request(.discoverIncludedServices(let service, let types)):
            return procedure(.discoverIncludedServices, of: service, types, answered.device, on: ref)
        case .request(.discoverCharacteristics(let service, let types)):
            return procedure(.discoverCharacteristics, of: service, types, answered.device, on: ref)
        case .request(.discoverDescriptors(let characteristic)):
            return procedure(.discoverDescriptors, of: characteristic, nil, answered.device, on: ref)
        case .request(.setNotifying(let attribute, let isOn)):
            // The host writes the configuration only for its first and its last subscriber.
            guard let peer = links[ref]?.peer,
                hosts[answered.host].ledger.subscribers(of: attribute, at: peer).count <= (isOn ? 0 : 1)
            else { return nil }
            return procedure(isOn ? .subscribe : .unsubscribe, of: attribute, nil, answered.device, on: ref)
        default: return nil
        }
    }

    /// Returns a procedure that concerns an attribute; nil if the attribute was removed.
    private func procedure(
        _ kind: PeripheralProcedure.Kind, of attribute: AttributeID, _ types: [BluetoothUUID]?, _ device: Ref<Device>,
        on ref: Ref<Link>
    ) -> PeripheralProcedure? {
        guard let server = air.devices[device]?.server, let uuid = server.database[attribute]?.uuid else { return nil }
        return PeripheralProcedure(
            central: links.central(of: ref, hosts), kind: kind, types: types, attribute: attribute, uuid: uuid,
            position: server.position(of: attribute))
    }

    /// Delivers a value before all that waits; a host without a subscriber drops it.
    mutating func notifyAtOnce(_ path: CharacteristicPath, _ value: Data, of ref: Ref<Device>) {
        guard let id = characteristic(path, of: ref) else { return }
        air.devices[ref]?.server.database[id]?.value = value
        for link in air.devices[ref]?.links ?? [] where links[link]?.supervision.isSilent == false {
            guard let host = links[link]?.host, let peer = links[link]?.peer, let mtu = links[link]?.mtu else {
                continue
            }
            if hosts[host].ledger.subscribers(of: id, at: peer).isEmpty {
                context.log("notification of \(path.uuid) dropped: no app subscribes to it")
            }
            _ = deliver(
                .value(id, value.prefix(ATTLimits.written(mtu: mtu)), needsConfirmation: false, sender: nil), on: link)
        }
    }

    /// Sets a parameter of the handler, within its range.
    mutating func setParameter(_ parameter: DeviceParameter, _ value: Double, of ref: Ref<Device>) {
        guard let device = air.devices[ref], device.handler.isPresent else {
            return context.log("parameter \(parameter.rawValue) ignored: the device has no handler")
        }
        guard let known = device.handler.builtIn?.parameters else {
            air.devices[ref]?.description.parameters[parameter] = value
            return handle(.parameterChanged(parameter, value), at: ref)
        }
        guard let range = known[parameter], !value.isNaN else {
            return context.log("parameter \(parameter.rawValue) ignored: the device does not have it")
        }
        let value = min(range.upperBound, max(range.lowerBound, value))
        air.devices[ref]?.description.parameters[parameter] = value
        handle(.parameterChanged(parameter, value), at: ref)
    }
}
