// The part of Foundation that the pure modules use, for all of them: on Linux it is a module of its own.
#if canImport(FoundationEssentials)
@_exported import FoundationEssentials
#else
@_exported import Foundation
#endif
