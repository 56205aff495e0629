import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI
import BluetoothValues

/// The packets of a GATT procedure.
///
/// Source: Core Specification, Vol 3, Part G, 4.
struct ATTProcedure {
    typealias Exchange = (request: ATTPDU, response: ATTPDU)

    private static let allHandles: ClosedRange<UInt16> = 0x0001...0xFFFF
    private static let primaryService: BluetoothUUID = "2800"
    private static let include: BluetoothUUID = "2802"
    private static let characteristic: BluetoothUUID = "2803"

    private let request: ATTRequest
    private let mtu: Int

    init(_ request: ATTRequest, mtu: Int) { (self.request, self.mtu) = (request, mtu) }

    /// The first packet of the central.
    var firstRequest: ATTPDU {
        switch request {
        case .discoverServices: .readByGroupTypeRequest(Self.allHandles, Self.primaryService)
        case .discoverIncludedServices(let handles): .readByTypeRequest(handles, Self.include)
        case .discoverCharacteristics(let handles): .readByTypeRequest(handles, Self.characteristic)
        case .discoverDescriptors(let handles): .findInformationRequest(handles)
        case .read(let handle): .readRequest(handle)
        case .write(let handle, let value, let offset):
            ATTLimits.isPrepared(count: value.count, offset: offset, mtu: mtu)
                ? .prepareWriteRequest(handle, offset: offset, Array(value.prefix(ATTLimits.prepared(mtu: mtu))))
                : .writeRequest(handle, Array(value))
        }
    }

    /// Returns all packets; empty for a response to another request.
    func exchanges(_ response: ATTResponse) -> [Exchange] {
        switch (request, response) {
        case (.write(let handle, let value, let offset), .error(let code)):
            refusedWrite(handle, Array(value), from: offset, code)
        case (_, .error(let code)): [refusal(of: firstRequest, at: firstHandle, code)]
        case (.discoverServices, .services(let services)): groups(services)
        case (.discoverIncludedServices(let range), .includedServices(let includes)): self.includes(includes, in: range)
        case (.discoverCharacteristics(let range), .characteristics(let found)):
            attributes(found.map(\.declaration), of: Self.characteristic, in: range)
        case (.discoverDescriptors(let range), .descriptors(let found)): information(found, in: range)
        case (.read(let handle), .value(let value)): read(handle, Array(value))
        case (.write(let handle, let value, let offset), .written): write(handle, Array(value), from: offset)
        default: []
        }
    }

    /// Returns the procedures that discover all attributes.
    static func wholeDiscovery(of services: [TappedService]) -> [(ATTRequest, ATTResponse)] {
        var procedures: [(ATTRequest, ATTResponse)] = [(.discoverServices, .services(services.filter(\.isPrimary)))]
        for service in services {
            if !service.included.isEmpty {
                procedures.append((.discoverIncludedServices(in: service.handles), .includedServices(service.included)))
            }
            procedures.append(
                (.discoverCharacteristics(in: service.handles), .characteristics(service.characteristics)))
            for characteristic in service.characteristics {
                let handles = characteristic.descriptors.map(\.handle)
                guard let first = handles.first, let last = handles.last, first <= last else { continue }
                procedures.append((.discoverDescriptors(in: first...last), .descriptors(characteristic.descriptors)))
            }
        }
        return procedures
    }

    // MARK: Discoveries

    private var firstHandle: UInt16 {
        switch request {
        case .discoverServices: 1
        case .discoverIncludedServices(let handles), .discoverCharacteristics(let handles),
            .discoverDescriptors(let handles):
            handles.lowerBound
        case .read(let handle), .write(let handle, _, _): handle
        }
    }

    private func refusal(of request: ATTPDU, at handle: UInt16, _ code: ATTCode) -> Exchange {
        (request, .error(request: request.opcode, handle: handle, code: code.rawValue))
    }

    /// Returns requests for one part after the other; the items of a response have equal sizes, and as many as fit are
    /// in it.
    ///
    /// - Parameters:
    ///   - end: Returns the last handle of an item, after which the next request begins.
    ///   - range: The requested range; the last request covers the rest of it, and fails with "attribute not found".
    private func parts<Item>(
        _ items: [Item], in range: ClosedRange<UInt16>, size: (Item) -> Int, end: (Item) -> UInt16,
        request: (ClosedRange<UInt16>) -> ATTPDU, response: (ArraySlice<Item>) -> ATTPDU
    ) -> [Exchange] {
        var (exchanges, rest, start) = ([Exchange](), items[...], range.lowerBound)
        while let first = rest.first, let left = ClosedRange(from: start, to: range.upperBound) {
            let room = max(1, (mtu - 2) / size(first))
            let part = rest.prefix(room).prefix { size($0) == size(first) }
            exchanges.append((request(left), response(part)))
            rest = rest.dropFirst(part.count)
            guard let last = part.last.map(end), last < .max else { return exchanges }
            start = last + 1
        }
        if let left = ClosedRange(from: start, to: range.upperBound) {
            exchanges.append(refusal(of: request(left), at: left.lowerBound, .attributeNotFound))
        }
        return exchanges
    }

    private func groups(_ services: [TappedService]) -> [Exchange] {
        parts(
            services, in: Self.allHandles, size: { 4 + $0.uuid.attWidth }, end: \.handles.upperBound,
            request: { .readByGroupTypeRequest($0, Self.primaryService) },
            response: { part in
                .readByGroupTypeResponse(part.map { ATTPDU.Group($0.handles, $0.uuid.attBytes) })
            })
    }

    private func attributes(
        _ found: [ATTPDU.HandleAndValue], of type: BluetoothUUID, in range: ClosedRange<UInt16>
    ) -> [Exchange] {
        parts(
            found, in: range, size: { 2 + $0.value.count }, end: \.handle,
            request: { .readByTypeRequest($0, type) }, response: { .readByTypeResponse(Array($0)) })
    }

    /// Returns the packets for include declarations.
    ///
    /// A declaration contains a short UUID; a long one is read from the declaration of the included service.
    private func includes(_ includes: [TappedService.Include], in range: ClosedRange<UInt16>) -> [Exchange] {
        let long = includes.filter { $0.uuid.attWidth > 2 }
        return attributes(includes.map(\.declaration), of: Self.include, in: range)
            + long.map { (.readRequest($0.handles.lowerBound), .readResponse($0.uuid.attBytes)) }
    }

    private func information(_ descriptors: [TappedDescriptor], in range: ClosedRange<UInt16>) -> [Exchange] {
        parts(
            descriptors, in: range, size: { 2 + $0.uuid.attWidth }, end: \.handle,
            request: { .findInformationRequest($0) },
            response: { part in
                .findInformationResponse(part.map { ATTPDU.HandleAndUUID($0.handle, $0.uuid) })
            })
    }

    // MARK: Values

    /// Returns the packets of a read; after a full response, the next part is read.
    private func read(_ handle: UInt16, _ value: [UInt8]) -> [Exchange] {
        let room = ATTLimits.read(mtu: mtu)
        var exchanges: [Exchange] = [(.readRequest(handle), .readResponse(Array(value.prefix(room))))]
        var offset = room
        while offset <= value.count, offset < ATTLimits.longestValue {
            let part = Array(value[offset...].prefix(room))
            exchanges.append((.readBlobRequest(handle, offset: UInt16(offset)), .readBlobResponse(part)))
            offset += room
        }
        return exchanges
    }

    private func write(_ handle: UInt16, _ value: [UInt8], from start: UInt16) -> [Exchange] {
        guard ATTLimits.isPrepared(count: value.count, offset: start, mtu: mtu) else {
            return [(firstRequest, .writeResponse)]
        }
        return prepared(handle, value, from: start) + [(.executeWriteRequest, .executeWriteResponse)]
    }

    private func prepared(_ handle: UInt16, _ value: [UInt8], from start: UInt16) -> [Exchange] {
        RoundTrips.parts(count: value.count, mtu: mtu).map { range in
            let offset = UInt16(clamping: Int(start) + range.lowerBound)
            return (
                .prepareWriteRequest(handle, offset: offset, Array(value[range])),
                .prepareWriteResponse(handle, offset: offset, Array(value[range]))
            )
        }
    }

    /// Returns the packets of a refused write.
    ///
    /// A long write is refused with its first packet if permissions are missing, and at its execution if the value is
    /// not accepted.
    private func refusedWrite(
        _ handle: UInt16, _ value: [UInt8], from start: UInt16, _ code: ATTCode
    ) -> [Exchange] {
        let ofPermissions: Set<ATTCode> = [
            .writeNotPermitted, .insufficientAuthentication, .insufficientEncryption, .invalidHandle,
            .requestNotSupported,
            .prepareQueueFull,
        ]
        if !ATTLimits.isPrepared(count: value.count, offset: start, mtu: mtu) || ofPermissions.contains(code) {
            return [refusal(of: firstRequest, at: handle, code)]
        }
        return prepared(handle, value, from: start) + [refusal(of: .executeWriteRequest, at: handle, code)]
    }
}

extension ClosedRange<UInt16> {
    /// Returns nil if the range is empty.
    fileprivate init?(from first: UInt16, to last: UInt16) {
        guard first <= last else { return nil }
        self = first...last
    }
}
