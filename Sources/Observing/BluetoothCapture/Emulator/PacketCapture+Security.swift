import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI

// The Security Manager.
extension PacketCapture {
    private static let channel: UInt16 = 0x0006
    /// The comment of keys: no cryptography is emulated, so a capture shows the steps of a pairing but not its keys.
    private static let comment = notOnAir + ": keys are not emulated"
    private static let key = [UInt8](repeating: 0, count: 16)

    mutating func handleSecurity(_ event: TapEvent.Kind, at now: Duration) {
        switch event {
        case .pairingMethodChosen(let link, let features):
            links[link]?.isPairing = true
            sendFeatures(features, on: link, at: now)
        case .pairingSucceeded(let link, let isBonded):
            guard links[link]?.isPairing == true else { break }
            links[link]?.isPairing = false
            send(.check(Self.key), of: link, from: .central, at: now)
            send(.check(Self.key), of: link, from: .peripheral, at: now)
            links[link]?.hasKeysToSend = isBonded
        case .pairingFailed(let link, let code):
            links[link]?.isPairing = false
            guard let reason = code.securityManagerReason else { break }
            send(.failed(reason: reason), of: link, from: .peripheral, at: now, comment: nil)
        case .securityChanged(let link, let level): changeSecurity(of: link, level, at: now)
        case .pairingStarted: break  // its first packet is the exchange of features
        default: break
        }
    }

    private mutating func send(
        _ packet: SecurityManagerPDU, of link: UInt32, from side: LinkSide, at time: Duration,
        comment: String? = Self.comment
    ) {
        send(packet.bytes, on: Self.channel, of: link, from: side, at: time, comment: comment)
    }

    /// Sends the exchange of features and of public keys.
    private mutating func sendFeatures(_ features: TappedPairingFeatures, on link: UInt32, at now: Duration) {
        func packet(_ capability: PairingCapability) -> SecurityManagerPDU.PairingFeatures {
            SecurityManagerPDU.PairingFeatures(
                capability: capability.octet, hasOutOfBandData: features.method == .outOfBand,
                requiresAuthentication: features.method != .justWorks)
        }
        send(.pairingRequest(packet(features.central)), of: link, from: .central, at: now, comment: nil)
        send(.pairingResponse(packet(features.peripheral)), of: link, from: .peripheral, at: now, comment: nil)
        for side in [LinkSide.central, .peripheral] {
            send(.publicKey([UInt8](repeating: 0, count: 64)), of: link, from: side, at: now)
        }
        send(.confirm(Self.key), of: link, from: .peripheral, at: now)
        send(.random(Self.key), of: link, from: .central, at: now)
        send(.random(Self.key), of: link, from: .peripheral, at: now)
    }

    private mutating func changeSecurity(of link: UInt32, _ level: SecurityLevel, at now: Duration) {
        guard let found = links[link], level == .encrypted || level == .authenticated else { return }
        // A shared link is encrypted once for both directions.
        if isFirst(found) {
            for side in [LinkSide.central, .peripheral] {
                guard let (host, handle) = host(of: found, side) else { continue }
                append(.encrypted(handle), of: host, at: now)
            }
        }
        guard found.hasKeysToSend else { return }
        links[link]?.hasKeysToSend = false
        for side in [LinkSide.peripheral, .central] {
            let end = found.end(side)
            let device = side == .peripheral ? devices[found.connection.device] : nil
            let identity = end.host.flatMap { hosts[$0]?.identityAddress } ?? device?.identityAddress
            send(.identityInformation(Self.key), of: link, from: side, at: now)
            send(.identityAddress(HCIAddress(identity ?? end.address)), of: link, from: side, at: now)
        }
    }
}

extension BackendError.Code {
    /// The reason of Pairing Failed; nil if a pairing ends without that packet.
    ///
    /// Source: Core Specification, Vol 3, Part H, 3.5.5.
    fileprivate var securityManagerReason: UInt8? {
        switch self {
        case .connectionTimeout, .encryptionTimedOut, .peerDisconnected, .notConnected: nil
        case .operationNotSupported: 0x05
        case .operationCancelled: 0x01
        case .peerRemovedPairingInformation: 0x0B
        default: 0x08
        }
    }
}
