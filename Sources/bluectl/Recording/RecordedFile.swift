#if Emulator
import BluetoothEmulator
import BluetoothRecording

/// A file with recorded devices: a recording.
struct RecordedFile {
    let path: String
    let keepsIdentity: Bool

    /// The devices, or the one that is meant.
    ///
    /// - Throws: A usage failure for a file that cannot be read, and where no device is meant.
    func devices(_ query: DeviceQuery?) throws(Failure) -> [DeviceRecording] {
        let all = try recordings()
        guard let query else { return all }
        let found = all.filter { query.matches($0.device) }
        guard !found.isEmpty else {
            let names = all.map { "\"\($0.device.name)\"" }.joined(separator: ", ")
            throw Failure(.usage, PrintableText.of("\(path): there is no device \(query.text) among \(names)"))
        }
        return found
    }

    private func recordings() throws(Failure) -> [DeviceRecording] {
        do throws(DescriptionError) {
            return [try DeviceRecording(contentsOfFile: path)]
        } catch {
            throw Failure(.usage, PrintableText.of("\(error)"))
        }
    }
}

extension DeviceQuery {
    fileprivate func matches(_ device: PeripheralDescription) -> Bool {
        switch self {
        case .name(let name): device.name.lowercased() == name.lowercased()
        case .address(let address): device.effectiveAddress.description == address
        case .identifier, .last: false
        }
    }
}
#endif
