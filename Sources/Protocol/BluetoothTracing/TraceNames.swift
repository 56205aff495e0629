package import BluetoothBackend

/// The names that a trace writes after identifiers: those of peers, and the UUID paths of attributes.
///
/// The names come from the commands and events themselves, so a line depends only on the lines before it. At most 1,024
/// peers, 4,096 attributes, 256 operations and 256 requests are remembered, the most recent ones; a name is truncated
/// after 64 Unicode scalars. Without a remembered name, a line contains only the identifier.
package struct TraceNames: Sendable {
    /// An identifier of one role, on one of its links or of the manager itself.
    private struct Key<ID: Hashable & Sendable>: Hashable {
        var role: Int
        var link: LinkID?
        var id: ID
    }

    private var peers = LRUCache<PeerID, String>(limit: 1024)
    private var links = LRUCache<Key<LinkID>, PeerID>(limit: 256)
    private var attributes = LRUCache<Key<AttributeID>, AttributeName>(limit: 4096)
    /// The attributes of operations, whose responses do not name them.
    private var operations = LRUCache<Key<OperationID>, AttributeID>(limit: 256)
    private var requests = LRUCache<Key<RequestID>, AttributeID>(limit: 256)

    package init() {}

    /// The names for a line that needs none.
    package static let none = TraceNames()

    /// Returns the line of a message, after learning its names.
    ///
    /// - Parameter role: The number of the message's role: each role numbers its links and attributes.
    package mutating func line(for message: some TraceMessage, role: Int, showsValues: Bool) -> TraceLine {
        learn(message, role: role)
        var line = TraceLine(message.kind.rawValue, names: self, role: role, showsValues: showsValues)
        message.write(to: &line)
        return line
    }

    /// Learns the names in a message that is not written.
    package mutating func learn(_ message: some TraceMessage, role: Int) { message.teach(&self, role: role) }

    // MARK: Names

    func name(of peer: PeerID) -> String? { peers[peer] }

    func name(of link: LinkID, role: Int) -> String? { peer(of: link, role: role).flatMap { peers[$0] } }

    func peer(of link: LinkID, role: Int) -> PeerID? { links[Key(role: role, id: link)] }

    func name(of attribute: AttributeID, on link: LinkID?, role: Int) -> AttributeName? {
        attributes[Key(role: role, link: link, id: attribute)]
    }

    /// Stores a peer's name; a message without one keeps the known name.
    package mutating func learn(_ peer: PeerID, _ name: String?) {
        guard let name, !name.isEmpty, peers[peer] != name else { return }
        peers.insert(String(name.unicodeScalars.prefix(64)), for: peer)
    }

    mutating func learn(_ link: LinkID, to peer: PeerID, role: Int) {
        links.insert(peer, for: Key(role: role, id: link))
    }

    /// Stores the attributes that a response contains, within the attribute of its request.
    mutating func learn(_ response: LinkResponse, to operation: OperationID, on link: LinkID, role: Int) {
        let found = response.attributes
        if !found.isEmpty { learn(found, within: attribute(of: operation, on: link, role: role), on: link, role: role) }
    }

    mutating func learn(_ found: [AttributeRecord], within parent: AttributeID?, on link: LinkID, role: Int) {
        for record in found {
            // The path of an included service does not begin with the one that includes it.
            let parent = record.service == nil ? parent : nil
            learn(record.id, record.uuid, handle: record.handle, within: parent, on: link, role: role)
        }
    }

    private mutating func learn(
        _ attribute: AttributeID, _ uuid: BluetoothUUID, handle: UInt16? = nil, within parent: AttributeID? = nil,
        on link: LinkID?, role: Int
    ) {
        let prefix = parent.flatMap { name(of: $0, on: link, role: role) }.map { $0.path + "/" } ?? ""
        attributes.insert(
            AttributeName(path: prefix + uuid.text, type: uuid.bits16, handle: handle),
            for: Key(role: role, link: link, id: attribute))
    }

    // MARK: Attributes of operations and requests

    func attribute(of operation: OperationID, on link: LinkID?, role: Int) -> AttributeID? {
        operations[Key(role: role, link: link, id: operation)]
    }

    func attribute(of request: RequestID, role: Int) -> AttributeID? { requests[Key(role: role, id: request)] }

    mutating func learn(_ operation: OperationID, about attribute: AttributeID, on link: LinkID, role: Int) {
        operations.insert(attribute, for: Key(role: role, link: link, id: operation))
    }

    mutating func learn(_ request: RequestID, about attribute: AttributeID, role: Int) {
        requests.insert(attribute, for: Key(role: role, id: request))
    }

    mutating func learn(_ service: ServiceDefinition, role: Int) {
        learn(service.id, service.uuid, on: nil, role: role)
        for characteristic in service.characteristics {
            learn(characteristic.id, characteristic.uuid, within: service.id, on: nil, role: role)
            for descriptor in characteristic.descriptors {
                learn(descriptor.id, descriptor.uuid, within: characteristic.id, on: nil, role: role)
            }
        }
    }
}

/// The name of an attribute: the UUIDs of its service, its characteristic and so on, and its handle if the backend
/// knows it.
struct AttributeName: Hashable, Sendable {
    var path: String
    /// The assigned number of the attribute itself; nil for a vendor's UUID.
    var type: UInt16?
    var handle: UInt16?

    /// `180D/2A37@0x0010`.
    var text: String {
        guard let handle else { return path }
        let digits = String(handle, radix: 16, uppercase: true)
        return "\(path)@0x" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
