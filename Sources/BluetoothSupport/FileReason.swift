#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension Error {
    /// The reason for which a file could not be read or written, in the system's words: "No such file or directory".
    package var fileReason: String {
        // The key is `NSUnderlyingErrorKey`, which FoundationEssentials does not name.
        let cause = (self as? CocoaError)?.userInfo["NSUnderlyingError"] as? POSIXError
        return cause.map { String(cString: strerror($0.code.rawValue)) } ?? "\(self)"
    }
}
