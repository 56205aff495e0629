package import BluetoothBackend

extension ATTPDU {
    /// Reads a packet.
    ///
    /// - Returns: nil for a malformed packet, and for one with an opcode that the Core Specification does not define.
    package init?(_ bytes: [UInt8]) {
        var cursor = ByteCursor(bytes)
        guard let opcode = cursor.byte(),
            let pdu = Self.discovery(opcode, &cursor) ?? Self.value(opcode, &cursor) ?? Self.several(opcode, &cursor)
        else {
            return nil
        }
        self = pdu
    }

    private static func discovery(_ opcode: UInt8, _ cursor: inout ByteCursor) -> ATTPDU? {
        switch opcode {
        case 0x01:
            guard let request = cursor.byte(), let handle = cursor.littleEndian(UInt16.self), let code = cursor.byte()
            else { return nil }
            return .error(request: request, handle: handle, code: code)
        case 0x02: return cursor.littleEndian(UInt16.self).map { .mtuRequest($0) }
        case 0x03: return cursor.littleEndian(UInt16.self).map { .mtuResponse($0) }
        case 0x04: return cursor.handles().map { .findInformationRequest($0) }
        case 0x05: return information(&cursor)
        case 0x06:
            guard let handles = cursor.handles(), let type = cursor.littleEndian(UInt16.self) else { return nil }
            return .findByTypeValueRequest(handles, type: type, Array(cursor.rest))
        case 0x07: return cursor.list { $0.handles() }.map { .findByTypeValueResponse($0) }
        case 0x08, 0x10:
            guard let handles = cursor.handles(), let type = BluetoothUUID(attBytes: cursor.rest) else { return nil }
            return opcode == 0x08 ? .readByTypeRequest(handles, type) : .readByGroupTypeRequest(handles, type)
        case 0x09:
            return entries(&cursor, headerLength: 2) { entry in
                entry.littleEndian(UInt16.self).map { HandleAndValue($0, Array(entry.rest)) }
            }.map { .readByTypeResponse($0) }
        case 0x11:
            return entries(&cursor, headerLength: 4) { entry in
                entry.handles().map { Group($0, Array(entry.rest)) }
            }.map { .readByGroupTypeResponse($0) }
        default: return nil
        }
    }

    /// Reads entries whose length is in the first byte.
    private static func entries<Entry>(
        _ cursor: inout ByteCursor, headerLength: Int, _ read: (inout ByteCursor) -> Entry?
    ) -> [Entry]? {
        guard let length = cursor.byte(), Int(length) >= headerLength else { return nil }
        var entries: [Entry] = []
        while let bytes = cursor.next(Int(length)) {
            var entry = ByteCursor(bytes)
            guard let read = read(&entry) else { return nil }
            entries.append(read)
        }
        return cursor.isAtEnd && !entries.isEmpty ? entries : nil
    }

    private static func information(_ cursor: inout ByteCursor) -> ATTPDU? {
        guard let format = cursor.byte(), (1...2).contains(format) else { return nil }
        var found: [HandleAndUUID] = []
        while let handle = cursor.littleEndian(UInt16.self) {
            guard let bytes = cursor.next(format == 1 ? 2 : 16), let uuid = BluetoothUUID(attBytes: bytes) else {
                return nil
            }
            found.append(HandleAndUUID(handle, uuid))
        }
        return cursor.isAtEnd && !found.isEmpty ? .findInformationResponse(found) : nil
    }

    private static func value(_ opcode: UInt8, _ cursor: inout ByteCursor) -> ATTPDU? {
        switch opcode {
        case 0x0A: return cursor.littleEndian(UInt16.self).map { .readRequest($0) }
        case 0x0B: return .readResponse(Array(cursor.rest))
        case 0x0C:
            guard let handle = cursor.littleEndian(UInt16.self), let offset = cursor.littleEndian(UInt16.self) else {
                return nil
            }
            return .readBlobRequest(handle, offset: offset)
        case 0x0D: return .readBlobResponse(Array(cursor.rest))
        case 0x13: return .writeResponse
        case 0x18: return cursor.byte().flatMap { $0 == 0 ? .cancelWriteRequest : $0 == 1 ? .executeWriteRequest : nil }
        case 0x19: return .executeWriteResponse
        case 0x1E: return .confirmation
        case 0x16, 0x17:
            guard let handle = cursor.littleEndian(UInt16.self), let offset = cursor.littleEndian(UInt16.self) else {
                return nil
            }
            let part = Array(cursor.rest)
            return opcode == 0x16
                ? .prepareWriteRequest(handle, offset: offset, part)
                : .prepareWriteResponse(handle, offset: offset, part)
        case 0x12, 0x52, 0x1B, 0x1D:
            guard let handle = cursor.littleEndian(UInt16.self) else { return nil }
            let value = Array(cursor.rest)
            switch opcode {
            case 0x12: return .writeRequest(handle, value)
            case 0x52: return .writeCommand(handle, value)
            case 0x1B: return .notification(handle, value)
            default: return .indication(handle, value)
            }
        default: return nil
        }
    }

    /// Reads packets with several values, and those with a signature.
    private static func several(_ opcode: UInt8, _ cursor: inout ByteCursor) -> ATTPDU? {
        switch opcode {
        case 0x0E, 0x20:
            // A client that reads a single value sends a Read Request.
            guard let handles = cursor.list({ $0.littleEndian(UInt16.self) }), handles.count > 1 else { return nil }
            return opcode == 0x0E ? .readMultipleRequest(handles) : .readMultipleVariableRequest(handles)
        case 0x0F: return .readMultipleResponse(Array(cursor.rest))
        case 0x21:
            var omitted = 0
            return cursor.list { $0.countedValue(&omitted) }.map { .readMultipleVariableResponse($0, omitted: omitted) }
        case 0x23:
            return cursor.list { entry in
                guard let handle = entry.littleEndian(UInt16.self) else { return nil }
                var omitted = 0
                return entry.countedValue(&omitted).map { HandleAndValue(handle, $0) }
            }.map { .multipleNotification($0) }
        case 0xD2:
            guard let handle = cursor.littleEndian(UInt16.self), cursor.count >= 12,
                let value = cursor.next(cursor.count - 12)
            else { return nil }
            return .signedWriteCommand(handle, Array(value), signature: Array(cursor.rest))
        default: return nil
        }
    }
}

extension ByteCursor {
    /// Reads entries up to the end, at least one; nil if one is malformed.
    fileprivate mutating func list<Entry>(_ read: (inout ByteCursor) -> Entry?) -> [Entry]? {
        var entries: [Entry] = []
        repeat {
            guard let entry = read(&self) else { return nil }
            entries.append(entry)
        } while !isAtEnd
        return entries
    }

    /// Reads a value after its length; a truncated value ends with the packet.
    ///
    /// - Parameter omitted: Becomes the number of bytes that are missing.
    fileprivate mutating func countedValue(_ omitted: inout Int) -> [UInt8]? {
        guard let length = littleEndian(UInt16.self) else { return nil }
        omitted = max(0, Int(length) - count)
        return next(min(Int(length), count)).map { Array($0) }
    }

    /// Reads two handles; nil if the second is less than the first.
    fileprivate mutating func handles() -> ClosedRange<UInt16>? {
        guard let first = littleEndian(UInt16.self), let last = littleEndian(UInt16.self), first <= last else {
            return nil
        }
        return first...last
    }
}

extension BluetoothUUID {
    /// Creates a UUID from its bytes on the air: 2 or 16, least significant first.
    package init?(attBytes bytes: some BidirectionalCollection<UInt8>) {
        self.init(bigEndian: Array(bytes.reversed()))
    }
}
