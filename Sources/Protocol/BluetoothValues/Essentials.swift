// `Data` and `Date` for the values: on Linux they are in a separate module.
#if canImport(FoundationEssentials)
@_exported import FoundationEssentials
#else
@_exported import Foundation
#endif
