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
    /// What "%@" prints: the description.
    public var _cVarArgObject: any CVarArg { NSString(string: description) }

    /// The encoding of ``_cVarArgObject``, which takes this object's place.
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}
#endif
