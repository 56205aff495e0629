import BluetoothProfiles
import CFuzzer
import CoreBluetooth
import Foundation

/// Decodes bytes of a peer as a value: they are refused with an error of one line, or the value is encoded and decoded
/// to the same value.
///
/// The first byte chooses the type. The same bytes are also read as an advertisement.
func run(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes, count > 0 else { return 0 }
    let data = Data(bytes: bytes + 1, count: count - 1)
    let type = codedTypes[Int(bytes[0]) % codedTypes.count]
    check(type, data)
    checkAdvertised(data)
    return 0
}

func check<Value: GATTValue>(_ type: Value.Type, _ data: Data) {
    do throws(GATTValueError) {
        let value = try Value(decoding: data)
        let again = try Value(decoding: value.encoded)
        // Compared as text: a value that is not a number does not equal itself.
        precondition(again == value || "\(again)" == "\(value)", "\(value), \(again)")
        precondition(Value.ignoresTrailingBytes || Value.self == String.self || value.encoded.count == data.count)
    } catch {
        precondition(!error.description.isEmpty && !error.description.contains("\n"))
        precondition((try? Value(decoding: data)) == nil, "what was decoded cannot be decoded again: \(error)")
    }
}

func checkAdvertised(_ data: Data) {
    for service in [BTHomeAdvertisement.service, EddystoneFrame.service] {
        let values = AdvertisedValue.values(serviceData: [service: data], manufacturerData: data)
        precondition(values.allSatisfy { !$0.description.isEmpty })
    }
}

var (count, arguments) = (CommandLine.argc, Optional(CommandLine.unsafeArgv))
exit(LLVMFuzzerRunDriver(&count, &arguments, run))
