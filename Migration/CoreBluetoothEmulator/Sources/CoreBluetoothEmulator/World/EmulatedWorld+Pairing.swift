import BluetoothEmulator
import CoreBluetooth
import Foundation

/// Pairing of a central's host with a peripheral manager's.
extension EmulatedWorld {
    /// Returns whether both have keys of each other.
    func isPaired(_ pair: LinkTables.Pair) -> Bool {
        guard let (host, device) = ends(of: pair) else { return false }
        return host.isBonded(with: device)
    }

    /// Pairs, with the duration and the outcome of the configuration.
    ///
    /// - Throws: `CBError.unknownDevice` for managers that are gone; `CBATTError.insufficientAuthentication` if the
    ///   pairing fails.
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

    /// Returns the time of the pairing that an access to a descriptor needs first.
    func pairingTime(
        _ access: DescriptorAccess, _ permissions: CBAttributePermissions, _ pair: LinkTables.Pair
    ) -> Duration {
        needsPairing(access, permissions, pair) ? configuration.pairing.delay : .zero
    }

    /// Lets a central access a descriptor, and pairs first if necessary.
    ///
    /// - Returns: The error, if the access is refused.
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

/// A central's access to a descriptor.
enum DescriptorAccess {
    case read, write

    var permission: CBAttributePermissions { self == .read ? .readable : .writeable }

    var protectedPermission: CBAttributePermissions {
        self == .read ? .readEncryptionRequired : .writeEncryptionRequired
    }

    var error: CBATTError.Code { self == .read ? .readNotPermitted : .writeNotPermitted }
}
