#if os(Linux)
/// The configuration of a private bus: its policy and its limits.
///
/// Without a rule that allows others, `dbus-daemon` accepts only connections of its own user. No service directory is
/// configured, so that the bus never starts another `org.bluez`.
///
/// Source: `dbus-daemon(1)`, "CONFIGURATION FILE".
struct BusConfiguration: Sendable {
    /// The limit of connections of all clients; bleak opens one for each device and one for each event loop.
    static let maximumConnections = 4096
    /// The limit of connections that have not authenticated yet, such as those of many clients that start at once.
    static let maximumIncompleteConnections = 512
    /// The limit of match rules of one client; GDBus and dbus-python add some for each object.
    static let maximumMatchRules = 50_000
    /// The limit of calls of one client, or of the service, that wait for their replies.
    static let maximumPendingReplies = 50_000
    /// The limit of names of one client.
    static let maximumNames = 512
    /// The limit of bytes that one client has not read yet.
    ///
    /// Further messages for the client are lost; other clients do not wait.
    static let maximumUnreadBytes = 128 << 20
    /// The greatest length of a message, the limit of the specification: an application with 10,000 characteristics is
    /// one message.
    static let maximumMessageBytes = 128 << 20
    /// The limit of file descriptors, from AcquireNotify and AcquireWrite, in messages that one client has not read.
    static let maximumUnreadDescriptors = 1024

    /// The address of the socket; its escaped form contains no character that XML reserves.
    let listensAt: String

    private static let limits = [
        ("max_completed_connections", maximumConnections), ("max_connections_per_user", maximumConnections),
        ("max_incomplete_connections", maximumIncompleteConnections),
        ("max_match_rules_per_connection", maximumMatchRules),
        ("max_replies_per_connection", maximumPendingReplies), ("max_names_per_connection", maximumNames),
        ("max_incoming_bytes", maximumUnreadBytes), ("max_outgoing_bytes", maximumUnreadBytes),
        ("max_message_size", maximumMessageBytes), ("max_incoming_unix_fds", maximumUnreadDescriptors),
        ("max_outgoing_unix_fds", maximumUnreadDescriptors),
    ]

    var text: String {
        let limits = Self.limits.map { "<limit name=\"\($0)\">\($1)</limit>" }
        return """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              <listen>\(listensAt)</listen>
              <auth>EXTERNAL</auth>
              <policy context="default">
                <allow send_destination="*"/>
                <allow receive_sender="*"/>
                <allow own="*"/>
              </policy>
              \(limits.joined(separator: "\n  "))
            </busconfig>

            """
    }
}
#endif
