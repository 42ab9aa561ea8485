import BledRPC
import Testing

@testable import HIDGateway

@Suite("A HID service as a device of the kernel")
struct KernelDeviceTests {
  private static let description = UhidDescription(name: "Desk", location: "", identity: "", map: [])

  private func device(_ map: [UInt8], _ reports: [HIDService.Report]) throws -> KernelDevice {
    KernelDevice(
      HIDService(map: try ReportMap(map), country: 0, reports: reports, unusable: 0), Self.description)
  }

  private func keyboard() throws -> KernelDevice {
    try device(
      Maps.keyboard,
      [
        .init(key: ReportKey(.input, 1), handle: 10, properties: [.read, .notify]),
        .init(key: ReportKey(.output, 1), handle: 20, properties: [.read, .write, .writeWithoutResponse]),
        .init(key: ReportKey(.input, 2), handle: 30, properties: [.read, .notify]),
      ])
  }

  private func gamepad() throws -> KernelDevice {
    try device(
      Maps.gamepad,
      [
        .init(key: ReportKey(.input, 3), handle: 10, properties: [.read, .notify]),
        .init(key: ReportKey(.output, 4), handle: 20, properties: [.write]),
        .init(key: ReportKey(.feature, 5), handle: 30, properties: [.read, .write]),
      ])
  }

  private let key: [UInt8] = [0, 0, 4, 0, 0, 0, 0, 0]
  private let released = [UInt8](repeating: 0, count: 8)

  @Test("Reports wait for the driver, and have their number in front")
  func numbered() throws {
    var device = try keyboard()
    #expect(device.linked() == [.send(.create(Self.description))])
    #expect(device.value(key, of: 10) == [])
    #expect(device.event(.start) == [.send(.input([1] + key))])
    #expect(device.value([0xE9, 0], of: 30) == [.send(.input([2, 0xE9, 0]))])
    #expect(device.value([1], of: 20) == [], "not an input report")
    #expect(device.value([1], of: 99) == [], "another characteristic")
  }

  @Test("Without a driver the last reports are kept")
  func bounded() throws {
    var device = try keyboard()
    _ = device.linked()
    for _ in 0..<100 { _ = device.value(key, of: 10) }
    _ = device.value(released, of: 10)
    let sent = device.event(.start)
    #expect(sent.count == 64)
    #expect(sent.last == .send(.input([1] + released)))
  }

  @Test("A report without a number, and one that is longer than its map says")
  func unnumbered() throws {
    var device = try device(Maps.mouse, [.init(key: ReportKey(.input, 0), handle: 10, properties: [.notify])])
    _ = device.linked() + device.event(.start)
    #expect(device.value([1, 2, 3], of: 10) == [.send(.input([1, 2, 3]))])
    let long = device.value([1, 2, 3, 4], of: 10)
    #expect(long.first == .send(.input([1, 2, 3])))
    #expect(long.count == 2, "said once")
    #expect(device.value([1, 2, 3, 4], of: 10) == [.send(.input([1, 2, 3]))])
    #expect(device.value([1], of: 10) == [.send(.input([1]))])
  }

  @Test("A keyboard that is gone stays, its keys are released, and its lights come back")
  func keyboardGone() throws {
    var device = try keyboard()
    _ = device.linked() + device.event(.start)
    #expect(device.event(.output(.output, [1, 2])) == [.write(20, [2], response: false, request: nil)])
    _ = device.value(key, of: 10)
    #expect(device.unlinked() == [.send(.input([1] + released))])
    #expect(device.event(.output(.output, [1, 3])) == [], "no link")
    #expect(device.linked() == [.write(20, [3], response: false, request: nil)])
    #expect(device.unlinked() == [], "no key is down")
    #expect(device.removed() == [.send(.destroy)])
    #expect(device.removed() == [])
  }

  @Test("A maker's reports are not repeated, and those of a battery are not released")
  func otherReports() throws {
    var device = try device(
      Maps.extended,
      [
        .init(key: ReportKey(.input, 1), handle: 10, properties: [.notify]),
        .init(key: ReportKey(.output, 2), handle: 20, properties: [.write]),
        .init(key: ReportKey(.input, 3), handle: 30, properties: [.notify]),
      ])
    _ = device.linked() + device.event(.start)
    #expect(device.event(.output(.output, [2, 9])) == [.write(20, [9], response: true, request: nil)])
    _ = device.value([4], of: 10) + device.value([80], of: 30)
    #expect(device.unlinked() == [.send(.input([1, 0]))])
    #expect(device.linked() == [])
  }

  @Test("A gamepad that is gone ends")
  func gamepadGone() throws {
    var device = try gamepad()
    _ = device.linked() + device.event(.start)
    #expect(device.unlinked() == [.send(.destroy)])
    #expect(device.linked() == [.send(.create(Self.description))])
    #expect(device.value([1, 2, 3, 4], of: 10) == [], "no driver yet")
  }

  @Test("A report is read for the kernel")
  func get() throws {
    var device = try gamepad()
    let feature = ReportKey(.feature, 5)
    #expect(device.event(.getReport(request: 1, feature)) == [.send(.report(request: 1, nil))], "no link")
    _ = device.linked()
    #expect(device.event(.getReport(request: 2, feature)) == [.read(30, request: 2)])
    #expect(device.read([9], for: 1) == [], "another request")
    #expect(device.read([9], for: 2) == [.send(.report(request: 2, [5, 9]))])
    _ = device.event(.getReport(request: 3, feature))
    #expect(device.read(nil, for: 3) == [.send(.report(request: 3, nil))])
    #expect(
      device.event(.getReport(request: 4, ReportKey(.output, 4))) == [.send(.report(request: 4, nil))],
      "it cannot be read")
    _ = device.event(.getReport(request: 5, feature))
    #expect(device.unlinked() == [.send(.report(request: 5, nil)), .send(.destroy)])
  }

  @Test("A report is set by the kernel")
  func set() throws {
    var device = try gamepad()
    let feature = ReportKey(.feature, 5)
    #expect(
      device.event(.setReport(request: 1, feature, [5, 7])) == [.send(.reportSet(request: 1, isDone: false))],
      "no link")
    _ = device.linked()
    #expect(
      device.event(.setReport(request: 2, feature, [5, 7])) == [.write(30, [7], response: true, request: 2)])
    #expect(device.wrote(true, for: 2) == [.send(.reportSet(request: 2, isDone: true))])
    _ = device.event(.setReport(request: 3, feature, [5, 7]))
    #expect(device.wrote(false, for: 3) == [.send(.reportSet(request: 3, isDone: false))])
    #expect(
      device.event(.setReport(request: 4, ReportKey(.feature, 6), [6, 7]))
        == [.send(.reportSet(request: 4, isDone: false))], "not in its map")
    #expect(device.event(.output(.output, [4, 1, 2])) == [.write(20, [1, 2], response: true, request: nil)])
    #expect(device.event(.output(.output, [])) == [])
  }

  @Test("Programs of hidraw put a zero before a report without a number")
  func hidraw() throws {
    let map: [UInt8] = [0x06, 0x00, 0xFF, 0x09, 0x01, 0xA1, 0x01, 0x75, 0x08, 0x95, 0x02, 0x91, 0x02, 0xC0]
    var device = try device(
      map, [.init(key: ReportKey(.output, 0), handle: 10, properties: [.writeWithoutResponse])])
    _ = device.linked()
    let written: [KernelDevice.Action] = [.write(10, [1, 2], response: false, request: nil)]
    #expect(device.event(.output(.output, [0, 1, 2])) == written)
    #expect(device.event(.output(.output, [1, 2])) == written)
  }
}
