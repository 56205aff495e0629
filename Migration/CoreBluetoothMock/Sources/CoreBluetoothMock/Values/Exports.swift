// On Apple's systems these two come along with CoreBluetooth, and client code counts on them. The names of CoreBluetooth
// itself are not exported: a client declares them as aliases of this module's.
@_exported import Dispatch
@_exported import Foundation
