import BluetoothEmulator
import CoreBluetooth
import Foundation

/// Pairing of a central's host with a peripheral manager's.
extension EmulatedWorld {
    /// Whether both have keys of each other.
    func isPaired(_ pair: LinkTables.Pair) -> Bool {
        guard let (host, device) = ends(of: pair) else { return false }
        return host.isBonded(with: device)
    }

    /// Pairs, in the time and with the end that the configuration says.
    ///
    /// - Throws: `CBError.unknownDevice` for managers that are gone; `CBATTError.insufficientAuthentication` if the pairing
    ///   fails.
    func pair(_ pair: LinkTables.Pair) async throws {
        guard let (host, device) = ends(of: pair), let emulator else { throw CBError(.unknownDevice) }
        guard !host.isBonded(with: device) else { return }
        let pairing = configuration.pairing
        if pairing.delay > .zero { try await emulator.clock.sleep(for: pairing.delay) }
        guard pairing.succeeds else { throw CBATTError(.insufficientAuthentication) }
        host.bond(with: device)
    }

    private func ends(of pair: LinkTables.Pair) -> (EmulatedHost, EmulatedDevice)? {
        guard let central = central(pair.central),
            let device = peripheral(pair.peripheral)?.place.host.peripheral
        else { return nil }
        return (central.place.host, device)
    }

    /// The time that an access to a descriptor needs for pairing first.
    func pairingTime(
        _ access: DescriptorAccess, _ permissions: CBAttributePermissions, _ pair: LinkTables.Pair
    ) -> Duration {
        needsPairing(access, permissions, pair) ? configuration.pairing.delay : .zero
    }

    /// Lets a central access a descriptor, and pairs first where it must.
    ///
    /// - Returns: The error, if it may not.
    func refusal(
        of access: DescriptorAccess, _ permissions: CBAttributePermissions, _ pair: LinkTables.Pair
    ) -> CBATTError? {
        guard permissions.withoutEncryption.contains(access.permission) else { return CBATTError(access.error) }
        guard needsPairing(access, permissions, pair), let (host, device) = ends(of: pair) else { return nil }
        guard configuration.pairing.succeeds else { return CBATTError(.insufficientAuthentication) }
        host.bond(with: device)
        return nil
    }

    private func needsPairing(
        _ access: DescriptorAccess, _ permissions: CBAttributePermissions, _ pair: LinkTables.Pair
    ) -> Bool {
        configuration.requirePairing && permissions.contains(access.protectedPermission) && !isPaired(pair)
    }
}

/// What a central does with a descriptor.
enum DescriptorAccess {
    case read, write

    var permission: CBAttributePermissions { self == .read ? .readable : .writeable }

    var protectedPermission: CBAttributePermissions {
        self == .read ? .readEncryptionRequired : .writeEncryptionRequired
    }

    var error: CBATTError.Code { self == .read ? .readNotPermitted : .writeNotPermitted }
}
