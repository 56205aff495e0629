#if os(Linux)
import Glibc

/// `eventfd(2)`, which Swift's module of glibc omits.
let eventfd: @convention(c) (CUnsignedInt, CInt) -> CInt = {
    guard let symbol = dlsym(nil, "eventfd") else {
        return { _, _ in
            errno = ENOSYS
            return -1
        }
    }
    return unsafeBitCast(symbol, to: (@convention(c) (CUnsignedInt, CInt) -> CInt).self)
}()

/// `EFD_CLOEXEC | EFD_NONBLOCK`, which are the flags of `open(2)`.
let eventfdFlags = O_CLOEXEC | O_NONBLOCK

/// Adds to the counter.
///
/// - Returns: Whether that did not overflow.
func addToEventfd(_ descriptor: CInt, _ value: UInt64) -> Bool {
    withUnsafeBytes(of: value) { write(descriptor, $0.baseAddress, $0.count) == $0.count }
}

/// Sets the counter to zero.
///
/// - Returns: The previous value; nil if it was zero.
@discardableResult
func resetEventfd(_ descriptor: CInt) -> UInt64? {
    var value: UInt64 = 0
    let count = withUnsafeMutableBytes(of: &value) { read(descriptor, $0.baseAddress, $0.count) }
    return count == MemoryLayout<UInt64>.size ? value : nil
}
#endif
