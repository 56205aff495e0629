/// Describes an object as Apple's classes do: `<CBService: 0x1234, isPrimary = YES, UUID = Battery>`.
///
/// The name is that of the object's class, without its module.
func describe(_ object: AnyObject, _ fields: KeyValuePairs<String, String> = [:]) -> String {
    let address = String(UInt(bitPattern: ObjectIdentifier(object)), radix: 16)
    let rest = fields.map { ", \($0.key) = \($0.value)" }.joined()
    return "<\(type(of: object)): 0x\(address)\(rest)>"
}
