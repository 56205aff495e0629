import Foundation

extension Data {
    /// Reads bytes written as "06 48"; traps on anything else, since it is source code.
    init(hex: String) {
        self = Data(
            hex.split(separator: " ").map { text in
                guard let byte = UInt8(text, radix: 16) else { preconditionFailure("\(text) is not a byte") }
                return byte
            })
    }

    /// The bytes in the form that `Data(hex:)` reads.
    var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: " ") }
}
