#if os(Linux)
public import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import Dispatch
import Logging

/// A controller of an emulated world, to which one host outside of the emulator attaches by the Host Controller Interface:
/// firmware, a kernel, or any other Bluetooth stack.
///
/// The packets have the format of UART transport (H4), or that of a device of this machine's kernel. The host is one of the
/// world's hosts; its address and its bonds survive a reconnection. Any thread may call any method.
///
/// Source: Core Specification, Vol 4, Part A and Part E.
public final class HCIPort: Sendable {
    /// The place where the host attaches; with the port that the system chose.
    public let address: HCIPortAddress
    /// The place as a host's program names it: the address, the path of the pseudo terminal, or `/dev/vhci`.
    public let place: String
    private let server: PortServer

    private init(_ server: PortServer, _ transport: any PortTransport) {
        (self.server, address, place) = (server, transport.address, transport.place)
    }

    deinit { close() }

    /// Opens a port for a host of an emulated world.
    ///
    /// - Parameters:
    ///   - emulator: The world, in real or scaled time: programs in other processes cannot wait for virtual time.
    ///   - name: The host; one with a public address is added if the world has none of that name.
    ///   - address: The place where the host attaches.
    /// - Throws: ``HCIPortError``.
    public static func open(
        _ emulator: Emulator, host name: String, on address: HCIPortAddress
    ) throws(HCIPortError) -> HCIPort {
        guard emulator.time != .virtual else { throw .virtualTime }
        let host: EmulatedHost
        if let known = emulator.host(named: name) {
            guard !known.hasManagers else { throw .hostInUse(name) }
            host = known
        } else {
            do { host = try emulator.add(HostDescription(name: name, hci: address)) } catch {
                throw .invalidHost("\(error)")
            }
        }
        let transport = try address.makeTransport()
        do throws(HCIPortError) {
            let stream = transport.listener == nil ? try transport.open() : nil
            return HCIPort(PortServer(host, transport, stream), transport)
        } catch {
            transport.close()
            throw error
        }
    }

    /// Closes the port, and returns when its place is free; the host's links end, and its devices are gone.
    public func close() { server.close() }
}
#endif
