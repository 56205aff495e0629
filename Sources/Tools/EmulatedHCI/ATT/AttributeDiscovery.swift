import BluetoothBackend
import BluetoothHCI
import BluetoothSupport
import BluetoothValues

/// The responses to a client that discovers the attributes of a table.
///
/// Source: Core Specification, Vol 3, Part F, 3.4.3, 3.4.4.1 and 3.4.4.9.
struct AttributeDiscovery: Sendable {
    enum Answer: Sendable {
        case response(ATTPDU)
        case failure(handle: UInt16, ATTCode)
        /// The value of an attribute is to be read for the response to a Read By Type request.
        case value(handle: UInt16)
    }

    private let table: AttributeList
    private let mtu: Int

    init(_ table: AttributeList, mtu: Int) { (self.table, self.mtu) = (table, mtu) }

    func answer(_ pdu: ATTPDU) -> Answer {
        switch pdu {
        case .findInformationRequest(let handles): check(handles) ?? findInformation(handles)
        case .findByTypeValueRequest(let handles, let type, let value):
            check(handles) ?? findByTypeValue(handles, BluetoothUUID(type), value)
        case .readByTypeRequest(let handles, let type): check(handles) ?? readByType(handles, type)
        case .readByGroupTypeRequest(let handles, let type): check(handles) ?? readByGroupType(handles, type)
        default: .failure(handle: 0, .requestNotSupported)
        }
    }

    private func check(_ handles: ClosedRange<UInt16>) -> Answer? {
        handles.lowerBound == 0 ? .failure(handle: 0, .invalidHandle) : nil
    }

    private func notFound(_ handles: ClosedRange<UInt16>) -> Answer {
        .failure(handle: handles.lowerBound, .attributeNotFound)
    }

    private func findInformation(_ handles: ClosedRange<UInt16>) -> Answer {
        var found: [ATTPDU.HandleAndUUID] = []
        var room = mtu - 2
        for attribute in table.attributes(in: handles) {
            let size = 2 + attribute.type.attWidth
            guard size <= room, attribute.type.attWidth == found.first?.uuid.attWidth ?? attribute.type.attWidth else {
                break
            }
            room -= size
            found.append(ATTPDU.HandleAndUUID(attribute.handle, attribute.type))
        }
        return found.isEmpty ? notFound(handles) : .response(.findInformationResponse(found))
    }

    private func findByTypeValue(_ handles: ClosedRange<UInt16>, _ type: BluetoothUUID, _ value: [UInt8]) -> Answer {
        let found = table.attributes(in: handles).lazy.filter { attribute in
            guard attribute.type == type, case .declaration(let own) = attribute.content else { return false }
            return own == value
        }
        let groups = found.prefix((mtu - 1) / 4).map { $0.handle...max($0.handle, $0.groupEnd) }
        return groups.isEmpty ? notFound(handles) : .response(.findByTypeValueResponse(Array(groups)))
    }

    private func readByType(_ handles: ClosedRange<UInt16>, _ type: BluetoothUUID) -> Answer {
        var found: [ATTPDU.HandleAndValue] = []
        var room = mtu - 2
        for attribute in table.attributes(in: handles) where attribute.type == type {
            guard case .declaration(let value) = attribute.content else {
                // A value is read from the device, alone.
                if found.isEmpty { return .value(handle: attribute.handle) }
                break
            }
            let part = Array(value.prefix(min(253, mtu - 4)))
            guard 2 + part.count <= room, part.count == found.first?.value.count ?? part.count else { break }
            room -= 2 + part.count
            found.append(ATTPDU.HandleAndValue(attribute.handle, part))
        }
        return found.isEmpty ? notFound(handles) : .response(.readByTypeResponse(found))
    }

    private func readByGroupType(_ handles: ClosedRange<UInt16>, _ type: BluetoothUUID) -> Answer {
        guard type == "2800" || type == "2801" else {
            return .failure(handle: handles.lowerBound, .unsupportedGroupType)
        }
        var found: [ATTPDU.Group] = []
        var room = mtu - 2
        for attribute in table.attributes(in: handles) where attribute.type == type {
            guard case .declaration(let value) = attribute.content else { continue }
            guard 4 + value.count <= room, value.count == found.first?.value.count ?? value.count else { break }
            room -= 4 + value.count
            found.append(ATTPDU.Group(attribute.handle...max(attribute.handle, attribute.groupEnd), value))
        }
        return found.isEmpty ? notFound(handles) : .response(.readByGroupTypeResponse(found))
    }
}
