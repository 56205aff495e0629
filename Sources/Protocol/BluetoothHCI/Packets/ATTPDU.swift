package import BluetoothBackend

/// A packet of the Attribute Protocol.
///
/// Source: Core Specification, Vol 3, Part F, 3.4.
package enum ATTPDU: Hashable, Sendable {
    case error(request: UInt8, handle: UInt16, code: UInt8)
    case mtuRequest(UInt16)
    case mtuResponse(UInt16)
    case findInformationRequest(ClosedRange<UInt16>)
    /// All UUIDs have the width of the first.
    case findInformationResponse([HandleAndUUID])
    /// The type has 16 bits.
    case findByTypeValueRequest(ClosedRange<UInt16>, type: UInt16, [UInt8])
    case findByTypeValueResponse([ClosedRange<UInt16>])
    case readByTypeRequest(ClosedRange<UInt16>, BluetoothUUID)
    /// All values have the length of the first.
    case readByTypeResponse([HandleAndValue])
    case readRequest(UInt16)
    case readResponse([UInt8])
    case readBlobRequest(UInt16, offset: UInt16)
    case readBlobResponse([UInt8])
    case readMultipleRequest([UInt16])
    /// The concatenated values, whose lengths the client knows.
    case readMultipleResponse([UInt8])
    case readMultipleVariableRequest([UInt16])
    /// The last value may lack a number of bytes, which its length includes.
    case readMultipleVariableResponse([[UInt8]], omitted: Int = 0)
    case readByGroupTypeRequest(ClosedRange<UInt16>, BluetoothUUID)
    /// All values have the length of the first.
    case readByGroupTypeResponse([Group])
    case writeRequest(UInt16, [UInt8])
    case writeResponse
    case writeCommand(UInt16, [UInt8])
    /// The signature has 12 bytes.
    case signedWriteCommand(UInt16, [UInt8], signature: [UInt8])
    case prepareWriteRequest(UInt16, offset: UInt16, [UInt8])
    case prepareWriteResponse(UInt16, offset: UInt16, [UInt8])
    case executeWriteRequest
    /// An Execute Write Request that discards the prepared writes.
    case cancelWriteRequest
    case executeWriteResponse
    case notification(UInt16, [UInt8])
    case multipleNotification([HandleAndValue])
    case indication(UInt16, [UInt8])
    case confirmation

    package struct HandleAndUUID: Hashable, Sendable {
        package let handle: UInt16
        package let uuid: BluetoothUUID

        package init(_ handle: UInt16, _ uuid: BluetoothUUID) { (self.handle, self.uuid) = (handle, uuid) }
    }

    package struct HandleAndValue: Hashable, Sendable {
        package let handle: UInt16
        package let value: [UInt8]

        package init(_ handle: UInt16, _ value: [UInt8]) { (self.handle, self.value) = (handle, value) }
    }

    /// A service and its UUID.
    package struct Group: Hashable, Sendable {
        package let handles: ClosedRange<UInt16>
        package let value: [UInt8]

        package init(_ handles: ClosedRange<UInt16>, _ value: [UInt8]) { (self.handles, self.value) = (handles, value) }
    }

    /// Whether a client sends the packet: clients send even opcodes (requests, commands, confirmations), servers odd
    /// ones.
    package var isOfClient: Bool { opcode & 1 == 0 }

    package var opcode: UInt8 {
        switch self {
        case .error: 0x01
        case .mtuRequest: 0x02
        case .mtuResponse: 0x03
        case .findInformationRequest: 0x04
        case .findInformationResponse: 0x05
        case .findByTypeValueRequest: 0x06
        case .findByTypeValueResponse: 0x07
        case .readByTypeRequest: 0x08
        case .readByTypeResponse: 0x09
        case .readRequest: 0x0A
        case .readResponse: 0x0B
        case .readBlobRequest: 0x0C
        case .readBlobResponse: 0x0D
        case .readMultipleRequest: 0x0E
        case .readMultipleResponse: 0x0F
        case .readByGroupTypeRequest: 0x10
        case .readByGroupTypeResponse: 0x11
        case .writeRequest: 0x12
        case .writeResponse: 0x13
        case .prepareWriteRequest: 0x16
        case .prepareWriteResponse: 0x17
        case .executeWriteRequest, .cancelWriteRequest: 0x18
        case .executeWriteResponse: 0x19
        case .notification: 0x1B
        case .indication: 0x1D
        case .confirmation: 0x1E
        case .readMultipleVariableRequest: 0x20
        case .readMultipleVariableResponse: 0x21
        case .multipleNotification: 0x23
        case .writeCommand: 0x52
        case .signedWriteCommand: 0xD2
        }
    }

    package var bytes: [UInt8] {
        var bytes = [opcode]
        switch self {
        case .error(let request, let handle, let code):
            bytes.append(request)
            bytes.append(littleEndian: handle)
            bytes.append(code)
        case .mtuRequest(let mtu), .mtuResponse(let mtu): bytes.append(littleEndian: mtu)
        case .findInformationRequest, .findInformationResponse, .findByTypeValueRequest, .findByTypeValueResponse,
            .readByTypeRequest, .readByGroupTypeRequest, .readByTypeResponse, .readByGroupTypeResponse:
            appendDiscovery(to: &bytes)
        case .readRequest(let handle): bytes.append(littleEndian: handle)
        case .readBlobRequest(let handle, let offset):
            bytes.append(littleEndian: handle)
            bytes.append(littleEndian: offset)
        case .readMultipleRequest(let handles), .readMultipleVariableRequest(let handles):
            for handle in handles { bytes.append(littleEndian: handle) }
        case .readMultipleVariableResponse(let values, let omitted):
            for value in values.dropLast() { bytes.append(counted: value) }
            if let last = values.last {
                bytes.append(littleEndian: UInt16(clamping: last.count + omitted))
                bytes += last
            }
        case .prepareWriteRequest(let handle, let offset, let part),
            .prepareWriteResponse(let handle, let offset, let part):
            bytes.append(littleEndian: handle)
            bytes.append(littleEndian: offset)
            bytes += part
        case .executeWriteRequest: bytes.append(1)
        case .cancelWriteRequest: bytes.append(0)
        case .writeRequest(let handle, let value), .writeCommand(let handle, let value),
            .notification(let handle, let value), .indication(let handle, let value):
            bytes.append(littleEndian: handle)
            bytes += value
        case .signedWriteCommand(let handle, let value, let signature):
            bytes.append(littleEndian: handle)
            bytes += value + signature
        case .multipleNotification(let values):
            for value in values {
                bytes.append(littleEndian: value.handle)
                bytes.append(counted: value.value)
            }
        case .readResponse(let value), .readBlobResponse(let value), .readMultipleResponse(let value): bytes += value
        case .writeResponse, .executeWriteResponse, .confirmation: break
        }
        return bytes
    }

    private func appendDiscovery(to bytes: inout [UInt8]) {
        switch self {
        case .findInformationRequest(let handles): bytes.append(handles)
        case .findInformationResponse(let attributes):
            bytes.append(attributes.first?.uuid.attWidth == 2 ? 1 : 2)
            for attribute in attributes {
                bytes.append(littleEndian: attribute.handle)
                bytes += attribute.uuid.attBytes
            }
        case .findByTypeValueRequest(let handles, let type, let value):
            bytes.append(handles)
            bytes.append(littleEndian: type)
            bytes += value
        case .findByTypeValueResponse(let groups): for handles in groups { bytes.append(handles) }
        case .readByTypeRequest(let handles, let type), .readByGroupTypeRequest(let handles, let type):
            bytes.append(handles)
            bytes += type.attBytes
        case .readByTypeResponse(let attributes):
            bytes.append(UInt8(clamping: 2 + (attributes.first?.value.count ?? 0)))
            for attribute in attributes {
                bytes.append(littleEndian: attribute.handle)
                bytes += attribute.value
            }
        case .readByGroupTypeResponse(let groups):
            bytes.append(UInt8(clamping: 4 + (groups.first?.value.count ?? 0)))
            for group in groups {
                bytes.append(group.handles)
                bytes += group.value
            }
        default: break
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ handles: ClosedRange<UInt16>) {
        append(littleEndian: handles.lowerBound)
        append(littleEndian: handles.upperBound)
    }

    /// Appends a value after its length.
    fileprivate mutating func append(counted value: [UInt8]) {
        append(littleEndian: UInt16(clamping: value.count))
        self += value
    }
}

extension BluetoothUUID {
    /// The number of bytes on the air: UUIDs of 32 bits are sent as 128 bits.
    package var attWidth: Int { width == .bits16 ? 2 : 16 }

    /// The bytes on the air, least significant first.
    package var attBytes: [UInt8] {
        (width == .bits32 ? BluetoothUUID(value: value) : self).bigEndianBytes.reversed()
    }
}
