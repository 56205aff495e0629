import BluetoothLocking
public import CoreBluetooth

/// Devices that are known.
extension Central {
    /// A device that the system knows, found earlier by its identifier.
    ///
    /// - Throws: ``BluetoothError/Reason/unknownPeripheral``, or why the adapter cannot be used.
    public func peripheral(identifier: UUID) async throws -> Peripheral {
        try await run(BluetoothError.Context(.retrieve, peer: identifier)) { [radio] in
            try await radio.core.ready()
            let known = radio.manager.value.retrievePeripherals(withIdentifiers: [identifier])
            guard let first = known.first else { throw Failure(.unknownPeripheral) }
            return radio.peripheral(for: first)
        }
    }

    /// The devices that any program of the system is connected to and that offer one of these services.
    ///
    /// - Throws: Why the adapter cannot be used.
    public func connectedPeripherals(offering services: [CBUUID]) async throws -> [Peripheral] {
        try await run(BluetoothError.Context(.retrieve)) { [radio] in
            try await radio.core.ready()
            let known = radio.manager.value.retrieveConnectedPeripherals(withServices: services)
            return known.map { radio.peripheral(for: $0) }
        }
    }
}
