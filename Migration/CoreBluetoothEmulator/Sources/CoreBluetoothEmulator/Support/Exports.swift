// CoreBluetooth re-exports these on Apple's systems. CoreBluetooth itself is not exported: clients import it.
@_exported import Dispatch
@_exported import Foundation
