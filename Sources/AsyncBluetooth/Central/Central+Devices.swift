import BluetoothLocking
public import CoreBluetooth

/// Devices that are known.
extension Central {
    /// A device that the system knows, found earlier by its identifier.
    ///
    /// - Throws: ``BluetoothError/Reason/unknownPeripheral``, or why the adapter cannot be used.
    public func peripheral(identifier: UUID) async throws -> Peripheral {
        try await run(BluetoothError.Context(.retrieve, peer: identifier)) { [self] in
            guard let first = try await known([identifier]).first else { throw Failure(.unknownPeripheral) }
            return first
        }
    }

    /// The devices of these identifiers that the system knows; those that it does not know are left out.
    ///
    /// - Throws: Why the adapter cannot be used.
    public func peripherals(identifiers: [UUID]) async throws -> [Peripheral] {
        try await run(BluetoothError.Context(.retrieve)) { [self] in try await known(identifiers) }
    }

    private func known(_ identifiers: [UUID]) async throws -> [Peripheral] {
        try await radio.core.ready()
        return radio.manager.value.retrievePeripherals(withIdentifiers: identifiers).map { radio.peripheral(for: $0) }
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
