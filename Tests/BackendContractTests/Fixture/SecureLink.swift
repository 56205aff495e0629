import CoreBluetooth
import Testing

/// A link to the peer whose service `secure` requires encryption, and an agent.
struct SecureLink {
    let context: ContractContext
    let agent: PairingContext
    let peripheral: CBPeripheral
    let secret: CBCharacteristic

    /// Reads the protected value, which requires pairing.
    func read() { peripheral.readValue(for: secret) }

    /// Expects the protected value, and no further event of the agent.
    func finish(at location: SourceLocation = #_sourceLocation) async throws {
        try await context.expect(.didUpdateValue(.secret, Data("safe".utf8)), at: location)
        agent.finish(at: location)
    }

    /// Expects the peer's error, and no further event of the agent.
    func fail(at location: SourceLocation = #_sourceLocation) async throws {
        try await context.expect(.didUpdateValue(.secret).failing(att: .insufficientAuthentication), at: location)
        agent.finish(at: location)
    }
}

extension ContractContext {
    /// Connects to the contract's peer, which has the service `secure` already.
    func connectSecure(_ pairing: PeerPairing = PeerPairing()) async throws -> (CBPeripheral, CBService) {
        try await perform(.secure(pairing))
        return try await connect(discovering: .secure)
    }

    /// Connects, with an agent, and reads the protected value.
    func readSecret(
        _ capability: CBPairingCapability, _ pairing: PeerPairing = PeerPairing()
    ) async throws -> SecureLink {
        try await perform(.secure(pairing))
        let agent = makeAgent(capability)
        let (peripheral, service) = try await connect(discovering: .secure)
        let link = SecureLink(
            context: self, agent: agent, peripheral: peripheral, secret: try service.characteristic(.secret))
        link.read()
        return link
    }
}

extension PeripheralContext {
    /// Serves, with an agent, and lets the first central read the protected value, which requires pairing.
    ///
    /// - Parameter user: The capability of the central's user; nil for a central that consents by itself.
    func serveProtected(_ capability: CBPairingCapability, user: PeerCapability? = nil) async throws -> PairingContext {
        let agent = makeAgent(capability)
        _ = try await serve()
        if let user { try await one.perform(.pairing(user)) }
        try await one.perform(.read(.protected))
        return agent
    }

    /// Answers the first central's read of the protected value.
    func answerProtectedRead(at location: SourceLocation = #_sourceLocation) async throws {
        try await answerRead(of: .protected, with: [7], at: location)
        try await one.expect(.read(.protected, [7]), at: location)
    }
}
