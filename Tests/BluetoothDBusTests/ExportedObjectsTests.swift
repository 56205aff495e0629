#if os(Linux)
import Testing

@testable import BluetoothDBus

/// The exported objects, and the meaning of calls.
@Suite struct ExportedObjectsTests {
    private let exported = {
        var exported = ExportedObjects()
        exported.standard = DBusInterface("a.Properties")
        exported.manager = DBusInterface("a.Manager")
        return exported
    }()
    private let root = path("/app")
    private let child = path("/app/service0")
    private let grandchild = path("/app/service0/char0")

    private static func path(_ text: String) -> ObjectPath { ObjectPath(text) ?? .root }

    private func errorName(_ body: () throws(DBusError) -> Void) -> String? {
        do throws(DBusError) {
            try body()
            return nil
        } catch {
            return error.name
        }
    }

    @Test func anObjectBelowAManagerIsReportedByTheNearestOne() {
        var exported = exported
        exported.add([], at: root, isManager: true)
        exported.add([], at: child, isManager: true)
        exported.add([], at: grandchild, isManager: false)
        exported.add([], at: Self.path("/application"), isManager: false)
        #expect(exported.remove(grandchild).map(\.manager) == [child])
        #expect(exported.remove(child).map(\.manager) == [root])
        #expect(exported.remove(Self.path("/application")).map(\.manager) == [nil])
    }

    @Test func withAnObjectGoesWhatIsBelowItTheDeepestFirst() {
        var exported = exported
        exported.add([], at: root, isManager: true)
        exported.add([DBusInterface("a.Service")], at: child, isManager: false)
        exported.add([DBusInterface("a.Char")], at: grandchild, isManager: false)
        #expect(
            exported.remove(child) == [
                .init(path: grandchild, interfaces: ["a.Char"], manager: root),
                .init(path: child, interfaces: ["a.Service"], manager: root),
            ])
        #expect(exported.remove(child) == [])
        #expect(exported.remove(root) == [.init(path: root, interfaces: [], manager: nil)])
    }

    @Test func aManagerThatGoesSignalsNothingOfWhatGoesAlong() {
        var exported = exported
        exported.add([], at: root, isManager: true)
        exported.add([], at: child, isManager: false)
        #expect(exported.remove(root).map(\.manager) == [nil, nil])
    }

    @Test func aCallIsRefusedForWhatIsUnknownOfIt() {
        var exported = exported
        var interface = DBusInterface("a.Service", properties: ["P": .byte(1)])
        interface.on("Do", "s") { _ in }
        exported.add([interface], at: child, isManager: false)
        func refusal(_ member: String, _ name: String?, _ path: ObjectPath, _ signature: String) -> String? {
            errorName { () throws(DBusError) in
                _ = try exported.method(member, of: name, at: path, signature: signature)
            }
        }
        #expect(refusal("Do", "a.Service", child, "s") == nil)
        #expect(refusal("Do", nil, child, "s") == nil)
        #expect(refusal("Do", "a.Service", child, "") == DBusError.Name.invalidArguments)
        #expect(refusal("No", "a.Service", child, "s") == DBusError.Name.unknownMethod)
        #expect(refusal("Do", "a.Other", child, "s") == DBusError.Name.unknownInterface)
        #expect(refusal("Do", "a.Service", grandchild, "s") == DBusError.Name.unknownObject)
        #expect(refusal("Do", "a.Service", root, "s") == DBusError.Name.unknownObject)
    }
}
#endif
