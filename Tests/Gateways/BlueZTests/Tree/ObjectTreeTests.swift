import Testing

@testable import BlueZ

/// The objects and the signals of their changes (D-Bus Specification, ObjectManager and Properties).
final class ObjectTreeTests {
  static let path = "/org/bluez/hci0/dev_A"

  var tree = ObjectTree()

  init() {
    tree.add(Self.path, [(.device, [("Connected", .boolean(false)), ("RSSI", .int16(-50))])])
    _ = tree.flush()
  }

  func changed(_ values: ObjectTree.Properties, invalidated: [String] = []) -> ObjectTree.Signal {
    ObjectTree.changed(Self.path, .device, values, invalidated: invalidated)
  }

  func flush() -> [ObjectTree.Signal] { tree.flush() }

  @Test func changesOfOneTurnAreToldTogether() {
    tree.set(Self.path, .device, "Connected", .boolean(true))
    tree.set(Self.path, .device, "RSSI", nil)
    tree.set(Self.path, .device, "Connected", .boolean(true))
    #expect(flush() == [changed([("Connected", .boolean(true))], invalidated: ["RSSI"])])
    #expect(flush().isEmpty)
  }

  @Test func aValueThatIsTheSameIsNotTold() {
    tree.set(Self.path, .device, "Connected", .boolean(false))
    #expect(flush().isEmpty)
  }

  /// A notified value is sent each time, after all earlier changes.
  @Test func valuesAreNeverJoined() {
    tree.set(Self.path, .device, "Connected", .boolean(true))
    for _ in 0..<2 { tree.signal(Self.path, .device, "RSSI", .int16(-40)) }
    let value = changed([("RSSI", .int16(-40))])
    #expect(flush() == [changed([("Connected", .boolean(true))]), value, value])
  }

  @Test func anObjectIsToldOfWithItsLastValues() {
    tree.add("/org/bluez/hci0/dev_B", [(.device, [("RSSI", .int16(-50))])])
    tree.set("/org/bluez/hci0/dev_B", .device, "RSSI", .int16(-30))
    let signals = flush()
    #expect(signals.map(\.member) == ["InterfacesAdded"])
    let interfaces = ManagedObjects.interfaces(signals[0].arguments[1])
    #expect(interfaces[Interface.device.rawValue] == ["RSSI": .int16(-30)])
  }

  /// An object that is added and removed in one turn is reported twice.
  @Test func addedAndRemovedInOneTurn() {
    tree.add("/x", [(.device, [])])
    tree.remove("/x")
    #expect(flush().map(\.member) == ["InterfacesAdded", "InterfacesRemoved"])
    #expect(!tree.has("/x"))
    tree.set("/x", .device, "RSSI", .int16(-30))
    #expect(flush().isEmpty)
  }

  @Test func childrenAreRemovedBeforeTheirParents() {
    for child in ["/service1", "/service1/char1", "/service2"] { tree.add(Self.path + child, [(.device, [])]) }
    tree.add(Self.path + "B", [(.device, [])])
    _ = flush()
    tree.remove(Self.path)
    let removed = flush().compactMap { $0.arguments.first?.path?.dropFirst(Self.path.count) }
    #expect(removed == ["/service2", "/service1/char1", "/service1", ""])
    #expect(tree.paths == [Self.path + "B"])
  }

  @Test func aSignalComesAfterTheChangesBeforeIt() {
    tree.set(Self.path, .device, "RSSI", .int16(-30))
    tree.emit(Self.path, .device, "Disconnected", [])
    tree.set(Self.path, .device, "Connected", .boolean(true))
    #expect(flush().map(\.member) == ["PropertiesChanged", "Disconnected", "PropertiesChanged"])
  }
}
