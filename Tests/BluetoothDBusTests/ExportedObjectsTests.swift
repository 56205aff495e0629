#if os(Linux)
import Testing

@testable import BluetoothDBus

/// The exported objects, and the meaning of calls.
@Suite struct ExportedObjectsTests {
    private let exported = {
        var exported = ExportedObjects()
        exported.standard = [DBusInterface("a.Introspectable"), DBusInterface("a.Properties")]
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
        #expect(exported.add([], at: child, isManager: false) == nil)
        #expect(exported.add([], at: root, isManager: true) == nil)
        #expect(exported.add([], at: grandchild, isManager: false) == root)
        #expect(exported.add([], at: Self.path("/application"), isManager: false) == nil)
    }

    @Test func withAnObjectGoesWhatIsBelowItTheDeepestFirst() {
        var exported = exported
        _ = exported.add([], at: root, isManager: true)
        _ = exported.add([DBusInterface("a.Service")], at: child, isManager: false)
        _ = exported.add([DBusInterface("a.Char")], at: grandchild, isManager: false)
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
        _ = exported.add([], at: root, isManager: true)
        _ = exported.add([], at: child, isManager: false)
        #expect(exported.remove(root).map(\.manager) == [nil, nil])
    }

    @Test func aCallIsRefusedForWhatIsUnknownOfIt() {
        var exported = exported
        var interface = DBusInterface("a.Service", properties: ["P": .byte(1)])
        interface.on("Do", "s") { _ in }
        _ = exported.add([interface], at: child, isManager: false)
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
        #expect(refusal("Do", "a.Service", root, "s") == DBusError.Name.unknownInterface)
    }

    @Test func aPropertyKeepsItsType() {
        var exported = exported
        _ = exported.add([DBusInterface("a.Service", properties: ["P": .byte(1)])], at: child, isManager: false)
        let changed = exported.set(["P": .byte(2), "Q": .byte(3)], of: "a.Service", at: child)
        #expect(changed == ["P": .byte(2)])
        #expect(exported.set(["P": .string("x")], of: "a.Service", at: child) == [:])
        #expect(exported.description(of: child).type.text == "a{sa{sv}}")
        let value = try? exported.property("P", of: "a.Service", at: child).value
        #expect(value == .byte(2))
    }

    @Test func pathsThatOnlyLeadToObjectsCanBeIntrospected() {
        var exported = exported
        _ = exported.add([], at: grandchild, isManager: false)
        _ = exported.add([], at: Self.path("/app/service1"), isManager: false)
        #expect(exported.interfaces(at: root).map(\.name) == ["a.Introspectable"])
        #expect(exported.children(of: root) == ["service0", "service1"])
        #expect(exported.children(of: .root) == ["app"])
        #expect(exported.interfaces(at: Self.path("/other")).isEmpty)
    }
}
#endif
