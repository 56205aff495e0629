#if os(Linux)
import BluetoothLocking
import CoreBluetooth
import CoreBluetoothPackage

/// Device addresses, which Apple's platforms keep to themselves.
extension Central {
    /// The device of an address: one that is connected already, or else the first that advertises with it.
    ///
    /// Linux only. A device that changes its address for privacy is found under its identity address once it is bonded,
    /// and else under the address that it has at the time.
    ///
    /// - Parameters:
    ///   - address: Six bytes in hexadecimal digits with colons, as in `C0:11:22:33:44:55`; upper or lower case.
    ///   - limit: How long to look for it.
    /// - Throws: ``BluetoothError`` with ``BluetoothError/Reason/malformedAddress(_:)``, with
    ///   ``BluetoothError/Reason/timedOut(_:)`` where it was not heard in time, or why the adapter cannot be used.
    public func peripheral(address: String, within limit: Duration = .seconds(30)) async throws -> Peripheral {
        let context = BluetoothError.Context(.retrieve, path: address)
        return try await BluetoothError.run(context, within: limit, clock: radio.clock) { [self] in
            guard Self.isAddress(address) else { throw Failure(.malformedAddress(address)) }
            try await radio.core.ready()
            if let connected = radio.connectedPeripheral(address: address) { return connected }
            do {
                for try await device in scan() where device.peripheral.hasAddress(address) { return device.peripheral }
            } catch let error as BluetoothError {
                throw Failure(error.reason)
            }
            throw CancellationError()
        }
    }

    private static func isAddress(_ text: String) -> Bool {
        let bytes = text.split(separator: ":", omittingEmptySubsequences: false)
        return bytes.count == 6
            && bytes.allSatisfy { $0.utf8.count == 2 && $0.unicodeScalars.allSatisfy(\.properties.isASCIIHexDigit) }
    }
}

extension Peripheral {
    /// The address in the device's last advertisement or connection, as in `C0:11:22:33:44:55`; nil before the first.
    ///
    /// Linux only. It is for people and for listings: the ``identifier`` is what stays the same.
    public var address: String? { core.object.address }

    fileprivate func hasAddress(_ address: String) -> Bool { self.address?.lowercased() == address.lowercased() }
}

extension CentralRadio {
    /// A device that some program of the system is connected to; such a device may not advertise.
    fileprivate func connectedPeripheral(address: String) -> Peripheral? {
        // Generic Access and Generic Attribute, which each device offers.
        let services = [CBUUID(string: "1800"), CBUUID(string: "1801")]
        return manager.value.retrieveConnectedPeripherals(withServices: services)
            .first { $0.address?.lowercased() == address.lowercased() }
            .map { peripheral(for: $0) }
    }
}
#endif
