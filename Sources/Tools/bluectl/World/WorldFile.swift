#if Emulator
import BluetoothEmulator
import BluetoothSupport
import Foundation

/// A file or a pipe that describes emulated devices: JSON or YAML by its extension (`.json`, `.yaml`, `.yml`),
/// otherwise JSON if it begins with a brace.
///
/// The error about a mistake names the file, the line and column if they are known, the path of the field, and the
/// rule.
struct WorldFile {
    let path: String

    /// Reads the contents of the file and of the files that it includes.
    ///
    /// - Throws: A usage failure if a file cannot be read.
    func contents() throws(Failure) -> WorldFileContents {
        let text: String
        do throws(InputFileError) {
            text = try InputFile.text(of: path, atMost: WorldFiles.maximumBytes)
        } catch {
            throw Failure(.usage, "\(path): the file cannot be read: \(error.reason)")
        }
        return try contents(of: text)
    }

    /// Reads the contents of the file with a given text, and of the files that it includes.
    func contents(of text: String) throws(Failure) -> WorldFileContents {
        do {
            return WorldFileContents(files: try WorldFiles(path, text: Data(text.utf8), format: .jsonOrYAML))
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.usage, "\(error)")
        }
    }
}

/// The contents of a world file, with the files that it includes.
struct WorldFileContents {
    let files: WorldFiles

    /// Returns the description of the world.
    ///
    /// - Throws: A usage failure for the first mistake.
    func description() throws(Failure) -> WorldDescription {
        do throws(DescriptionError) {
            return try files.world()
        } catch {
            throw failure(for: error)
        }
    }

    /// Returns all mistakes, with their files and places.
    func mistakes() -> [DescriptionError] { files.allMistakes() }

    /// Returns the same content in one JSON text, over several lines and with sorted fields.
    func prettyJSON() throws -> String {
        let value = try JSONSerialization.jsonObject(with: files.json)
        let data = try JSONSerialization.data(
            withJSONObject: value, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        return String(decoding: data, as: UTF8.self)
    }

    /// Returns a failure for a mistake that has its place.
    func failure(for mistake: DescriptionError) -> Failure {
        Failure(.usage, mistake.description)
    }

    /// Returns a failure at a field of the world, in which one entry of a file may describe many devices.
    func failure(at field: String, _ rule: String) -> Failure {
        let path = WorldDescription.pathInFile(field, of: files.json)
        return failure(for: files.located(DescriptionError(path, rule)))
    }
}

extension WorldFiles.Format {
    /// The formats JSON and YAML, chosen as in ``WorldFile``.
    static let jsonOrYAML = WorldFiles.Format(
        json: { text, file in
            isYAML(file, text) ? try YAMLText(String(decoding: text, as: UTF8.self), file: file).json() : text
        },
        places: { fields, text, file in
            isYAML(file, text)
                ? YAMLText.places(of: fields, in: String(decoding: text, as: UTF8.self))
                : places(of: fields, inJSON: text)
        })

    private static func isYAML(_ file: String, _ text: Data) -> Bool {
        let name = file.lowercased()
        if name.hasSuffix(".json") { return false }
        let first = text.first { !" \t\r\n".utf8.contains($0) }
        return name.hasSuffix(".yaml") || name.hasSuffix(".yml") || first != UInt8(ascii: "{")
    }
}
#endif
