/// A packet of the L2CAP signaling channel of LE.
///
/// Source: Core Specification, Vol 3, Part A, 4.
package enum SignalingPDU: Hashable, Sendable {
    /// The reason why a packet has no other answer.
    package enum Rejection: Hashable, Sendable {
        case notUnderstood
        /// The packet is longer than the sender of the rejection accepts.
        case tooLong(mtu: UInt16)
        /// No such channel exists; the identifiers are those of the sender of the rejection and of the other end.
        case invalidChannel(local: UInt16, remote: UInt16)
    }

    case rejection(Rejection)
    /// The channel identifiers at the receiver and at the sender.
    case disconnectionRequest(destination: UInt16, source: UInt16)
    /// The identifiers of the request.
    case disconnectionResponse(destination: UInt16, source: UInt16)
    /// A peripheral requests an interval in units of 1.25 ms and a supervision timeout in units of 10 ms.
    case parametersRequest(minimum: UInt16, maximum: UInt16, latency: UInt16, timeout: UInt16)
    case parametersResponse(isAccepted: Bool)
    case connectionRequest(psm: UInt16, source: UInt16, mtu: UInt16, mps: UInt16, credits: UInt16)
    case connectionResponse(destination: UInt16, mtu: UInt16, mps: UInt16, credits: UInt16, result: ChannelResult)
    case credits(source: UInt16, UInt16)

    private var code: UInt8 {
        switch self {
        case .rejection: 0x01
        case .disconnectionRequest: 0x06
        case .disconnectionResponse: 0x07
        case .parametersRequest: 0x12
        case .parametersResponse: 0x13
        case .connectionRequest: 0x14
        case .connectionResponse: 0x15
        case .credits: 0x16
        }
    }

    private var fields: [UInt16] {
        switch self {
        case .rejection(.notUnderstood): [0]
        case .rejection(.tooLong(let mtu)): [1, mtu]
        case .rejection(.invalidChannel(let local, let remote)): [2, local, remote]
        case .disconnectionRequest(let destination, let source), .disconnectionResponse(let destination, let source):
            [destination, source]
        case .parametersRequest(let minimum, let maximum, let latency, let timeout):
            [minimum, maximum, latency, timeout]
        case .parametersResponse(let isAccepted): [isAccepted ? 0 : 1]
        case .connectionRequest(let psm, let source, let mtu, let mps, let credits): [psm, source, mtu, mps, credits]
        case .connectionResponse(let destination, let mtu, let mps, let credits, let result):
            [destination, mtu, mps, credits, result.rawValue]
        case .credits(let source, let count): [source, count]
        }
    }

    /// - Parameter identifier: 1...255; a response repeats it.
    package func bytes(identifier: UInt8) -> [UInt8] {
        var bytes = [code, identifier]
        bytes.append(littleEndian: UInt16(2 * fields.count))
        for field in fields { bytes.append(littleEndian: field) }
        return bytes
    }
}

/// The answer to a request for a channel with LE credit-based flow control.
///
/// Source: Core Specification, Vol 3, Part A, 4.23.
package struct ChannelResult: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let success = ChannelResult(rawValue: 0x0000)
    package static let unsupportedPSM = ChannelResult(rawValue: 0x0002)
    package static let noResources = ChannelResult(rawValue: 0x0004)
    package static let insufficientAuthentication = ChannelResult(rawValue: 0x0005)
    package static let insufficientAuthorization = ChannelResult(rawValue: 0x0006)
    package static let insufficientKeySize = ChannelResult(rawValue: 0x0007)
    package static let insufficientEncryption = ChannelResult(rawValue: 0x0008)
    package static let invalidSource = ChannelResult(rawValue: 0x0009)
    package static let sourceInUse = ChannelResult(rawValue: 0x000A)
    package static let unacceptableParameters = ChannelResult(rawValue: 0x000B)
}
