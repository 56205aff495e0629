/// A packet between a host and its controller.
///
/// Source: Core Specification, Vol 4, Part E, 5.4; the types are those of UART (H4) transport, Vol 4, Part A, 2.
package struct HCIPacket: Hashable, Sendable {
    package enum Kind: UInt8, Sendable {
        case command = 1
        case acl = 2
        case event = 4
    }

    package let kind: Kind
    /// Whether the controller sends it to the host.
    package let isReceived: Bool
    /// The packet without its type.
    package let body: [UInt8]

    /// Creates a packet from another capture.
    package init(kind: Kind, isReceived: Bool, body: [UInt8]) {
        (self.kind, self.isReceived, self.body) = (kind, isReceived, body)
    }

    /// Creates a packet of the Attribute Protocol, the Security Manager Protocol, the signaling channel or another
    /// L2CAP channel.
    ///
    /// One ACL packet contains the whole L2CAP packet; a real controller would not accept a long one.
    ///
    /// - Parameters:
    ///   - handle: The connection handle.
    ///   - channel: The channel identifier at the receiver.
    ///   - payload: At most 65,535 bytes; more are truncated.
    package init(connection handle: UInt16, channel: UInt16, payload: [UInt8], isReceived: Bool) {
        let payload = payload.prefix(Int(UInt16.max) - 4)
        var body: [UInt8] = []
        body.reserveCapacity(payload.count + 8)
        // First fragment of an L2CAP packet: 10 from the controller, 00 ("not flushed automatically") to the
        // controller.
        body.append(littleEndian: handle | (isReceived ? 0x2000 : 0))
        body.append(littleEndian: UInt16(payload.count + 4))
        body.append(littleEndian: UInt16(payload.count))
        body.append(littleEndian: channel)
        body += payload
        (kind, self.isReceived, self.body) = (.acl, isReceived, body)
    }

    /// Creates a command with 255 bytes of parameters at most.
    package init(command opcode: UInt16, _ parameters: [UInt8] = []) {
        (kind, isReceived, body) = (.command, false, opcode.bytes + [UInt8(parameters.count)] + parameters)
    }

    /// Creates an event with 255 bytes of parameters at most.
    package init(event code: UInt8, _ parameters: [UInt8]) {
        (kind, isReceived, body) = (.event, true, [code, UInt8(parameters.count)] + parameters)
    }

    /// Creates an LE Meta event with 254 bytes of parameters at most.
    package init(lowEnergy subevent: UInt8, _ parameters: [UInt8]) {
        self.init(event: 0x3E, [subevent] + parameters)
    }

    // MARK: The host's own address

    /// The command by which a host reads its address, so that readers of a capture know it.
    package static let readAddress = HCIPacket(command: 0x1009)

    /// Returns the answer to ``readAddress``.
    package static func addressRead(_ address: HCIAddress) -> HCIPacket {
        HCIPacket(event: 0x0E, [0x01, 0x09, 0x10, 0x00] + address.bytes)
    }

    // MARK: Advertising

    /// LE Advertising Report, with 31 bytes of data at most.
    ///
    /// - Parameter isIdentity: Whether the controller resolved a private address to the address.
    package static func advertisingReport(_ report: AdvertisingReport, isIdentity: Bool = false) -> HCIPacket {
        HCIPacket(
            lowEnergy: 0x02,
            [1, report.legacyType, report.address.type(isIdentity: isIdentity)] + report.address.bytes
                + [UInt8(report.data.count)] + report.data + [UInt8(bitPattern: report.rssi)])
    }

    /// LE Extended Advertising Report, one packet for each 229 bytes of data.
    ///
    /// - Parameters:
    ///   - isLegacy: Whether the packet was a legacy one, which has no set and no secondary PHY.
    ///   - isIdentity: Whether the controller resolved a private address to the address.
    package static func extendedAdvertisingReports(
        _ report: AdvertisingReport, isLegacy: Bool = false, isIdentity: Bool = false
    ) -> [HCIPacket] {
        let parts = stride(from: 0, to: max(1, report.data.count), by: 229).map {
            Array(report.data[min($0, report.data.count)..<min($0 + 229, report.data.count)])
        }
        return parts.enumerated().map { index, part in
            var body: [UInt8] = [1]
            let hasMore = index < parts.count - 1
            body.append(littleEndian: report.extendedType | (isLegacy ? 0x10 : 0) | (hasMore ? 0x20 : 0))
            body.append(report.address.type(isIdentity: isIdentity))
            body += report.address.bytes
            // Primary and secondary PHY 1M, transmit power unknown.
            body += [1, isLegacy ? 0 : 1, report.setID ?? 0xFF, 0x7F, UInt8(bitPattern: report.rssi)]
            // No periodic advertising, not directed.
            body += [0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(part.count)]
            return HCIPacket(lowEnergy: 0x0D, body + part)
        }
    }

    // MARK: Connections

    /// LE Connection Complete, or LE Enhanced Connection Complete if an end uses a private address.
    package static func connectionComplete(_ connection: HCIConnection) -> HCIPacket {
        connectionComplete(
            connection, isEnhanced: connection.privateAddress != nil || connection.localPrivateAddress != nil)
    }

    /// LE Connection Complete or LE Enhanced Connection Complete.
    package static func connectionComplete(_ connection: HCIConnection, isEnhanced: Bool) -> HCIPacket {
        var body: [UInt8] = [0] + connection.handle.bytes + [connection.isCentral ? 0 : 1]
        body.append(connection.peer.type(isIdentity: isEnhanced && connection.privateAddress != nil))
        body += connection.peer.bytes
        if isEnhanced {
            body += (connection.localPrivateAddress?.bytes ?? [0, 0, 0, 0, 0, 0])
            body += (connection.privateAddress?.bytes ?? [0, 0, 0, 0, 0, 0])
        }
        body += connection.parameters.bytes + [1]
        return HCIPacket(lowEnergy: isEnhanced ? 0x0A : 0x01, body)
    }

    /// LE Connection Update Complete.
    package static func connectionUpdated(_ handle: UInt16, _ parameters: HCIConnectionParameters) -> HCIPacket {
        HCIPacket(lowEnergy: 0x03, [0] + handle.bytes + parameters.bytes)
    }

    /// Disconnection Complete.
    package static func disconnectionComplete(_ handle: UInt16, reason: UInt8) -> HCIPacket {
        HCIPacket(event: 0x05, [0] + handle.bytes + [reason])
    }

    /// Encryption Change: on, with AES-CCM.
    package static func encrypted(_ handle: UInt16) -> HCIPacket {
        HCIPacket(event: 0x08, [0] + handle.bytes + [1])
    }
}

/// An advertising packet as a controller reports it.
package struct AdvertisingReport: Hashable, Sendable {
    package var address: HCIAddress
    /// AD structures.
    package var data: [UInt8]
    /// The signal strength in dBm.
    package var rssi: Int8
    package var isConnectable: Bool
    package var isScannable: Bool
    package var isScanResponse: Bool
    /// The number of the advertising set, 0 to 15; nil if the report has none.
    package var setID: UInt8?
    /// Whether another report contains more of the data.
    package var hasMore = false

    package init(
        address: HCIAddress, data: [UInt8], rssi: Int8, isConnectable: Bool, isScannable: Bool,
        isScanResponse: Bool
    ) {
        (self.address, self.data, self.rssi) = (address, data, rssi)
        (self.isConnectable, self.isScannable, self.isScanResponse) = (isConnectable, isScannable, isScanResponse)
    }

    /// ADV_IND, ADV_SCAN_IND, ADV_NONCONN_IND or SCAN_RSP.
    fileprivate var legacyType: UInt8 { isScanResponse ? 4 : isConnectable ? 0 : isScannable ? 2 : 3 }

    fileprivate var extendedType: UInt16 {
        (isConnectable ? 0x01 : 0) | (isScannable ? 0x02 : 0) | (isScanResponse ? 0x08 : 0)
    }
}

/// A new connection as a controller reports it.
package struct HCIConnection: Hashable, Sendable {
    package var handle: UInt16
    /// The role of the host that gets the report.
    package var isCentral: Bool
    /// The address of the other end; its identity address if the host has its keys.
    package var peer: HCIAddress
    /// The resolvable private address of the other end, if `peer` is its identity address.
    package var privateAddress: HCIAddress?
    /// The resolvable private address of this end.
    package var localPrivateAddress: HCIAddress?
    package var parameters: HCIConnectionParameters

    package init(
        handle: UInt16, isCentral: Bool, peer: HCIAddress, privateAddress: HCIAddress?,
        localPrivateAddress: HCIAddress?, parameters: HCIConnectionParameters
    ) {
        (self.handle, self.isCentral, self.peer) = (handle, isCentral, peer)
        (self.privateAddress, self.localPrivateAddress) = (privateAddress, localPrivateAddress)
        self.parameters = parameters
    }
}

/// The parameters of a connection in the units of the Link Layer; values out of range are clamped.
package struct HCIConnectionParameters: Hashable, Sendable {
    /// The connection interval, in units of 1.25 ms.
    private let intervalUnits: UInt16
    private let latencyUnits: UInt16
    /// The supervision timeout, in units of 10 ms.
    private let timeoutUnits: UInt16

    package init(interval: Duration, latency: Int, supervisionTimeout: Duration) {
        // A link without latency has the shortest interval in a capture.
        intervalUnits = UInt16(min(3200, max(6, interval / Self.intervalUnit)))
        latencyUnits = UInt16(min(499, max(0, latency)))
        timeoutUnits = UInt16(min(3200, max(10, supervisionTimeout / Self.timeoutUnit)))
    }

    /// Reads the three fields of an event.
    ///
    /// - Returns: nil if there are fewer bytes.
    init?(_ cursor: inout ByteCursor) {
        guard let interval = cursor.littleEndian(UInt16.self), let latency = cursor.littleEndian(UInt16.self),
            let timeout = cursor.littleEndian(UInt16.self)
        else { return nil }
        self.init(
            interval: Self.intervalUnit * Int(interval), latency: Int(latency),
            supervisionTimeout: Self.timeoutUnit * Int(timeout))
    }

    private static let intervalUnit = Duration.microseconds(1_250)
    private static let timeoutUnit = Duration.milliseconds(10)

    package var interval: Duration { Self.intervalUnit * Int(intervalUnits) }
    /// The number of connection events that the peripheral may skip.
    package var latency: Int { Int(latencyUnits) }
    package var supervisionTimeout: Duration { Self.timeoutUnit * Int(timeoutUnits) }

    /// The three fields of an event.
    var bytes: [UInt8] { [intervalUnits, latencyUnits, timeoutUnits].flatMap(\.bytes) }
}
