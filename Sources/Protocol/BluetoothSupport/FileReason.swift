#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension Error {
    /// The reason why a file could not be written, or its attributes read, in the system's words: "No such file or
    /// directory".
    package var fileReason: String {
        guard let error = self as? CocoaError else { return "\(self)" }
        // The key is `NSUnderlyingErrorKey`, which FoundationEssentials does not name.
        if let cause = error.userInfo["NSUnderlyingError"] as? POSIXError {
            return String(cString: strerror(cause.code.rawValue))
        }
        return "\(error)"
    }
}
