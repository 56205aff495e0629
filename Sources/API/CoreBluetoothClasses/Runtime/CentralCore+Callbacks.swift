import BluetoothBackend
import BluetoothSupport
import Foundation

/// The conversion of callbacks from values to delegate methods; properties change just before (S162).
extension CentralCore {
    /// Calls a delegate, on the manager's queue.
    ///
    /// The delegate is looked up now (S160).
    func deliver(_ callback: CentralCallback) {
        switch callback {
        case .notified(let id, let attribute, let value):
            peripheral(id)?.didNotify(attribute, value)
        case .subscriptionEnded(let id, let attribute, let error):
            peripheral(id)?.didEndSubscription(attribute, error.appError)
        case .response(let id, let link, let request, let response):
            peripheral(id)?.didRespond(to: request, response, on: link)
        case .nameUpdated(let id, let name):
            guard let peripheral = peripheral(id) else { return }
            peripheral.fields.withLock { $0.name = name }
            peripheral.delegate?.peripheralDidUpdateName(peripheral)
        case .readyToWrite(let id):
            guard let peripheral = peripheral(id) else { return }
            peripheral.delegate?.peripheralIsReady(toSendWriteWithoutResponse: peripheral)
        case .servicesModified(let id, let removed):
            guard let peripheral = peripheral(id) else { return }
            let invalidated = peripheral.removeServices(removed)
            peripheral.delegate?.peripheral(peripheral, didModifyServices: invalidated)
        default:
            guard let manager else { return }
            deliver(callback, by: manager)
        }
    }

    private func deliver(_ callback: CentralCallback, by manager: CBCentralManager) {
        switch callback {
        case .willRestore(let restored):
            willRestore(restored, by: manager)
        case .stateUpdated:
            delegate?.centralManagerDidUpdateState(manager)
        case .discovered(let discovery):
            discovered(discovery, by: manager)
        case .connected(let id):
            guard let peripheral = peripheral(id) else { return }
            delegate?.centralManager(manager, didConnect: peripheral)
        case .connectFailed(let id, let error):
            guard let peripheral = peripheral(id) else { return }
            delegate?.centralManager(manager, didFailToConnect: peripheral, error: error.appError)
        case .disconnected(let id, let date, let isReconnecting, let error):
            guard let peripheral = peripheral(id) else { return }
            delegate?.centralManager(
                manager, didDisconnectPeripheral: peripheral,
                timestamp: (date ?? clock.date).timeIntervalSinceReferenceDate, isReconnecting: isReconnecting,
                error: error?.appError)
        case .connectionEvent(let id, let isConnected):
            delegate?.centralManager(
                manager, connectionEventDidOccur: isConnected ? .peerConnected : .peerDisconnected,
                for: peripheralOfTheSystem(id))
        case .ancsAuthorizationUpdated(let id):
            guard let peripheral = peripheral(id) else { return }
            delegate?.centralManager(manager, didUpdateANCSAuthorizationFor: peripheral)
        case .notified, .subscriptionEnded, .response, .nameUpdated, .readyToWrite, .servicesModified:
            break
        }
    }

    private func discovered(_ discovery: Discovery, by manager: CBCentralManager) {
        guard let peripheral = peripheral(discovery.peer) else { return }
        peripheral.setAddress(discovery.address)
        delegate?.centralManager(
            manager, didDiscover: peripheral, advertisementData: discovery.advertisement.dictionary,
            rssi: NSNumber(value: discovery.rssi))
    }
}

extension Advertisement {
    private static let yes = NSNumber(value: true)
    private static let no = NSNumber(value: false)

    /// The dictionary that apps know; keys of absent fields are missing (S24).
    var dictionary: [String: Any] {
        var result: [String: Any] = [:]
        // As many as most reports need, so that it does not grow.
        result.reserveCapacity(4)
        if let localName { result[CBAdvertisementDataLocalNameKey] = localName }
        if let txPowerLevel { result[CBAdvertisementDataTxPowerLevelKey] = NSNumber(value: Int(txPowerLevel)) }
        if let serviceUUIDs { result[CBAdvertisementDataServiceUUIDsKey] = serviceUUIDs.map(CBUUID.init) }
        if let overflowServiceUUIDs {
            result[CBAdvertisementDataOverflowServiceUUIDsKey] = overflowServiceUUIDs.map(CBUUID.init)
        }
        if let solicitedServiceUUIDs {
            result[CBAdvertisementDataSolicitedServiceUUIDsKey] = solicitedServiceUUIDs.map(CBUUID.init)
        }
        if let serviceData {
            result[CBAdvertisementDataServiceDataKey] = Dictionary(
                uniqueKeysWithValues: serviceData.map { (CBUUID($0.key), $0.value) })
        }
        if let manufacturerData { result[CBAdvertisementDataManufacturerDataKey] = manufacturerData }
        if let isConnectable { result[CBAdvertisementDataIsConnectable] = isConnectable ? Self.yes : Self.no }
        return result
    }
}

/// State restoration, on the manager's queue.
extension CentralCore {
    /// Creates the objects of the restored state, and retains them until the delegate has returned.
    func restore(_ restored: RestoredCentralState) {
        let peripherals = restored.peers.map { peripheral($0.summary) }
        transition { $0.handle(.restored(restored)) }
        withExtendedLifetime(peripherals) {}
    }

    /// Calls the delegate with the restored state (S141, S142).
    func willRestore(_ restored: RestoredCentralState, by manager: CBCentralManager) {
        var dictionary: [String: Any] = [:]
        let peripherals = restored.peers.compactMap { peer in
            let peripheral = peripheral(peer.summary.id)
            if let link = peer.link { peripheral?.restore(peer.services, on: link) }
            return peripheral
        }
        if !peripherals.isEmpty { dictionary[CBCentralManagerRestoredStatePeripheralsKey] = peripherals }
        if let scan = restored.scan {
            dictionary[CBCentralManagerRestoredStateScanServicesKey] = scan.services.map { $0.map(CBUUID.init) }
            dictionary[CBCentralManagerRestoredStateScanOptionsKey] = scan.options
        }
        delegate?.centralManager(manager, willRestoreState: dictionary)
    }
}

extension ScanParameters {
    /// The options as an app gives them.
    fileprivate var options: [String: Any] {
        var options: [String: Any] = [
            CBCentralManagerScanOptionAllowDuplicatesKey: NSNumber(value: allowDuplicates)
        ]
        if !solicitedServices.isEmpty {
            options[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] = solicitedServices.map(CBUUID.init)
        }
        return options
    }
}
