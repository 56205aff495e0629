import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// A central, a device with a protected characteristic and, optionally, an agent.
struct SecureFixture {
    let central: Fixture
    let device: EmulatedDevice
    let agent: any PairingBackend
    let sink = CollectingSink<PairingEvent>()

    static let secret: BluetoothUUID = "C0D1"

    /// - Parameters:
    ///   - pairing: The device's pairing behavior.
    ///   - capability: The agent's capability; nil leaves the agent inactive.
    init(
        _ pairing: PairingDescription = PairingDescription(), agent capability: PairingCapability? = nil,
        configuration: EmulatorConfiguration = .instant
    ) async throws {
        central = Fixture(configuration)
        let secret = CharacteristicDescription(
            Self.secret, [.read, .write, .notifyEncryptionRequired], value: Data([42]),
            permissions: [.readEncryptionRequired, .writeEncryptionRequired])
        let open = CharacteristicDescription("C0D2", [.read, .notify], value: Data([1]))
        device = try central.emulator.add(
            PeripheralDescription(
                name: "Safe", advertising: [AdvertisingDescription(AdvertisingData(localName: "Safe"))],
                services: [ServiceDescription("C0DE", characteristics: [secret, open])], pairing: pairing))
        agent = central.emulator.makePairing()
        if let capability {
            agent.activate(sink)
            agent.submit(.setCapability(capability))
        }
        try await central.powerOn()
    }

    var emulator: Emulator { central.emulator }
    var events: [PairingEvent] { sink.events }
    var peer: PeerID { get throws { try #require(device.identifier()) } }

    /// Connects, and reads the protected characteristic without waiting for the answer.
    func beginRead() async throws -> LinkID {
        let link = try await central.connect(device)
        let id = try await central.attributes(link).characteristic(Self.secret)
        central.submit(.request(link: link, operation: op(1), .read(id)))
        try await emulator.advance(by: .milliseconds(1))
        return link
    }

    /// Finds the device, stops its advertising, and requests a pairing with it as operation 5.
    func beginPairingWithSilentDevice() async throws -> PeerID {
        let peer = try await central.find(device)
        device.setAdvertising(false)
        agent.submit(.pair(peer: peer, operation: op(5)))
        return peer
    }

    /// Answers the last question.
    func answer(_ answer: PairingAnswer) async throws {
        let last = events.reversed().lazy.compactMap { event -> PairingRequestID? in
            if case .requested(let request, _, _) = event { request } else { nil }
        }.first
        agent.submit(.answer(request: try #require(last), answer: answer))
        try await emulator.advance(by: .seconds(1))
    }

    /// The last question.
    var question: PairingQuestion? {
        events.reversed().lazy.compactMap { event -> PairingQuestion? in
            if case .requested(_, _, let question) = event { question } else { nil }
        }.first
    }

    /// The code of the last failure.
    var failure: BackendError.Code? {
        guard case .pairingFailed(_, _, let error)? = events.last else { return nil }
        return error.code
    }

    static func value(_ link: LinkID) -> CentralEvent {
        .response(link: link, operation: op(1), .value(Data([42])))
    }

    static func refused(_ link: LinkID, _ code: UInt8 = 5) -> CentralEvent {
        .response(link: link, operation: op(1), .failure(.att(code, operation: "read")))
    }
}
