import CMosquitto
import Foundation

/// A connector of a client's socket to the host of its broker, which waits no longer than the settings allow.
///
/// `mosquitto_connect` waits in connect(2): for two minutes with each address that does not answer.
/// `mosquitto_connect_async` returns at once, but leaves three tasks to its caller, as of libmosquitto 2.0:
///
/// - The caller must wait for the connection. If the host refuses one with TLS, `mosquitto_loop` reports nothing until
///   the keep-alive time is over, and uses a whole core (https://github.com/eclipse-mosquitto/mosquitto/issues/2421).
/// - It tries only the first address (https://github.com/eclipse-mosquitto/mosquitto/issues/574). An address to bind to
///   limits the addresses to those of its family, so that the first IPv6 address and the first IPv4 address can be
///   tried.
/// - The name is still looked up with getaddrinfo(3), which waits for the name server, usually half a minute at most.
struct Connector {
    private let mosquitto: OpaquePointer
    private let settings: BrokerSettings
    /// Called several times a second during a wait, which a result of false ends.
    private let goesOn: () -> Bool
    private var isBegun = false

    init(_ mosquitto: OpaquePointer, _ settings: BrokerSettings, while goesOn: @escaping () -> Bool) {
        self.mosquitto = mosquitto
        self.settings = settings
        self.goesOn = goesOn
    }

    /// Connects, so that packets can be exchanged.
    ///
    /// - Returns: The reason for a failure; nil for success.
    mutating func connect() -> MosquittoError? {
        guard let failure = connectOnce() else { return nil }
        guard let failed = AddressFamily(ofSocket: mosquitto_socket(mosquitto)), goesOn() else { return failure }
        bind(to: failed.other)
        guard connectOnce() != nil else { return nil }
        bind(to: failed)
        return failure
    }

    /// Ends a connection, if any; libmosquitto closes the socket when it connects again.
    func disconnect() {
        let descriptor = mosquitto_socket(mosquitto)
        if descriptor >= 0 { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }

    // MARK: One address

    /// Limits the addresses to those of a family.
    private func bind(to family: AddressFamily) {
        mosquitto_string_option(mosquitto, MOSQ_OPT_BIND_ADDRESS, family.anyAddress)
    }

    private mutating func connectOnce() -> MosquittoError? {
        defer { isBegun = true }
        let result =
            isBegun
            ? mosquitto_reconnect_async(mosquitto)
            : mosquitto_connect_async(mosquitto, settings.host, Int32(settings.port), keepAlive)
        if let failure = MosquittoError(result: result) { return failure }
        return awaitHost()
    }

    private var keepAlive: Int32 { Int32(max(5, settings.keepAlive.components.seconds)) }

    private func awaitHost() -> MosquittoError? {
        let socket = mosquitto_socket(mosquitto)
        let deadline = ContinuousClock.now + settings.answerLimit
        while ContinuousClock.now < deadline, goesOn() {
            var descriptor = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
            if poll(&descriptor, 1, 100) > 0 { return Self.failure(of: socket) }
        }
        disconnect()
        return MosquittoError("the broker's host does not answer")
    }

    /// Returns the reason that a socket that has finished connecting is not connected.
    private static func failure(of socket: Int32) -> MosquittoError? {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(socket, $0, &length) == 0 }
        }
        guard !isConnected else { return nil }
        var code: Int32 = 0
        length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &length)
        // With TLS libmosquitto has written to the socket, which removed the error.
        return MosquittoError(code == 0 ? "the broker's host refuses the connection" : String(cString: strerror(code)))
    }
}

/// The families of addresses.
private enum AddressFamily {
    case ipv4
    case ipv6

    /// Returns the family of a socket; nil without a socket.
    init?(ofSocket descriptor: Int32) {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0 else { return nil }
        switch Int32(address.ss_family) {
        case AF_INET: self = .ipv4
        case AF_INET6: self = .ipv6
        default: return nil
        }
    }

    var other: AddressFamily { self == .ipv4 ? .ipv6 : .ipv4 }
    var anyAddress: String { self == .ipv4 ? "0.0.0.0" : "::" }
}
