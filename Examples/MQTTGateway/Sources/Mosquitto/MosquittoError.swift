import CMosquitto
import Foundation

/// Why a connection, or an operation on it, failed.
package struct MosquittoError: Error, Equatable, CustomStringConvertible {
    /// The reason.
    package var description: String

    package init(_ description: String) { self.description = description }

    /// The failure that a function of libmosquitto has just reported; nil for success.
    init?(result: Int32) {
        if result == MOSQ_ERR_SUCCESS.asCInt { return nil }
        let isOfTheSystem = result == MOSQ_ERR_ERRNO.asCInt
        description = isOfTheSystem ? String(cString: strerror(errno)) : String(cString: mosquitto_strerror(result))
    }
}

extension mosq_err_t {
    /// As the results of libmosquitto's functions, which are of another type.
    var asCInt: Int32 { Int32(truncatingIfNeeded: rawValue) }
}
