import ArgumentParser
import CoreBluetoothPackage

/// `bluectl subscribe`: values as the device sends them.
struct SubscribeCommand: RadioCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscribe",
        abstract: "Print the values that a characteristic notifies or indicates.",
        usage: "bluectl subscribe DEVICE [SERVICE] CHARACTERISTIC [--count N] [--reconnect]",
        discussion: """
            Goes on until Ctrl-C, or until --count values have come; then each has to come within --timeout. SERVICE \
            and CHARACTERISTIC are as for "read". With --reconnect a connection that is lost is made again, for as long \
            as that takes.
            """,
        aliases: ["sub", "notify"])

    var endsByInterruption: Bool { true }

    @Argument(help: DeviceArgument.help)
    var device: DeviceArgument

    @Argument(help: ArgumentHelp("[SERVICE] CHARACTERISTIC", valueName: "CHARACTERISTIC"))
    var path: [String]

    @Option(help: ArgumentHelp("Ends after so many values.", valueName: "N"))
    var count: Int?

    @Flag(help: "Connect and subscribe again when the connection is lost.")
    var reconnect = false

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws {
        _ = try usage { () throws(Failure) in try AttributePath(path) }
        if let count, count < 1 { throw ValidationError("--count takes a number from 1 on, not \(count)") }
    }

    func perform(in session: Session) async throws {
        let path = try AttributePath(path)
        let (peripheral, first) = try await session.locate(path, on: device.query)
        guard reconnect else {
            return try await session.values(of: first, count: count) { session.show($0, of: first) }
        }
        try await session.valuesReconnecting(path, of: peripheral, first: first, count: count)
    }
}

extension Session {
    /// The pause after an attempt to connect that failed at once.
    private static let pause = Duration.seconds(1)

    /// As `values(of:count:_:)`, printing them, and connecting again whenever the connection is lost.
    func valuesReconnecting(
        _ path: AttributePath, of peripheral: CBPeripheral, first: CBCharacteristic, count: Int?
    ) async throws {
        var characteristic = first
        var left = count
        while true {
            let current = characteristic
            do {
                return try await values(of: current, count: left) { [self] value in
                    left = left.map { $0 - 1 }
                    show(value, of: current)
                }
            } catch let failure as Failure {
                guard hasLostLink(failure) else { throw failure }
                console.note("connecting again: \(failure.description)")
            }
            characteristic = try await locateAgain(path, at: peripheral)
        }
    }

    /// Whether a failure means that the connection is lost, and can be made again.
    func hasLostLink(_ failure: Failure) -> Bool {
        // A step that begins as the link goes is never answered.
        [.failed, .timedOut].contains(failure.status) && !isConnected && state == .poweredOn
    }

    /// Connects again, for as long as it takes, and finds the characteristic.
    func locateAgain(_ path: AttributePath, at peripheral: CBPeripheral) async throws -> CBCharacteristic {
        while true {
            do {
                try await connect(peripheral, within: nil)
                return try await locate(path, at: peripheral)
            } catch let failure as Failure {
                guard hasLostLink(failure) else { throw failure }
                try await wait(for: Self.pause)
            }
        }
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
