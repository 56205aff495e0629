#if os(Linux)
@_implementationOnly import CBluetoothKernel
import Glibc

/// A new pseudo terminal that passes all bytes unchanged, as a serial line.
struct PseudoTerminal {
    let descriptor: CInt
    let path: String
    /// The other end, kept open so that the terminal stays while no program has it open.
    let otherEnd: CInt

    /// - Returns: nil if the system has none left; `errno` has the reason.
    init?() {
        let descriptor = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var name = [CChar](repeating: 0, count: 64)
        var settings = termios()
        guard grantpt(descriptor) == 0, unlockpt(descriptor) == 0, ptsname_r(descriptor, &name, name.count) == 0 else {
            close(descriptor)
            return nil
        }
        let otherEnd = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard otherEnd >= 0, tcgetattr(otherEnd, &settings) == 0 else {
            close(descriptor)
            return nil
        }
        cfmakeraw(&settings)
        tcsetattr(otherEnd, TCSANOW, &settings)
        (self.descriptor, self.otherEnd) = (descriptor, otherEnd)
        path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
#endif
