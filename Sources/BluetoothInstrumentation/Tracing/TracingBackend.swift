public import BluetoothBackend
import BluetoothSupport
import Synchronization

/// A radio around a radio that notes each command and each event in a ``BackendTrace``.
///
/// It changes nothing, delays nothing and holds nothing back: `clock` and `afterDelivery` are the wrapped radio's and
/// the receiver's own. Values and addresses are private unless it is told to show them.
public final class TracingBackend: BluetoothBackend {
    /// What passed.
    public let trace: BackendTrace
    private let base: any BluetoothBackend
    private let lastRole = Lock(0)

    /// A trace around a radio.
    ///
    /// - Parameters:
    ///   - base: The radio.
    ///   - destination: Where lines go.
    ///   - showsValues: Whether values and addresses are written out.
    public init(
        around base: any BluetoothBackend, to destination: BackendTrace.Destination, showsValues: Bool = false
    ) {
        self.base = base
        trace = BackendTrace(destination, clock: base.clock, showsValues: showsValues)
    }

    /// The wrapped radio's name.
    public var name: String { base.name }

    /// The wrapped radio's time.
    public var clock: any BackendClock { base.clock }

    /// The wrapped radio's permission.
    public func authorization() -> AuthorizationStatus { base.authorization() }

    /// What the wrapped radio can do.
    public func supports(_ feature: BackendFeature) -> Bool { base.supports(feature) }

    /// Whether managers over the wrapped radio announce that everything has left.
    public var announcesSentBursts: Bool { base.announcesSentBursts }

    /// Makes a central role whose commands and events are noted.
    public func makeCentral(_ options: CentralOptions) -> any CentralBackend {
        let source = newRole("central", "makeCentral", options.adapter, options.restoreIdentifier)
        return central(base.makeCentral(options), source)
    }

    /// Makes a peripheral role whose commands and events are noted.
    public func makePeripheral(_ options: PeripheralOptions) -> any PeripheralBackend {
        let source = newRole("peripheral", "makePeripheral", options.adapter, options.restoreIdentifier)
        return peripheral(base.makePeripheral(options), source)
    }

    /// Makes a listener for pairing whose commands and events are noted.
    public func makePairing() -> any PairingBackend {
        pairing(base.makePairing(), newRole("pairing", "makePairing", nil, nil))
    }

    private func central(_ base: some CentralBackend, _ source: String) -> any CentralBackend {
        TracingRole(base, trace: trace, source: source)
    }

    private func peripheral(_ base: some PeripheralBackend, _ source: String) -> any PeripheralBackend {
        TracingRole(base, trace: trace, source: source)
    }

    private func pairing(_ base: some PairingBackend, _ source: String) -> any PairingBackend {
        TracingRole(base, trace: trace, source: source)
    }

    private func newRole(_ role: String, _ name: String, _ adapter: String?, _ restore: String?) -> String {
        let number = lastRole.withLock { last -> Int in
            last += 1
            return last
        }
        var line = TraceLine(name, showsValues: trace.showsValues)
        line.add("adapter", adapter)
        line.add("restoreIdentifier", restore)
        let text = line.text
        trace.add(.configuration, source: "\(role) \(number)") { text }
        trace.flush()
        return "\(role) \(number)"
    }
}
