public import CoreBluetooth

/// The value of a descriptor, typed by its UUID.
public enum DescriptorValue: Hashable, Sendable {
    /// Of 2900, 2902 and 2903: bits.
    case number(Int)
    /// Of 2901: a description for people.
    case text(String)
    /// Of all others.
    case data(Data)

    /// Reads what CoreBluetooth gives.
    init(_ value: Any?) {
        switch value {
        case let text as String: self = .text(text)
        case let data as Data: self = .data(data)
        case let number as NSNumber: self = .number(number.intValue)
        default: self = .data(Data())
        }
    }
}
