import BluetoothSupport
public import Foundation
import Logging
import Synchronization

/// A service, a characteristic or a descriptor.
///
/// Source: Apple, CBAttribute.
open class CBAttribute: NSObject {
    /// The attribute's type.
    public let uuid: CBUUID
    /// /// The attribute on its link; nil for an attribute of the app.
    let reference: AttributeReference?
    /// The handle on the peripheral (of a characteristic, its value's handle), if the backend knows it; for listings.
    package let handle: UInt16?

    init(uuid: CBUUID, reference: AttributeReference? = nil, handle: UInt16? = nil) {
        self.uuid = uuid
        self.reference = reference
        self.handle = handle
        super.init()
    }
}

/// The manager that has published an attribute of the app; a published attribute is frozen (S107).
///
/// Any thread.
final class Publication: Sendable {
    private let holder = Atomic<UInt>(0)
    private let isStatic = Atomic<Bool>(false)

    var isHeld: Bool { holder.load(ordering: .acquiring) != 0 }

    /// Whether it was published with a value, which is frozen too.
    var isStaticallyHeld: Bool { isHeld && isStatic.load(ordering: .acquiring) }

    /// Whether a manager other than this one's has published the attribute.
    func isHeld(byOtherThan core: PeripheralCore) -> Bool {
        let holder = holder.load(ordering: .acquiring)
        return holder != 0 && holder != Self.token(of: core)
    }

    /// Freezes the attribute.
    func hold(by core: PeripheralCore, isStatic: Bool = false) {
        self.isStatic.store(isStatic, ordering: .releasing)
        holder.store(Self.token(of: core), ordering: .releasing)
    }

    /// Unfreezes the attribute for the app.
    func release(by core: PeripheralCore) {
        _ = holder.compareExchange(expected: Self.token(of: core), desired: 0, ordering: .acquiringAndReleasing)
    }

    /// Whether the app may change a property; a change of a published attribute is ignored with a log line.
    func allowsChange(of object: CBAttribute, _ property: String) -> Bool {
        guard isHeld else { return true }
        Logger(label: "CoreBluetooth").line(
            .warning, "API MISUSE: \(object) is published: its \(property) can no longer be changed")
        return false
    }

    private static func token(of core: PeripheralCore) -> UInt { UInt(bitPattern: ObjectIdentifier(core)) }
}

/// Describes an object as Apple's classes do: `<CBService: 0x1234, isPrimary = YES, UUID = Battery>`.
///
/// The name is that of the object's class, without its module.
func describe(_ object: AnyObject, _ fields: KeyValuePairs<String, String> = [:]) -> String {
    let address = String(UInt(bitPattern: ObjectIdentifier(object)), radix: 16)
    let rest = fields.map { ", \($0.key) = \($0.value)" }.joined()
    return "<\(type(of: object)): 0x\(address)\(rest)>"
}

#if !canImport(ObjectiveC)
public import Foundation

// `NSLog("%@", peripheral)` and `String(format:)`: on Apple's platforms every object is an argument of "%@", in
// Foundation on Linux only strings are. These classes give their description.

extension CBATTRequest: _CVarArgObject {}
extension CBAttribute: _CVarArgObject {}
extension CBL2CAPChannel: _CVarArgObject {}
extension CBManager: _CVarArgObject {}
extension CBPeer: _CVarArgObject {}
extension CBUUID: _CVarArgObject {}

extension _CVarArgObject where Self: NSObject {
    /// The argument that "%@" prints: the description.
    public var _cVarArgObject: any CVarArg { NSString(string: description) }

    /// The encoding of ``_cVarArgObject``, which takes this object's place.
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}
#endif
