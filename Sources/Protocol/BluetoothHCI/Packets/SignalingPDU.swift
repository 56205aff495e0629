/// A packet of the L2CAP signaling channel of LE.
///
/// Source: Core Specification, Vol 3, Part A, 4.
package enum SignalingPDU: Hashable, Sendable {
    case connectionRequest(psm: UInt16, source: UInt16, mtu: UInt16, mps: UInt16, credits: UInt16)
    /// `result`: 0 accepted, 2 no such PSM, 4 no resources, 5 insufficient authentication, 8 insufficient encryption.
    case connectionResponse(destination: UInt16, mtu: UInt16, mps: UInt16, credits: UInt16, result: UInt16)
    case credits(source: UInt16, UInt16)
    /// The channel identifiers at the receiver and at the sender.
    case disconnectionRequest(destination: UInt16, source: UInt16)
    case disconnectionResponse(destination: UInt16, source: UInt16)

    private var code: UInt8 {
        switch self {
        case .disconnectionRequest: 0x06
        case .disconnectionResponse: 0x07
        case .connectionRequest: 0x14
        case .connectionResponse: 0x15
        case .credits: 0x16
        }
    }

    /// - Parameter identifier: 1...255; a response repeats it.
    package func bytes(identifier: UInt8) -> [UInt8] {
        let fields: [UInt16] =
            switch self {
            case .connectionRequest(let psm, let source, let mtu, let mps, let credits):
                [psm, source, mtu, mps, credits]
            case .connectionResponse(let destination, let mtu, let mps, let credits, let result):
                [destination, mtu, mps, credits, result]
            case .credits(let source, let count): [source, count]
            case .disconnectionRequest(let destination, let source),
                .disconnectionResponse(let destination, let source):
                [destination, source]
            }
        var bytes = [code, identifier]
        bytes.append(littleEndian: UInt16(2 * fields.count))
        for field in fields { bytes.append(littleEndian: field) }
        return bytes
    }
}
