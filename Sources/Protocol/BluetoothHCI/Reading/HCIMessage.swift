import BluetoothBackend

/// The meaning of a packet between a host and its controller, as far as a reader of connections needs it.
///
/// Source: Core Specification, Vol 4, Part E, 7.7.
package enum HCIMessage: Hashable, Sendable {
    case advertising([AdvertisingReport])
    case connected(HCIConnection)
    case disconnected(handle: UInt16, reason: UInt8)
    case encrypted(handle: UInt16)
    case parametersChanged(handle: UInt16, HCIConnectionParameters)
    /// A fragment of an L2CAP packet, the first or a later one.
    case data(handle: UInt16, isFirst: Bool, [UInt8])
    case other

    /// - Returns: nil for a packet that is too short for its type.
    package init?(_ packet: HCIPacket) {
        var cursor = ByteCursor(packet.body)
        switch packet.kind {
        case .command: self = .other
        case .acl:
            guard let flags = cursor.littleEndian(UInt16.self), let length = cursor.littleEndian(UInt16.self),
                let data = cursor.next(Int(length))
            else { return nil }
            self = .data(handle: flags & 0x0FFF, isFirst: flags & 0x3000 != 0x1000, Array(data))
        case .event:
            guard let code = cursor.byte(), let length = cursor.byte(), let parameters = cursor.next(Int(length)) else {
                return nil
            }
            self.init(event: code, ByteCursor(parameters))
        }
    }

    private init?(event code: UInt8, _ parameters: ByteCursor) {
        var cursor = parameters
        switch code {
        case 0x05:
            guard let status = cursor.byte(), let handle = cursor.littleEndian(UInt16.self), let reason = cursor.byte()
            else { return nil }
            self = status == 0 ? .disconnected(handle: handle & 0x0FFF, reason: reason) : .other
        case 0x08, 0x59:
            guard let status = cursor.byte(), let handle = cursor.littleEndian(UInt16.self), let isOn = cursor.byte()
            else { return nil }
            self = status == 0 && isOn != 0 ? .encrypted(handle: handle & 0x0FFF) : .other
        case 0x3E:
            guard let subevent = cursor.byte() else { return nil }
            self.init(lowEnergy: subevent, &cursor)
        default: self = .other
        }
    }

    private init?(lowEnergy subevent: UInt8, _ cursor: inout ByteCursor) {
        switch subevent {
        case 0x01, 0x0A:
            guard let status = cursor.byte() else { return nil }
            guard status == 0 else {
                self = .other
                return
            }
            guard let connection = HCIConnection(&cursor, isEnhanced: subevent == 0x0A) else { return nil }
            self = .connected(connection)
        case 0x02, 0x0D:
            guard let reports = Self.reports(&cursor, isExtended: subevent == 0x0D) else { return nil }
            self = .advertising(reports)
        case 0x03:
            guard let status = cursor.byte(), let handle = cursor.littleEndian(UInt16.self),
                let parameters = HCIConnectionParameters(&cursor)
            else { return nil }
            self = status == 0 ? .parametersChanged(handle: handle & 0x0FFF, parameters) : .other
        default: self = .other
        }
    }

    /// Reads the reports of an event, at most 25.
    private static func reports(_ cursor: inout ByteCursor, isExtended: Bool) -> [AdvertisingReport]? {
        guard let count = cursor.byte() else { return nil }
        var reports: [AdvertisingReport] = []
        for _ in 0..<count {
            guard let report = AdvertisingReport(&cursor, isExtended: isExtended) else { return nil }
            reports.append(report)
        }
        return reports
    }
}

extension AdvertisingReport {
    fileprivate init?(_ cursor: inout ByteCursor, isExtended: Bool) {
        guard isExtended else {
            guard let type = cursor.byte(), let kind = cursor.byte(),
                let address = HCIAddress(&cursor, isRandom: kind & 1 == 1), let length = cursor.byte(),
                let data = cursor.next(Int(length)), let rssi = cursor.byte()
            else { return nil }
            self.init(
                address: address, data: Array(data), rssi: Int8(bitPattern: rssi), isConnectable: type <= 1,
                isScannable: type == 0 || type == 2, isScanResponse: type == 4)
            return
        }
        guard let type = cursor.littleEndian(UInt16.self), let kind = cursor.byte(),
            let address = HCIAddress(&cursor, isRandom: kind & 1 == 1), cursor.next(2) != nil,
            let set = cursor.byte(), cursor.next(1) != nil, let rssi = cursor.byte(), cursor.next(9) != nil,
            let length = cursor.byte(),
            let data = cursor.next(Int(length))
        else { return nil }
        self.init(
            address: address, data: Array(data), rssi: Int8(bitPattern: rssi), isConnectable: type & 1 != 0,
            isScannable: type & 2 != 0, isScanResponse: type & 8 != 0)
        setID = set <= 0x0F ? set : nil
        hasMore = type & 0x60 == 0x20
    }
}

extension HCIConnection {
    fileprivate init?(_ cursor: inout ByteCursor, isEnhanced: Bool) {
        guard let handle = cursor.littleEndian(UInt16.self), let role = cursor.byte(), let kind = cursor.byte(),
            let peer = HCIAddress(&cursor, isRandom: kind & 1 == 1)
        else { return nil }
        var (local, remote): (HCIAddress?, HCIAddress?)
        if isEnhanced {
            local = HCIAddress(&cursor, isRandom: true)
            remote = HCIAddress(&cursor, isRandom: true)
        }
        guard let parameters = HCIConnectionParameters(&cursor) else { return nil }
        self.init(
            handle: handle & 0x0FFF, isCentral: role == 0, peer: peer,
            privateAddress: remote.flatMap { $0.bits == 0 ? nil : $0 },
            localPrivateAddress: local.flatMap { $0.bits == 0 ? nil : $0 },
            parameters: parameters)
    }
}
