import Foundation

/// The bytes that scenarios send over channels: byte i of a direction is i mod 251, so a lost or repeated byte shows.
enum ChannelPattern {
    static let longest = 32_768
    private static let bytes = Data((0..<longest + 251).map { UInt8($0 % 251) })

    /// Returns `count` bytes, at most `longest`, from an offset.
    static func bytes(from offset: Int, count: Int) -> Data {
        let start = offset % 251
        return bytes[start..<start + min(count, longest)]
    }

    /// Whether bytes match the pattern at an offset.
    static func matches(_ data: Data, at offset: Int) -> Bool {
        stride(from: 0, to: data.count, by: longest).allSatisfy { start in
            let piece = data.dropFirst(start).prefix(longest)
            return piece == bytes(from: offset + start, count: piece.count)
        }
    }
}
