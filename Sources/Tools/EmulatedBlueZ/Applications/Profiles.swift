#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport

/// The BR/EDR profiles that clients register; over LE, no device ever connects to one.
///
/// Source: BlueZ, `src/profile.c`, `register_profile`; `doc/org.bluez.ProfileManager.rst`.
struct Profiles: Sendable {
    /// The UUIDs; empty if a client gave no UUID.
    private var all: [ClientObject: String] = [:]

    /// - Parameter dialect: The version; newer ones accept an empty UUID.
    mutating func register(_ profile: ClientObject, _ text: String, _ dialect: BlueZDialect) throws(DBusError) {
        guard all[profile] == nil else { throw BlueZError.alreadyExists }
        let isAccepted = text.isEmpty && dialect >= .bluez5_82
        guard let uuid = BluetoothUUID(text)?.bluez ?? (isAccepted ? text : nil) else {
            throw BlueZError.invalidArguments
        }
        guard !all.values.contains(uuid) else { throw BlueZError.notPermitted("UUID already registered") }
        guard all.keys.count(where: { $0.client == profile.client }) < DaemonLimits.profiles else {
            throw BlueZError.notPermitted("Maximum profiles reached")
        }
        all[profile] = uuid
    }

    mutating func unregister(_ profile: ClientObject) throws(DBusError) {
        guard all.removeValue(forKey: profile) != nil else { throw BlueZError.doesNotExist }
    }

    mutating func forget(_ client: String) { all = all.filter { $0.key.client != client } }
}

extension BluetoothDaemon {
    mutating func handleProfileCall(_ call: ClientCall) throws(DBusError) {
        let profile = try call.namedObject()
        if call.member == "RegisterProfile" {
            // Options of a wrong type are logged and ignored, as are unknown ones.
            try profiles.register(profile, call.arguments[1].stringValue ?? "", context.dialect)
            context.output(.watch(client: call.sender))
        } else {
            try profiles.unregister(profile)
        }
        context.answer(call.id)
    }
}
#endif
