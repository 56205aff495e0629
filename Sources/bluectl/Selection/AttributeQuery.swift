import BluetoothBackend
import BluetoothProfiles

/// Which service or characteristic the user means: a UUID, the n-th of equal UUIDs (`2A37#2`), or a handle (`@18`,
/// `@0x0012`).
enum AttributeQuery: Equatable, Sendable {
    /// `ordinal` counts from 1; nil asks for the only one.
    case uuid(BluetoothUUID, ordinal: Int?)
    case handle(UInt16)

    /// Reads one of the three forms.
    ///
    /// - Throws: A usage failure that says what is wrong.
    init(_ text: String) throws(Failure) {
        let shown = PrintableText.of(text)
        if text.hasPrefix("@") {
            guard let handle = Self.number(text.dropFirst()), handle > 0 else {
                throw Failure(.usage, "\"\(shown)\" is not a handle: write @18 or @0x0012, 1...65535")
            }
            self = .handle(handle)
            return
        }
        let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let uuid = BluetoothUUID(String(first)) else {
            throw Failure(.usage, "\"\(shown)\" is not a UUID: write 2A37, a long UUID, 2A37#2 or @HANDLE")
        }
        guard parts.count == 2 else {
            self = .uuid(uuid, ordinal: nil)
            return
        }
        guard let ordinal = Int(parts[1]), ordinal > 0 else {
            throw Failure(.usage, "\"\(shown)\": after # comes a number from 1 on")
        }
        self = .uuid(uuid, ordinal: ordinal)
    }

    private static func number(_ text: Substring) -> UInt16? {
        text.lowercased().hasPrefix("0x") ? UInt16(text.dropFirst(2), radix: 16) : UInt16(text)
    }

    /// What the user wrote, in its usual form.
    var text: String {
        switch self {
        case .uuid(let uuid, let ordinal): uuid.text + (ordinal.map { "#\($0)" } ?? "")
        case .handle(let handle): "@0x" + Decimals.hex(handle, width: 4)
        }
    }
}

/// What a query is matched with.
struct AttributeIdentity: Equatable, Sendable {
    var uuid: BluetoothUUID
    var handle: UInt16?
}

extension AttributeQuery {
    /// The index of the attribute that is meant.
    ///
    /// - Parameters:
    ///   - attributes: All there are, in the device's order.
    ///   - kind: "service" or "characteristic", for the error.
    /// - Throws: A failure that lists the choice where several are meant, or says that there is none.
    func index(in attributes: [AttributeIdentity], kind: String) throws(Failure) -> Int {
        let found = attributes.indices.filter { matches(attributes[$0]) }
        if case .uuid(let uuid, let ordinal?) = self {
            guard found.indices.contains(ordinal - 1) else {
                throw Failure(.failed, "there is no \(kind) \(text): the device has \(found.count) of \(uuid.text)")
            }
            return found[ordinal - 1]
        }
        guard let first = found.first else { throw Failure(.failed, "the device has no \(kind) \(text)") }
        guard found.count == 1 else { throw ambiguous(found.map { attributes[$0] }, kind) }
        return first
    }

    private func matches(_ attribute: AttributeIdentity) -> Bool {
        switch self {
        case .uuid(let uuid, _): attribute.uuid == uuid
        case .handle(let handle): attribute.handle == handle
        }
    }

    private func ambiguous(_ choice: [AttributeIdentity], _ kind: String) -> Failure {
        let forms = choice.enumerated().map { offset, attribute in
            let handle = attribute.handle.map { " (@0x\(Decimals.hex($0, width: 4)))" } ?? ""
            return "\(text)#\(offset + 1)\(handle)"
        }
        return Failure(.failed, "the device has several of \(kind) \(text): choose \(forms.joined(separator: ", "))")
    }
}
