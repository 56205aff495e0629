import CFuzzer
import Glibc

/// Reads the same bytes in two ways: as calls of an app and a peer on one L2CAP channel, and as parts of packets that a
/// controller passes on.
func run(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: bytes, count: count)
    var channel = ChannelCalls()
    channel.run(bytes)
    var packets = PacketParts()
    packets.run(bytes)
    return 0
}

var (count, arguments) = (CommandLine.argc, Optional(CommandLine.unsafeArgv))
exit(LLVMFuzzerRunDriver(&count, &arguments, run))
