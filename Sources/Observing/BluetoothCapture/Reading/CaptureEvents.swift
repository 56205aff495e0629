package import BluetoothHCI

/// Converts the records of a capture into the events on the links of its hosts.
///
/// A malformed packet is counted and skipped, and so is data of a connection whose beginning is not in the capture, or
/// that exceeds 256 connections at a time. At most 64 advertising packets in several parts are incomplete at a time;
/// beyond that, only the last part of a packet is reported.
package struct CaptureEvents: Sendable {
    package struct Event: Hashable, Sendable {
        package let time: CaptureTime
        package let kind: Kind
    }

    package enum Kind: Hashable, Sendable {
        case advertised(AdvertisingReport)
        case connected(link: Int, HCIConnection, host: CapturedHost)
        case encrypted(link: Int)
        case parametersChanged(link: Int, HCIConnectionParameters)
        case disconnected(link: Int, reason: UInt8)
        /// A packet of the Attribute Protocol; a received one is from the other end.
        case att(link: Int, ATTPDU, isReceived: Bool)
        case pairing(link: Int, SecurityManagerPDU, isReceived: Bool)
    }

    private struct Key: Hashable, Sendable {
        var host: Int
        var handle: UInt16
    }

    /// An advertising packet in several parts.
    private struct PartsKey: Hashable, Sendable {
        var host: Int
        var address: HCIAddress
        var setID: UInt8?
        var isScanResponse: Bool
    }

    private static let maximumLinks = 256
    private static let maximumParts = 64
    private static let longestAdvertisement = 1_650

    /// The packets that could not be read.
    package private(set) var malformedCount = 0
    /// The packets on connections whose beginning is not in the capture.
    package private(set) var unknownCount = 0
    /// The connections beyond the limit of concurrent ones.
    package private(set) var excessLinkCount = 0
    private var hosts: [CapturedHost] = []
    private var links: [Key: Int] = [:]
    private var lastLink = 0
    private var assembler = L2CAPAssembler()
    private var parts: [PartsKey: [UInt8]] = [:]

    package init() {}

    /// Returns the events of a record: advertising reports, another event, or none.
    package mutating func add(_ record: CaptureRecord) -> [Event] {
        switch record {
        case .host(let host):
            hosts.append(host)
            return []
        case .note: return []
        case .packet(let packet):
            guard let message = HCIMessage(packet.packet) else {
                malformedCount += 1
                return []
            }
            return kinds(message, packet).map { Event(time: packet.time, kind: $0) }
        }
    }

    private mutating func kinds(_ message: HCIMessage, _ packet: CapturedPacket) -> [Kind] {
        switch message {
        case .advertising(let reports): return reports.compactMap { joined($0, packet.host) }.map { .advertised($0) }
        case .connected(let connection):
            let key = Key(host: packet.host, handle: connection.handle)
            guard hosts.indices.contains(packet.host) else { return [] }
            guard links[key] != nil || links.count < Self.maximumLinks else {
                excessLinkCount += 1
                return []
            }
            lastLink += 1
            links[key] = lastLink
            assembler.end(host: packet.host, handle: connection.handle)
            return [.connected(link: lastLink, connection, host: hosts[packet.host])]
        case .encrypted(let handle):
            return links[Key(host: packet.host, handle: handle)].map { [.encrypted(link: $0)] } ?? []
        case .parametersChanged(let handle, let parameters):
            let link = links[Key(host: packet.host, handle: handle)]
            return link.map { [.parametersChanged(link: $0, parameters)] } ?? []
        case .disconnected(let handle, let reason):
            assembler.end(host: packet.host, handle: handle)
            let link = links.removeValue(forKey: Key(host: packet.host, handle: handle))
            return link.map { [.disconnected(link: $0, reason: reason)] } ?? []
        case .data(let handle, let isFirst, let part):
            return data(part, isFirst: isFirst, handle, packet).map { [$0] } ?? []
        case .other: return []
        }
    }

    /// Returns a report with all parts of its data; nil while parts are missing.
    private mutating func joined(_ report: AdvertisingReport, _ host: Int) -> AdvertisingReport? {
        let key = PartsKey(
            host: host, address: report.address, setID: report.setID, isScanResponse: report.isScanResponse)
        let begun = parts.removeValue(forKey: key)
        guard report.hasMore || begun != nil else { return report }
        var whole = report
        whole.data = Array(((begun ?? []) + report.data).prefix(Self.longestAdvertisement))
        whole.hasMore = false
        guard report.hasMore else { return whole }
        if parts.count < Self.maximumParts { parts[key] = whole.data }
        return nil
    }

    private mutating func data(_ part: [UInt8], isFirst: Bool, _ handle: UInt16, _ packet: CapturedPacket) -> Kind? {
        let isReceived = packet.packet.isReceived
        guard let link = links[Key(host: packet.host, handle: handle)] else {
            unknownCount += 1
            return nil
        }
        guard
            let (channel, payload) = assembler.add(
                part, isFirst: isFirst, host: packet.host, handle: handle, isReceived: isReceived)
        else { return nil }
        switch channel {
        case 4:
            if let pdu = ATTPDU(payload) { return .att(link: link, pdu, isReceived: isReceived) }
            malformedCount += 1
            return nil
        case 6: return SecurityManagerPDU(payload).map { .pairing(link: link, $0, isReceived: isReceived) }
        default: return nil
        }
    }
}
