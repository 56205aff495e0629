import CFuzzer
import Glibc

@testable import BlueZ
@testable import BluetoothDBus

/// Decodes bytes from the bus.
///
/// Bytes that are a message can be read, written again and read as the same message, and the decoders of this backend
/// return a value or an error for it.
func run(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let raw = bytes?.withMemoryRebound(to: CChar.self, capacity: count) { dbus_message_demarshal($0, CInt(count), nil) }
    guard let raw else { return 0 }
    let message = DBusMessage(adopting: raw)
    readHeader(message)
    checkRoundTrip(message)
    do { _ = try ObjectModel().apply(message) } catch { precondition(!error.name.isEmpty) }
    do { _ = try ObjectModel().replace(with: message) } catch { precondition(!error.name.isEmpty) }
    return 0
}

func readHeader(_ message: DBusMessage) {
    precondition((message.error != nil) == (message.type == DBUS_MESSAGE_TYPE_ERROR))
    precondition(message.sender.map(message.isSent(by:)) ?? true)
    for path in [message.path].compactMap({ $0 }) { precondition(ObjectPath(path.text) == path) }
    _ = (message.interface, message.member, message.signature, message.expectsReply)
}

func checkRoundTrip(_ message: DBusMessage) {
    do {
        var reader = DBusReader(message)
        let values = try reader.remainingValues()
        let copy = try DBusMessage.signal(path: .root, interface: "a.b", member: "c", values)
        precondition(copy.signature == message.signature)
        var again = DBusReader(copy)
        // Compared as text: a value that is not a number does not equal itself.
        let same = try again.remainingValues()
        precondition(String(describing: same) == String(describing: values))
    } catch {
        // Announced descriptors, also within variants, are not part of the bytes.
        precondition("\(error)".contains("file descriptor is missing"), "\(error)")
    }
}

if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "seeds" {
    try Seeds.write(to: CommandLine.arguments[2])
} else {
    var (count, arguments) = (CommandLine.argc, Optional(CommandLine.unsafeArgv))
    exit(LLVMFuzzerRunDriver(&count, &arguments, run))
}
