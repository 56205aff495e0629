// `Data` and `Date` for the values: on Linux they are in a module of their own.
#if canImport(FoundationEssentials)
@_exported import FoundationEssentials
#else
@_exported import Foundation
#endif
