// Apple's CoreBluetooth brings these two along; code written for it relies on that.
@_exported public import Dispatch
@_exported public import Foundation
