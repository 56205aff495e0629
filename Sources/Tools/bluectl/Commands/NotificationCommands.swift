import ArgumentParser
import AsyncBluetooth
import BluetoothProfiles
import CoreBluetoothClasses

struct SubscribeCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscribe",
        abstract: "Print the values that a characteristic notifies or indicates.",
        usage: "bluectl subscribe DEVICE [SERVICE] CHARACTERISTIC [--count N] [--reconnect]",
        discussion: """
            Runs until Ctrl-C, or until --count values have arrived; then each must arrive within --timeout. SERVICE \
            and CHARACTERISTIC are as for "read". With --reconnect, a lost connection is established again, however \
            long that takes.
            """,
        aliases: ["sub", "notify"])

    var endsByInterruption: Bool { true }

    @Argument(help: DeviceQuery.help)
    var device: DeviceQuery

    @Argument(help: ArgumentHelp("[SERVICE] CHARACTERISTIC", valueName: "CHARACTERISTIC"))
    var path: [String] = []

    @Option(help: ArgumentHelp("End after this many values.", valueName: "N"))
    var count: Int?

    @Flag(help: "Connect and subscribe again when the connection is lost.")
    var reconnect = false

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws {
        _ = try usage { () throws(Failure) in try AttributePath(path, of: device) }
        if let count, count < 1 { throw ValidationError("--count must be at least 1, not \(count)") }
    }

    func perform(in role: CentralRole) async throws {
        let path = try AttributePath(path, of: device)
        let (peripheral, first) = try await role.locate(path, on: device)
        guard reconnect else {
            return try await role.values(of: [first], at: peripheral, count: count) { role.show($1, of: $0) }
        }
        try await role.valuesReconnecting(path, of: peripheral, first: first, count: count)
    }
}

extension CentralRole {
    /// The pause after an attempt to connect that failed at once.
    private static let pause = Duration.seconds(1)

    /// Prints values as `values(of:at:count:_:)` receives them, and reconnects whenever the connection is lost.
    func valuesReconnecting(
        _ path: AttributePath, of peripheral: Peripheral, first: DiscoveredCharacteristic, count: Int?
    ) async throws {
        var characteristic = first
        var left = count
        while true {
            do {
                return try await values(of: [characteristic], at: peripheral, count: left) { source, value in
                    left = left.map { $0 - 1 }
                    show(value, of: source)
                }
            } catch let failure as Failure {
                guard hasLost(peripheral, failure) else { throw failure }
                console.warn("connecting again: \(failure.description)")
            }
            characteristic = try await locateAgain(path, at: peripheral)
        }
    }

    /// Whether a failure means that the connection is lost, and can be restored.
    private func hasLost(_ peripheral: Peripheral, _ failure: Failure) -> Bool {
        failure.status == .failed && peripheral.state != .connected && central.state == .poweredOn
    }

    /// Reconnects without a time limit, and finds the characteristic.
    private func locateAgain(
        _ path: AttributePath, at peripheral: Peripheral
    ) async throws -> DiscoveredCharacteristic {
        while true {
            do {
                try await connect(peripheral, within: nil)
                return try await locate(path, at: peripheral)
            } catch let failure as Failure {
                guard hasLost(peripheral, failure) else { throw failure }
                try await wait(for: Self.pause)
            }
        }
    }
}

struct WatchCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print the decoded values of a profile as they arrive.",
        discussion: """
            Reads the readable values of the service, then prints its notifications and indications until Ctrl-C or \
            until --count values have arrived; then each must arrive within --timeout. With --json, a line has the \
            bytes as "value" and their meaning as "text", or the reason why they cannot be decoded as "error".
            """)

    var endsByInterruption: Bool { true }

    @Argument(help: DeviceQuery.help)
    var device: DeviceQuery

    @Argument(help: ArgumentHelp("The profile that the device offers.", valueName: "PROFILE"))
    var profile: StandardProfile

    @Option(help: ArgumentHelp("End after this many notified values.", valueName: "N"))
    var count: Int?

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be at least 1, not \(count)") }
    }

    func perform(in role: CentralRole) async throws {
        let peripheral = try await role.find(device)
        try await role.connect(peripheral)
        let uuid = profile.service
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
    /// Prints the meaning of a value, or its bytes if the meaning is unknown.
    func showTyped(_ value: Data, of characteristic: DiscoveredCharacteristic) {
        let typed = AttributeText.typed(value, of: characteristic.uuid)
        let (meaning, text): (JSONFields, String) =
            switch typed {
            case .success(let text)?: (["text": text], text)
            case .failure(let error)?: (["error": error.description], "\(HexText.of(value)) (\(error))")
            case nil: ([:], AttributeText.value(value, of: characteristic.uuid))
            }
        show(text, of: characteristic.uuid, characteristic.fields(value).merging(meaning))
    }
}
