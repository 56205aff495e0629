import ArgumentParser
import AsyncBluetooth
import CoreBluetoothClasses

struct DemoCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Show scan, connect, discover, read, write and subscribe on an emulated heart-rate monitor.",
        discussion: "Needs no Bluetooth hardware: always the emulator, with its built-in devices.")

    private static let monitor = "Heart Rate Monitor"
    private static let measurements = 3

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws {
        if let backend = global.backend, backend != .emulator {
            throw ValidationError("demo always runs on the emulator, not on \(backend.rawValue)")
        }
        if global.world != nil { throw ValidationError("demo always uses the built-in devices: omit --world") }
        if global.adapter != nil { throw ValidationError("demo uses its own emulated adapter: omit --adapter") }
    }

    func selection() throws(Failure) -> CBBackendSelection { try BackendSelector.emulator(global, world: nil) }

    func perform(in role: CentralRole) async throws {
        let narrator = Narrator(console: role.console)
        narrator.say("scan", "Scanning for devices that advertise \(AttributeText.label("180D"))…")
        let peripheral = try await role.find(.name(Self.monitor))
        narrator.say("scan", "Found \"\(Self.monitor)\", \(peripheral.address ?? peripheral.identifier.uuidString).")
        narrator.say("connect", "Connecting…")
        try await role.connect(peripheral)
        narrator.say("connect", "Connected; the link's MTU is \(peripheral.mtuLength) bytes.")
        let services = try await role.discover(peripheral)
        for service in services {
            let names = service.characteristics.map { AttributeText.label($0.uuid) }
            narrator.say("discover", "\(AttributeText.label(service.uuid)): \(names.joined(separator: ", "))")
        }
        let characteristics = services.flatMap(\.characteristics)
        for characteristic in characteristics where characteristic.properties.contains(.read) {
            let value = try await role.read(characteristic, of: peripheral)
            narrator.say("read", "Read \(AttributeText.label(characteristic.uuid))", characteristic, value)
        }
        let controlPoint = try Self.characteristic("2A39", in: characteristics)
        let reset = Data([1])
        try await role.write(reset, to: controlPoint, of: peripheral, type: .withResponse)
        narrator.say("write", "Wrote \(AttributeText.label(controlPoint.uuid)), reset energy", controlPoint, reset)
        let measurement = try Self.characteristic("2A37", in: characteristics)
        narrator.say("subscribe", "Subscribing to \(AttributeText.label(measurement.uuid))…")
        try await role.values(of: [measurement], at: peripheral, count: Self.measurements) { _, value in
            narrator.say("subscribe", "The heart beats", measurement, value)
        }
        narrator.say("done", "Done. For real devices: bluectl scan, bluectl explore DEVICE.")
    }

    @MainActor
    private static func characteristic(
        _ uuid: String, in characteristics: [DiscoveredCharacteristic]
    ) throws(Failure) -> DiscoveredCharacteristic {
        guard let found = characteristics.first(where: { $0.uuid == CBUUID(string: uuid) }) else {
            throw Failure(.failed, "the emulated device has no \(AttributeText.label(uuid))")
        }
        return found
    }
}

@MainActor
private struct Narrator {
    let console: Console

    /// Prints one line; with a value, also its bytes and their meaning.
    func say(_ step: String, _ text: String, _ characteristic: DiscoveredCharacteristic? = nil, _ value: Data? = nil) {
        var line = text
        if let characteristic, let value {
            line += ": " + console.palette.value(AttributeText.value(value, of: characteristic.uuid))
        }
        console.show(
            [
                "step": step, "text": text, "characteristic": characteristic?.uuid.uuidString,
                "value": value.map(HexText.of),
            ], [line])
    }
}
