#if os(Linux)
import Foundation

/// The system resources of a process, from `/proc`; see `proc(5)`.
public struct ProcessResources: Sendable, CustomStringConvertible {
    /// Open file descriptors.
    public let descriptors: Int
    /// Threads, including those of Dispatch's pools.
    public let threads: Int
    /// Resident memory, in KiB.
    public let memory: Int

    /// Reads the resources of this process.
    public init() throws {
        descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        func number(_ name: String) throws -> Int {
            guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name + ":") }),
                let number = Int(line.filter(\.isNumber))
            else { throw CocoaError(.fileReadCorruptFile) }
            return number
        }
        threads = try number("Threads")
        memory = try number("VmRSS")
    }

    /// All values, in one line.
    public var description: String { "\(descriptors) descriptors, \(threads) threads, \(memory) KiB" }
}
#endif
