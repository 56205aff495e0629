#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport

/// The profiles of BR/EDR that clients register; over LE, no device ever connects to one.
///
/// Source: BlueZ, `src/profile.c`, `register_profile`; `doc/org.bluez.ProfileManager.rst`.
struct Profiles: Sendable {
    private var all: [ApplicationObject: BluetoothUUID] = [:]

    mutating func register(_ profile: ApplicationObject, _ uuid: BluetoothUUID) throws(DBusError) {
        guard all[profile] == nil else { throw BlueZError.alreadyExists }
        guard !all.values.contains(uuid) else { throw BlueZError.notPermitted("UUID already registered") }
        guard all.keys.count(where: { $0.client == profile.client }) < DaemonLimits.profiles else {
            throw BlueZError.notPermitted("Maximum profiles reached")
        }
        all[profile] = uuid
    }

    mutating func unregister(_ profile: ApplicationObject) throws(DBusError) {
        guard all.removeValue(forKey: profile) != nil else { throw BlueZError.doesNotExist }
    }

    mutating func forget(_ client: String) { all = all.filter { $0.key.client != client } }

    // MARK: Options

    /// The types of the options, whose names count in any letter case; further options are ignored.
    private static let types: [String: DBusType] = [
        "name": .string, "autoconnect": .boolean, "psm": .uint16, "channel": .uint16, "requireauthentication": .boolean,
        "requireauthorization": .boolean, "role": .string, "servicerecord": .string, "version": .uint16,
        "features": .uint16, "service": .string,
    ]

    static func areValid(_ options: [String: DBusValue]) -> Bool {
        options.allSatisfy { name, value in
            guard let type = types[name.lowercased()] else { return true }
            return value.type == type && (name.lowercased() != "channel" || value.uint16Value ?? 0 <= 31)
        }
    }
}

extension BluetoothDaemon {
    mutating func handleProfileCall(_ call: ClientCall) throws(DBusError) {
        guard let path = call.arguments.first?.pathValue else { throw BlueZError.invalidArguments }
        let profile = ApplicationObject(client: call.sender, path: path)
        if call.member == "RegisterProfile" {
            guard call.arguments.count == 3, let uuid = call.arguments[1].stringValue.flatMap({ BluetoothUUID($0) }),
                let options = call.arguments[2].propertiesValue, Profiles.areValid(options)
            else { throw BlueZError.invalidArguments }
            try profiles.register(profile, uuid)
            output(.watch(client: call.sender))
        } else {
            try profiles.unregister(profile)
        }
        answer(call.id)
    }
}
#endif
