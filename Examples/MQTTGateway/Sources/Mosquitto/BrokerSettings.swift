/// The settings of a connection to a broker.
package struct BrokerSettings: Sendable {
    /// A host name or address.
    package var host: String
    /// The port: 1883 by convention, 8883 with TLS.
    package var port: UInt16
    /// The client identifier, which no other client of the broker may have.
    package var clientID: String
    /// The name to log in with; nil for none.
    package var user: String?
    /// The password of the user; never part of a description or a log line.
    package var password: Secret?
    /// TLS; nil for a connection in clear text.
    package var tls: TLSSettings?
    /// The time without traffic after which client and broker consider the connection lost.
    package var keepAlive: Duration
    /// The time that an attempt to connect waits for the host, and then for the broker to accept or refuse it.
    package var answerLimit: Duration
    /// The message that the broker publishes when the connection is lost.
    package var will: MQTTMessage?
    /// The number of messages that may wait for their acknowledgements.
    package var window: Int
    /// The number of messages that wait for a slow consumer; further ones are dropped and counted.
    package var messageLimit: Int
    /// Whether the broker forgets subscriptions and messages of this client when it disconnects.
    package var cleanSession: Bool

    package init(host: String, port: UInt16, clientID: String) {
        self.host = host
        self.port = port
        self.clientID = clientID
        keepAlive = .seconds(30)
        answerLimit = .seconds(15)
        window = 20
        messageLimit = 256
        cleanSession = true
    }
}

/// The files of a TLS connection; the broker's certificate is always verified.
package struct TLSSettings: Sendable, Equatable {
    /// The certificates of the authorities that the client trusts, in PEM.
    package var authorities: String
    /// The certificate of the client, in PEM; nil for none.
    package var certificate: String?
    /// The key of the client's certificate, in PEM.
    package var key: String?

    package init(authorities: String, certificate: String? = nil, key: String? = nil) {
        self.authorities = authorities
        self.certificate = certificate
        self.key = key
    }
}

/// A text that descriptions and log lines do not show.
package struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text.
    package let text: String

    package init(_ text: String) { self.text = text }

    package var description: String { "(secret)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
