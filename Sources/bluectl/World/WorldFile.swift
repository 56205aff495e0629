#if Emulator
import BluetoothEmulator
import Foundation

/// A file that describes emulated devices: JSON, or YAML by its extension (`.yaml`, `.yml`).
///
/// A mistake is told with the file, its line and column where they can be found, the path of the field, and the rule.
struct WorldFile {
    let path: String

    /// The emulator with the file's devices.
    ///
    /// - Throws: A usage failure.
    func emulator() throws(Failure) -> Emulator {
        let world = try description(of: text())
        do {
            return try Emulator(world: world)
        } catch {
            throw Failure(.usage, "\(path): \(error)")
        }
    }

    /// What the file holds.
    ///
    /// - Throws: A usage failure where it cannot be read.
    func text() throws(Failure) -> String {
        do {
            return try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            let reason = (error as NSError).localizedDescription
            throw Failure(.usage, "\(path): the file cannot be read: \(reason)")
        }
    }

    /// The world that the file's text describes.
    ///
    /// - Throws: A usage failure.
    func description(of text: String) throws(Failure) -> WorldDescription {
        let isYAML = path.hasSuffix(".yaml") || path.hasSuffix(".yml")
        let json = isYAML ? try YAMLText(text, file: path).json() : Data(text.utf8)
        do throws(DescriptionError) {
            return try WorldDescription(json: json)
        } catch {
            if !isYAML, let place = error.place { throw failure(at: error.path, error.rule, place) }
            throw failure(at: error.path, error.rule, in: text)
        }
    }

    /// The failure for a field that breaks a rule.
    func failure(at field: String, _ rule: String, in text: String) -> Failure {
        failure(at: field, rule, YAMLText.place(of: field, in: text))
    }

    private func failure(at field: String, _ rule: String, _ place: DescriptionError.Place?) -> Failure {
        let place = place.map { ":\($0.line):\($0.column)" } ?? ""
        let parts = [path + place, field, rule].filter { !$0.isEmpty }
        return Failure(.usage, PrintableText.of(parts.joined(separator: ": ")))
    }
}
#endif
