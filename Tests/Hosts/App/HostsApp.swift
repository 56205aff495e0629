import AsyncBluetooth
import BluetoothEmulator
import CoreBluetooth
import EmulatedHCI
import Foundation
import Synchronization

/// An app in an emulated world with a port for a host outside of it: commands come as lines on standard input, and what
/// happens is printed as lines of words.
@main final class HostsApp: Sendable {
    private let backend: CBBackendSelection
    private let central: Central
    private let server: PeripheralServer
    private let user = User()
    /// The peripherals by name; a link ends with its last reference.
    private let peripherals = Mutex<[String: Peripheral]>([:])

    private init(_ emulator: Emulator) {
        backend = .emulator(host: emulator.host)
        central = Central(backend: backend)
        server = PeripheralServer(backend: backend)
    }

    static func main() async throws {
        let emulator = Emulator(configuration: .instant)
        let port = try HCIPort.open(emulator, host: "firmware", on: .tcp(port: 0))
        let app = HostsApp(emulator)
        say("port", port.address.description.split(separator: ":").last.map(String.init) ?? "")
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            do {
                try await app.perform(words[0], Array(words[1...]))
            } catch {
                say("failed", "\(error)")
            }
        }
        port.close()
    }

    static func say(_ words: String...) {
        FileHandle.standardOutput.write(Data((words.joined(separator: " ") + "\n").utf8))
    }

    private func perform(_ command: String, _ arguments: [String]) async throws {
        switch command {
        case "open": try await open(UInt16(arguments[1]) ?? 0, at: arguments[0])
        case "serve": try await serve()
        case "extend":
            _ = try await server.add(ServedService(CBUUID(string: "FFB0"), characteristics: []))
            Self.say("extended")
        case "read": try await read(arguments[1], of: arguments[0])
        case "agent": user.begin(arguments[0], backend)
        case "pair":
            try await user.pair(with: find(arguments[0]))
            Self.say("paired")
        case "accept", "reject", "enter": user.answer(command, arguments.first.flatMap { Int($0) })
        default: Self.say("unknown", command)
        }
    }

    private func find(_ name: String) async throws -> Peripheral {
        if let known = peripherals.withLock({ $0[name] }) { return known }
        let found = try await central.first(within: .seconds(10)) { $0.advertisement.localName == name }.peripheral
        peripherals.withLock { $0[name] = found }
        return found
    }

    // MARK: The central

    private func open(_ psm: UInt16, at name: String) async throws {
        let peripheral = try await find(name)
        echo(try await peripheral.openChannel(psm))
    }

    /// Reads a value in the background: a pairing may ask the user first.
    private func read(_ characteristic: String, of name: String) async throws {
        let peripheral = try await find(name)
        Task {
            do {
                let value = try await peripheral.read(
                    CharacteristicID(CBUUID(string: characteristic), in: ServiceID(CBUUID(string: "FFF0"))))
                Self.say("value", value.map { String(format: "%02x", $0) }.joined())
            } catch {
                Self.say("failed", "\(error)")
            }
        }
    }

    // MARK: The peripheral

    private func serve() async throws {
        try await server.waitUntilPoweredOn()
        _ = try await server.add(
            ServedService(
                CBUUID(string: "FFA0"),
                characteristics: [
                    ServedCharacteristic(CBUUID(string: "FFA1"), .read, value: Data("app".utf8)),
                    ServedCharacteristic(
                        CBUUID(string: "FFA2"), .read, permissions: .readEncryptionRequired, onRead: { _ in Data([7]) }),
                ]))
        let open = try await server.publishChannel()
        let protected = try await server.publishChannel(isEncryptionRequired: true)
        let channels = server.channels
        Task { for try await channel in channels { echo(channel) } }
        try await server.startAdvertising(name: "App", services: [CBUUID(string: "FFA0")])
        Self.say("serving", "\(open)", "\(protected)")
    }

    // MARK: Channels

    /// Sends back all bytes of a channel.
    private func echo(_ channel: ByteChannel) {
        Self.say("opened", "\(channel.psm)")
        Task {
            do {
                while let data = try await channel.read() { try await channel.write(data) }
                Self.say("ended", "\(channel.psm)")
            } catch {
                Self.say("broken", "\(channel.psm)", "\(error)")
            }
        }
    }
}

/// The user of the app, who answers the questions of pairings.
private final class User: CBPairingAgentDelegate, Sendable {
    private let agent = Mutex<CBPairingAgent?>(nil)
    private let request = Mutex<CBPairingRequest?>(nil)

    func begin(_ capability: String, _ backend: CBBackendSelection) {
        guard let capability = CBPairingCapability.allCases.first(where: { "\($0)" == capability }) else {
            return HostsApp.say("unknown", capability)
        }
        let new = CBPairingAgent(
            backend: backend, capability: capability, delegate: self, queue: DispatchQueue(label: "agent"))
        agent.withLock { $0 = new }
        HostsApp.say("agent")
    }

    func pair(with peripheral: Peripheral) async throws {
        try await agent.withLock { $0 }?.pair(peripheral)
    }

    func answer(_ command: String, _ number: Int?) {
        let request = request.withLock { $0 }
        switch (command, number) {
        case ("enter", let number?): request?.enter(passkey: number)
        case ("accept", _): request?.accept()
        default: request?.reject()
        }
    }

    func pairingAgent(_ agent: CBPairingAgent, didReceive request: CBPairingRequest) {
        self.request.withLock { $0 = request }
        switch request.question {
        case .consent: HostsApp.say("asked", "consent")
        case .confirm(let passkey): HostsApp.say("asked", "confirm", "\(passkey)")
        case .enterPasskey: HostsApp.say("asked", "enter")
        case .display(let passkey): HostsApp.say("asked", "display", "\(passkey)")
        case .outOfBand: HostsApp.say("asked", "outOfBand")
        }
    }

    func pairingAgent(_ agent: CBPairingAgent, didCancel request: CBPairingRequest) { HostsApp.say("cancelled") }

    func pairingAgent(_ agent: CBPairingAgent, didPairWith identifier: UUID, isBonded: Bool) {
        HostsApp.say("bonded", "\(isBonded)")
    }

    func pairingAgent(_ agent: CBPairingAgent, didFailToPairWith identifier: UUID, error: any Error) {
        HostsApp.say("unpaired", "\(error)")
    }
}
