import BluetoothBackend
import BluetoothSupport

/// An operation in a link's queue.
struct LinkOperation: Sendable {
    enum Kind: Sendable {
        /// A request of a manager.
        case request(LinkRequest)
        /// A write command of a manager.
        case writeCommand(AttributeID, Data)
        /// The host's own read of the GAP Device Name.
        case deviceName

        var isRead: Bool {
            if case .request(.read) = self { true } else { false }
        }

        var isDiscovery: Bool {
            if case .request(let request) = self { request.isDiscovery } else { false }
        }

        var isWriteCommand: Bool {
            if case .writeCommand = self { true } else { false }
        }

        /// Whether it is an ATT request, of which a link has one outstanding.
        var isATTRequest: Bool {
            switch self {
            case .request(.readRSSI), .request(.openChannel), .writeCommand: false
            default: true
            }
        }
    }

    let manager: Ref<Manager>
    let link: LinkID
    let operation: OperationID
    let kind: Kind
    /// Whether it was refused once because the link was not encrypted, and is sent again.
    var isRetried = false
    /// Whether its fault has been applied.
    var isAdmitted = false
}

/// How many ATT requests a procedure takes; each is one round trip.
///
/// Source: Core Specification, Vol 3, Part F, 3.4, and Part G, 4.
enum RoundTrips {
    /// Finding entries of the given sizes in responses of `mtu` bytes, and the request that finds nothing more.
    ///
    /// Entries share a response only where their sizes are equal.
    static func finding(sizes: [Int], headerSize: Int = 2, mtu: Int) -> Int {
        var responses = 1
        var index = 0
        while index < sizes.count {
            let size = sizes[index]
            var room = mtu - headerSize - size
            index += 1
            while index < sizes.count, sizes[index] == size, room >= size {
                room -= size
                index += 1
            }
            responses += 1
        }
        return responses
    }

    /// The Read Blob requests after the Read of a value of `count` bytes.
    static func readBlobs(count: Int, mtu: Int) -> Int {
        count / (mtu - 1)
    }

    /// Writing `count` bytes: one Write, or as many Prepare Writes as it takes and one Execute Write.
    static func writing(count: Int, mtu: Int) -> Int {
        count <= mtu - 3 ? 1 : (count + mtu - 6) / (mtu - 5) + 1
    }
}
