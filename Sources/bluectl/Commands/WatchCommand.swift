import ArgumentParser
import BluetoothProfiles
import CoreBluetoothPackage

/// `bluectl watch`: the typed values of a profile.
struct WatchCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print the values of a profile, in words, as they come.",
        discussion: """
            Reads what the profile's service lets read, then prints what it notifies or indicates, until Ctrl-C or \
            until --count values have come; then each has to come within --timeout. With --json a line has the bytes \
            as "value" and their meaning as "text", or as "error" what is wrong with them.
            """)

    var endsByInterruption: Bool { true }

    @Argument(help: DeviceArgument.help)
    var device: DeviceArgument

    @Argument(
        help: ArgumentHelp("One of: \(ProfileArgument.allValueStrings.joined(separator: ", ")).", valueName: "PROFILE"))
    var profile: ProfileArgument

    @Option(help: ArgumentHelp("Ends after so many notified values.", valueName: "N"))
    var count: Int?

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count takes a number from 1 on, not \(count)") }
    }

    func perform(in role: CentralRole) async throws {
        let peripheral = try await role.find(device.query)
        try await role.connect(peripheral)
        let uuid = profile.profile.service
        let services = try await role.discover(peripheral).filter { $0.uuid == uuid }
        guard !services.isEmpty else {
            throw Failure(.failed, "the device does not have the service \(AttributeText.label(uuid))")
        }
        let characteristics = services.flatMap(\.characteristics)
        for characteristic in characteristics where characteristic.properties.contains(.read) {
            role.showTyped(try await role.read(characteristic, of: peripheral), of: characteristic)
        }
        let notified = characteristics.filter { !$0.properties.isDisjoint(with: [.notify, .indicate]) }
        guard !notified.isEmpty else { return }
        try await role.values(of: notified, at: peripheral, count: count) { role.showTyped($1, of: $0) }
    }
}

extension CentralRole {
    /// Prints what a value means, or its bytes where that is not known.
    func showTyped(_ value: Data, of characteristic: DiscoveredCharacteristic) {
        let typed = AttributeText.typed(value, of: characteristic.uuid)
        guard !console.isJSON else {
            var record = ValueRecord(characteristic, value, backend: emulatedBackend)
            if case .success(let text)? = typed { record.text = text }
            if case .failure(let error)? = typed { record.error = error.description }
            return console.print(json: record)
        }
        let text =
            switch typed {
            case .success(let text)?: text
            case .failure(let error)?: "\(HexText.of(value)) (\(error))"
            case nil: AttributeText.value(value, of: characteristic.uuid)
            }
        console.print("\(AttributeText.label(characteristic.uuid)): \(console.palette.value(text))")
    }
}
