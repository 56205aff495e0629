import CMosquitto
import Foundation

/// The reason that a connection, or an operation on it, failed.
package struct MosquittoError: Error, Equatable, CustomStringConvertible {
    /// The reason.
    package var description: String

    /// Whether the message itself is refused, for its topic or its size, regardless of the connection.
    package var isOfTheMessage = false

    package init(_ description: String, isOfTheMessage: Bool = false) {
        self.description = description
        self.isOfTheMessage = isOfTheMessage
    }

    /// The failure that a function of libmosquitto has just reported; nil for success.
    init?(result: Int32) {
        if result == MOSQ_ERR_SUCCESS.asCInt { return nil }
        let isOfTheSystem = result == MOSQ_ERR_ERRNO.asCInt
        description = isOfTheSystem ? String(cString: strerror(errno)) : String(cString: mosquitto_strerror(result))
        isOfTheMessage = [
            MOSQ_ERR_INVAL, MOSQ_ERR_PAYLOAD_SIZE, MOSQ_ERR_MALFORMED_UTF8, MOSQ_ERR_OVERSIZE_PACKET,
        ].contains { result == $0.asCInt }
    }
}

extension mosq_err_t {
    /// The value in the type of the results of libmosquitto's functions.
    var asCInt: Int32 { Int32(truncatingIfNeeded: rawValue) }
}
