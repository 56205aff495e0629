import ArgumentParser
import CoreBluetoothPackage

/// `bluectl subscribe`: values as the device sends them.
struct SubscribeCommand: RadioCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscribe",
        abstract: "Print the values that a characteristic notifies or indicates.",
        usage: "bluectl subscribe DEVICE [SERVICE] CHARACTERISTIC [--count N]",
        discussion: """
            Goes on until Ctrl-C, or until --count values have come; then each has to come within --timeout. SERVICE \
            and CHARACTERISTIC are as for "read".
            """,
        aliases: ["sub", "notify"])

    static let endsByInterruption = true

    @Argument(help: DeviceArgument.help)
    var device: DeviceArgument

    @Argument(help: ArgumentHelp("[SERVICE] CHARACTERISTIC", valueName: "CHARACTERISTIC"))
    var path: [String]

    @Option(help: ArgumentHelp("Ends after so many values.", valueName: "N"))
    var count: Int?

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws {
        _ = try usage { () throws(Failure) in try AttributePath(path) }
        if let count, count < 1 { throw ValidationError("--count takes a number from 1 on, not \(count)") }
    }

    func perform(in session: Session) async throws {
        let (_, characteristic) = try await session.locate(try AttributePath(path), on: device.query)
        try await session.values(of: characteristic, count: count) { session.show($0, of: characteristic) }
    }
}

extension Session {
    /// Subscribes and hands on each value, until `count` have come (each in time) or, without a count, until the user
    /// stops it or the link ends.
    func values(of characteristic: CBCharacteristic, count: Int?, _ body: @escaping (Data) -> Void) async throws {
        try await values(of: [characteristic], count: count) { body($1) }
    }

    /// As `values(of:count:_:)`, of several characteristics at once.
    func values(
        of characteristics: [CBCharacteristic], count: Int?, _ body: @escaping (CBCharacteristic, Data) -> Void
    ) async throws {
        var left = count
        onNotification = { [weak self] source, value in
            guard characteristics.contains(where: { $0 === source }), left != 0 else { return }
            body(source, value)
            guard let rest = left.map({ $0 - 1 }) else { return }
            left = rest
            if rest == 0 { self?.answer(.end) } else if self?.isAwaiting(.end) == true { self?.steps.restartTimer() }
        }
        defer { onNotification = nil }
        for characteristic in characteristics {
            try await subscribe(to: characteristic)
            console.progress("Subscribed to \(AttributeText.label(characteristic.uuid))…")
        }
        // Values may have come with the answer.
        guard left != 0 else { return }
        try await perform(.end, within: count == nil ? nil : limit)
    }
}
