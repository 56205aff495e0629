// The part of Foundation that all pure modules use, which is a separate module on Linux.
#if canImport(FoundationEssentials)
@_exported import FoundationEssentials
#else
@_exported import Foundation
#endif
