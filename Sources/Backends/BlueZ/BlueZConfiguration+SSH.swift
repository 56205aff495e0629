#if os(Linux)
import BluetoothSupport
import FoundationEssentials

extension BlueZConfiguration {
    /// The address of another machine's system bus, over OpenSSH.
    ///
    /// Use it for ``busAddress``, or for the environment variable `DBUS_SYSTEM_BUS_ADDRESS`. Each connection starts
    /// `ssh`, which starts `systemd-stdio-bridge` on the other machine. The login must need no input, because there is
    /// no terminal. L2CAP channels and the signal strength of a link do not work over it: they fail with
    /// `CBError.operationNotSupported`.
    ///
    /// - Parameters:
    ///   - host: The machine, as `ssh` accepts it: `kitchen.local`, `pi@kitchen.local`, or a name of its configuration.
    ///   - options: Further arguments of `ssh`, such as `-oConnectTimeout=5`.
    ///
    /// Source: D-Bus Specification, "Executed Subprocesses on Unix"; `systemd-stdio-bridge(1)`.
    public static func busAddress(overSSHTo host: String, options: [String] = []) -> String {
        let arguments = ["-xT", "-oBatchMode=yes"] + options + ["--", host, "systemd-stdio-bridge"]
        return arguments.enumerated().reduce("unixexec:path=ssh") { address, argument in
            "\(address),argv\(argument.offset + 1)=\(escaped(argument.element))"
        }
    }

    /// Returns a value for the address of a bus, with all bytes escaped that must be.
    private static func escaped(_ value: String) -> String {
        let unescaped = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_/.\\*".utf8)
        return value.utf8.map { byte in
            unescaped.contains(byte) ? String(UnicodeScalar(byte)) : "%\(Data([byte]).hexText)"
        }.joined()
    }
}
#endif
