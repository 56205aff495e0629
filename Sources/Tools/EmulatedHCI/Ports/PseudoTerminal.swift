#if os(Linux)
@_implementationOnly import CBluetoothKernel
import BluetoothEmulator
import Glibc

/// A new pseudo terminal that passes all bytes unchanged, as a serial line.
struct PseudoTerminal: PortTransport {
    let place: String
    private let descriptor: CInt
    /// The other end, kept open so that the terminal stays while no program has it open.
    private let otherEnd: CInt

    var address: HCIPortAddress { .pty }
    var listener: CInt? { nil }

    init() throws(HCIPortError) {
        let descriptor = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unavailable(.pty, systemReason) }
        var name = [CChar](repeating: 0, count: 64)
        var settings = termios()
        guard grantpt(descriptor) == 0, unlockpt(descriptor) == 0, ptsname_r(descriptor, &name, name.count) == 0 else {
            defer { Glibc.close(descriptor) }
            throw .unavailable(.pty, systemReason)
        }
        let otherEnd = Glibc.open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard otherEnd >= 0, tcgetattr(otherEnd, &settings) == 0 else {
            defer { Glibc.close(descriptor) }
            throw .unavailable(.pty, systemReason)
        }
        cfmakeraw(&settings)
        tcsetattr(otherEnd, TCSANOW, &settings)
        descriptor.makeNonBlocking()
        (self.descriptor, self.otherEnd) = (descriptor, otherEnd)
        place = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func open() throws(HCIPortError) -> PortStream? {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw .unavailable(.pty, systemReason) }
        return PortStream(descriptor: copy)
    }

    func close() {
        Glibc.close(descriptor)
        Glibc.close(otherEnd)
    }
}
#endif
