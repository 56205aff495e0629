import Logging
import Synchronization

/// Which manager has published an attribute of the app's own; it is frozen meanwhile (S107).
///
/// Any thread.
final class Publication: Sendable {
    private let holder = Atomic<UInt>(0)
    private let isStatic = Atomic<Bool>(false)

    /// Whether a manager has published the attribute.
    var isHeld: Bool { holder.load(ordering: .acquiring) != 0 }

    /// Whether it was published with a value, which is frozen too.
    var isStaticallyHeld: Bool { isHeld && isStatic.load(ordering: .acquiring) }

    /// Whether another manager than this one's has published the attribute.
    func isHeld(byOtherThan core: PeripheralCore) -> Bool {
        let holder = holder.load(ordering: .acquiring)
        return holder != 0 && holder != Self.token(of: core)
    }

    /// Freezes the attribute.
    func hold(by core: PeripheralCore, isStatic: Bool = false) {
        self.isStatic.store(isStatic, ordering: .releasing)
        holder.store(Self.token(of: core), ordering: .releasing)
    }

    /// Lets the app change the attribute again.
    func release(by core: PeripheralCore) {
        _ = holder.compareExchange(expected: Self.token(of: core), desired: 0, ordering: .acquiringAndReleasing)
    }

    /// Says that a change of a published attribute is ignored.
    static func logFrozen(_ object: CBAttribute, _ property: String) {
        Logger(label: "CoreBluetooth").warning(
            "API MISUSE: \(object) is published: its \(property) can no longer be changed")
    }

    private static func token(of core: PeripheralCore) -> UInt { UInt(bitPattern: ObjectIdentifier(core)) }
}
