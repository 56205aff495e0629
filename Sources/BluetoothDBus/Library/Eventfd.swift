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
#endif
