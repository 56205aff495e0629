import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import BluetoothValues

@testable import EmulatedHCI

/// A server with a device that answers at once; the numbers of its attributes are their handles.
struct ServedAttributes {
    var server: ATTServer
    var values: [UInt16: [UInt8]] = [:]
    /// The codes with which the device refuses to read or write an attribute.
    var refusals: [UInt16: UInt8] = [:]
    /// The attributes whose reads the device never answers.
    var held: Set<UInt16> = []
    /// The requests to the device.
    private(set) var requests: [LinkRequest] = []
    private(set) var commands: [UInt16: [UInt8]] = [:]
    /// The number of round trips without a request to the device.
    private(set) var exchanges = 0

    init(_ services: [TappedService] = sample, maximumMTU: Int = 247) {
        server = ATTServer(.of(services), maximumMTU: maximumMTU)
    }

    /// Sends a packet of the client, and returns those of the server.
    mutating func send(_ pdu: ATTPDU) -> [ATTPDU] { send(pdu.bytes) }

    mutating func send(_ bytes: [UInt8]) -> [ATTPDU] { perform(server.receive(bytes)) }

    mutating func perform(_ actions: [ATTServer.Action]) -> [ATTPDU] {
        var (sent, open) = ([ATTPDU](), actions[...])
        while let action = open.popFirst() {
            switch action {
            case .send(let pdu): sent.append(pdu)
            case .exchange:
                exchanges += 1
                open += server.completed(.written)
            case .request(let request):
                requests.append(request)
                if let id = request.attribute, held.contains(UInt16(truncatingIfNeeded: id.rawValue)) { break }
                open += server.completed(answer(request))
            case .writeCommand(let id, let value): commands[UInt16(id.rawValue)] = Array(value)
            }
        }
        return sent
    }

    private mutating func answer(_ request: LinkRequest) -> LinkResponse {
        guard let id = request.attribute else { return .written }
        let handle = UInt16(truncatingIfNeeded: id.rawValue)
        if let code = refusals[handle] { return .failure(.att(code, operation: "\(request)")) }
        switch request {
        case .read: return .value(Data(values[handle] ?? []))
        case .write(_, let value, let offset):
            values[handle] = Array((values[handle] ?? []).prefix(Int(offset))) + Array(value)
            return .written
        case .setNotifying(_, let isOn): return .notifying(isOn)
        default: return .written
        }
    }

    /// Generic Access, Generic Attribute, Heart Rate with an included service, and that one.
    static let sample: [TappedService] = [
        TappedService(
            handles: 1...5, uuid: "1800", isPrimary: true, included: [],
            characteristics: [.at(2, 0x02, "2A00"), .at(4, 0x02, "2A01")]),
        TappedService(
            handles: 6...9, uuid: "1801", isPrimary: true, included: [],
            characteristics: [.at(7, 0x20, "2A05", [(9, "2902")])]),
        TappedService(
            handles: 0x10...0x1F, uuid: "180D", isPrimary: true,
            included: [TappedService.Include(handle: 0x11, handles: 0x30...0x33, uuid: long(1))],
            characteristics: [
                .at(0x12, 0x30, "2A37", [(0x14, "2902"), (0x15, "2901")]), .at(0x16, 0x02, "2A38"),
                .at(0x18, 0x0E, long(2)),
            ]),
        TappedService(
            handles: 0x30...0x33, uuid: long(1), isPrimary: false, included: [],
            characteristics: [.at(0x31, 0x12, "2A37", [(0x33, "2902")])]),
    ]

    static func long(_ number: UInt128) -> BluetoothUUID {
        BluetoothUUID(value: 0xE95D_0000_251D_470A_A062_FA19_22DF_A900 + number)
    }
}

extension TappedCharacteristic {
    /// A characteristic whose value follows its declaration.
    static func at(
        _ declaration: UInt16, _ properties: UInt16, _ uuid: BluetoothUUID,
        _ descriptors: [(handle: UInt16, uuid: BluetoothUUID)] = []
    ) -> Self {
        TappedCharacteristic(
            declarationHandle: declaration, valueHandle: declaration + 1,
            properties: CharacteristicProperties(rawValue: properties), uuid: uuid,
            descriptors: descriptors.map { TappedDescriptor(handle: $0.handle, uuid: $0.uuid) })
    }
}

extension AttributeList {
    /// A table of services whose attributes have their handles as numbers.
    static func of(_ services: [TappedService]) -> Self {
        var ids: [UInt16: AttributeID] = [:]
        for characteristic in services.flatMap(\.characteristics) {
            for handle in [characteristic.valueHandle] + characteristic.descriptors.map(\.handle) {
                ids[handle] = .at(handle)
            }
        }
        return AttributeList(services, ids)
    }
}

extension AttributeID {
    static func at(_ handle: UInt16) -> Self { AttributeID(rawValue: UInt32(handle)) }
}

extension ATTPDU {
    static func refused(_ request: UInt8, _ handle: UInt16, _ code: ATTCode) -> Self {
        .error(request: request, handle: handle, code: code.rawValue)
    }
}
