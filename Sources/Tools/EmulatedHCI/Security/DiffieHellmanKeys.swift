import BluetoothSupport
import Crypto

/// A key pair on the curve P-256, for one pairing.
///
/// Source: Core Specification, Vol 3, Part H, 2.3.5.6.1; Vol 2, Part H, 7.1.
struct DiffieHellmanKeys: Sendable {
    /// The X coordinate of the public key of the debug mode, whose private key everyone knows.
    static let debugCoordinate: [UInt8] = [
        0xE6, 0x9D, 0x35, 0x0E, 0x48, 0x01, 0x03, 0xCC, 0xDB, 0xFD, 0xF4, 0xAC, 0x11, 0x91, 0xF4, 0xEF,
        0xB9, 0xA5, 0xF9, 0xE9, 0xA7, 0x83, 0x2C, 0x5E, 0x2C, 0xBE, 0x97, 0xF2, 0xD2, 0x03, 0xB0, 0x20,
    ]

    private let privateKey: P256.KeyAgreement.PrivateKey

    /// Draws a key pair.
    init(using random: inout SeededGenerator) {
        // All but one of 2^32 numbers are private keys.
        while true {
            if let keys = Self(privateKey: random.bytes(32)) {
                self = keys
                return
            }
        }
    }

    /// - Parameter privateKey: 32 bytes, least significant first.
    /// - Returns: nil if the number is no private key of the curve.
    init?(privateKey: [UInt8]) {
        do {
            self.privateKey = try P256.KeyAgreement.PrivateKey(rawRepresentation: privateKey.reversed())
        } catch {
            return nil
        }
    }

    /// The coordinates X and Y, each least significant byte first.
    var publicKey: [UInt8] { Self.reversingCoordinates(Array(privateKey.publicKey.rawRepresentation)) }

    /// The X coordinate of the point that both ends compute, least significant byte first.
    ///
    /// - Parameter publicKey: The other end's, 64 bytes in the order of the air.
    /// - Returns: nil if it is no point of the curve.
    func sharedSecret(with publicKey: [UInt8]) -> [UInt8]? {
        do {
            let key = try P256.KeyAgreement.PublicKey(rawRepresentation: Self.reversingCoordinates(publicKey))
            return try privateKey.sharedSecretFromKeyAgreement(with: key).withUnsafeBytes { $0.reversed() }
        } catch {
            return nil
        }
    }

    private static func reversingCoordinates(_ key: [UInt8]) -> [UInt8] {
        key.prefix(32).reversed() + key.dropFirst(32).reversed()
    }
}

extension SeededGenerator {
    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }
}
