// CoreBluetooth re-exports these two on Apple's systems, and client code relies on that. The names of CoreBluetooth
// itself are not exported: a client declares them as aliases of this module's.
@_exported import Dispatch
@_exported import Foundation
