import BluetoothBackend
public import Dispatch
import Foundation

/// Answers what pairings ask, where Apple's systems show a dialog.
///
/// An agent is asked for consent, for comparison and for numbers, in both roles, about peers that the app needs to be
/// paired with; and it can begin a pairing or forget one. It works until it is released; open requests are then rejected.
/// All members may be called from any thread. An extension of this package.
///
/// For an app without an agent the system decides: <doc:Pairing>.
///
/// Source: Core Specification, Vol 3, Part H, 2.3; BlueZ, org.bluez.Agent1.
public final class CBPairingAgent: Sendable {
    /// What the app can show and ask.
    public let capability: CBPairingCapability

    private let core: PairingCore

    /// An agent for the selected backend.
    ///
    /// - Parameters:
    ///   - capability: What the app can show and ask.
    ///   - delegate: Who is asked and told; held weakly. While there is none, requests are rejected.
    ///   - queue: The queue of all callbacks and completions; nil is the main queue.
    public convenience init(
        capability: CBPairingCapability, delegate: (any CBPairingAgentDelegate)?, queue: DispatchQueue? = nil
    ) {
        self.init(BackendResolver.backend(), capability, delegate, queue)
    }

    /// An agent for a backend of the app's choice.
    ///
    /// - Parameters:
    ///   - backend: The radio; that of the managers.
    ///   - capability: What the app can show and ask.
    ///   - delegate: Who is asked and told; held weakly. While there is none, requests are rejected.
    ///   - queue: The queue of all callbacks and completions; nil is the main queue.
    public convenience init(
        backend: CBBackendSelection, capability: CBPairingCapability, delegate: (any CBPairingAgentDelegate)?,
        queue: DispatchQueue? = nil
    ) {
        self.init(BackendResolver.backend(for: backend), capability, delegate, queue)
    }

    private init(
        _ backend: any BluetoothBackend, _ capability: CBPairingCapability,
        _ delegate: (any CBPairingAgentDelegate)?, _ queue: DispatchQueue?
    ) {
        self.capability = capability
        core = PairingCore(backend: backend, queue: queue ?? .main)
        core.delegate = delegate
        core.activate(for: self)
    }

    deinit {
        core.invalidate()
    }

    /// Who is asked and told.
    ///
    /// Weak; looked up at each delivery.
    public var delegate: (any CBPairingAgentDelegate)? {
        get { core.delegate }
        set { core.delegate = newValue }
    }

    /// Pairs with a peer and bonds.
    ///
    /// - Parameters:
    ///   - peer: A `CBPeripheral` or a `CBCentral`.
    ///   - completion: Called once, on the agent's queue, with nil or a `CBError` or `CBATTError`:
    ///     `operationCancelled` if the agent was released meanwhile.
    public func pair(_ peer: CBPeer, completion: @escaping @Sendable ((any Error)?) -> Void) {
        let id = PeerID(peer.identifier)
        core.call(completion) { $0.pair(id) }
    }

    /// Forgets the bond with a peer.
    ///
    /// - Parameters:
    ///   - peer: A `CBPeripheral` or a `CBCentral`.
    ///   - completion: As of ``pair(_:completion:)``.
    public func unpair(_ peer: CBPeer, completion: @escaping @Sendable ((any Error)?) -> Void) {
        let id = PeerID(peer.identifier)
        core.call(completion) { $0.unpair(id) }
    }
}
