#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The signal strength of links, which the controller provides and the daemon does not.
extension CentralRoleMachine {
    mutating func readSignalStrength(_ peer: PeerID, _ operation: LinkState.Operation) {
        guard let adapter, let controller = controller(of: adapter), let record = directory[peer],
            let address = L2CAPAddress(record.address, isRandom: record.isRandom)
        else {
            return fail(
                operation,
                BackendError(.unknown, operation: HCIReadRSSI.operation, message: "an address makes no sense"))
        }
        outputs.effects.append(.readSignalStrength(newCall(for: operation, of: peer), of: address, on: controller))
    }

    private func controller(of adapter: ObjectPath) -> ControllerID? {
        let name = adapter.lastElement
        guard name.hasPrefix("hci"), let index = UInt16(name.dropFirst("hci".count)),
            let object = objects.adapters[adapter],
            let address = L2CAPAddress(object.address, isRandom: object.isRandom)
        else { return nil }
        return ControllerID(index: index, address: address)
    }

    mutating func signalStrengthReplied(_ id: CallID, _ result: Result<Int, BackendError>) {
        guard let peer = id.peer, let operation = links[peer]?.inFlight.removeValue(forKey: id) else { return }
        // The end of a link, or of power, answers all open operations.
        guard links[peer]?.ending.isDown == false else { return }
        switch result {
        case .success(let rssi): respond(operation, .rssi(rssi))
        case .failure(let error): fail(operation, error)
        }
        runOperations(peer)
    }
}
#endif
