import BluetoothBackend

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What waits in a link's line: one request of a manager's.
struct LinkOperation: Sendable {
    enum Kind: Sendable {
        case read(AttributeID)
        case write(AttributeID, Data)
        case writeCommand(AttributeID, Data)
        case services([BluetoothUUID]?)
        case included(AttributeID, [BluetoothUUID]?)
        case characteristics(AttributeID, [BluetoothUUID]?)
        case descriptors(AttributeID)
        case setNotifying(AttributeID, Bool)
        case rssi
        case openChannel(UInt16)
        /// The host itself reads the GAP Device Name.
        case deviceName

        var isRead: Bool {
            if case .read = self { true } else { false }
        }

        var isDiscovery: Bool {
            switch self {
            case .services, .included, .characteristics, .descriptors: true
            case .read, .write, .writeCommand, .setNotifying, .rssi, .deviceName, .openChannel: false
            }
        }

        var isWriteCommand: Bool {
            if case .writeCommand = self { true } else { false }
        }

        /// Whether it is a request of ATT, of which one is outstanding.
        var isRequest: Bool {
            switch self {
            case .rssi, .openChannel, .writeCommand: false
            default: true
            }
        }
    }

    let manager: Ref<Manager>
    let link: LinkID
    let operation: OperationID
    let kind: Kind
    /// It was refused once for want of encryption, and is sent again.
    var isRetried = false
    /// It met its fault.
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
