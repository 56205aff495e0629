import Dispatch
import Foundation
import Glibc

/// The connection to the contract's peer: one JSON object out, one back.
final class PeerSocket: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let descriptor: Int32
    private let queue = DispatchQueue(label: "contract peer")

    init(path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw Failure(description: "the path \(path) is too long for a socket")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code == 0 else { throw Failure(description: "\(path): \(String(cString: strerror(errno)))") }
    }

    deinit { close(descriptor) }

    /// Sends a request, and returns the answer; throws if the peer refuses.
    func ask(_ json: [String: Any]) async throws -> PeerReply {
        let line = try JSONSerialization.data(withJSONObject: json) + Data([UInt8(ascii: "\n")])
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                continuation.resume(with: Result { try reply(to: line) })
            }
        }
    }

    private func reply(to line: Data) throws -> PeerReply {
        let sent = line.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard sent == line.count else { throw Failure(description: "the contract's peer closed the socket") }
        let answer = try readLine()
        guard let object = try JSONSerialization.jsonObject(with: answer) as? [String: Any] else {
            throw Failure(description: "no JSON object: \(String(decoding: answer, as: UTF8.self))")
        }
        guard object["ok"] as? Bool == true else {
            throw Failure(description: object["error"] as? String ?? "refused without a reason")
        }
        var reply = PeerReply()
        reply.value = (object["value"] as? String).flatMap(Data.init(hex:))
        reply.values = (object["values"] as? [String] ?? []).compactMap(Data.init(hex:))
        reply.count = (object["count"] as? NSNumber)?.intValue ?? 0
        reply.lines = object["lines"] as? [String] ?? []
        return reply
    }

    private func readLine() throws -> Data {
        var line = Data()
        var byte: UInt8 = 0
        while read(descriptor, &byte, 1) == 1 {
            if byte == UInt8(ascii: "\n") { return line }
            line.append(byte)
        }
        throw Failure(description: "the contract's peer closed the socket")
    }
}
