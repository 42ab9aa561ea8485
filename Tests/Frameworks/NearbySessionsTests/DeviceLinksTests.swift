import Testing

@testable import NearbySessions

/// The users of links to devices.
@Suite struct DeviceLinksTests {
  @Test("the last user is known, and its device is forgotten once no change is under way")
  func users() {
    var links = DeviceLinks()
    links.join("a")
    links.join("a")
    links.join("b")
    let areLast = [links.leave("a"), links.leave("a")]
    #expect(areLast == [false, true])
    links.beginChange("a")
    #expect(links.isChanging("a") && !links.isChanging("b"))
    let unused = links.removeUnused("a")
    #expect(unused == nil)
    links.endChange("a")
    #expect(!links.isChanging("a") && !links.isEmpty)
    let isLast = links.leave("b")
    #expect(isLast)
    links.beginChange("b")
    links.endChange("b")
    #expect(links.isEmpty)
  }

  @Test("a device that is joined during a change stays")
  func joined() {
    var links = DeviceLinks()
    links.beginChange("a")
    links.join("a")
    links.endChange("a")
    #expect(!links.isEmpty)
    let isLast = links.leave("a")
    #expect(isLast)
  }

  @Test("an unknown device has no last user, and no change to end")
  func unknown() {
    var links = DeviceLinks()
    let isLast = links.leave("a")
    #expect(!isLast)
    links.endChange("a")
    let unused = links.removeUnused("a")
    #expect(unused == nil && links.isEmpty)
  }
}

/// The handshakes of devices.
@Suite struct HandshakesTests {
  @Test("a device has a limit of its own, which one that has ended makes room in")
  func device() {
    var handshakes = Handshakes()
    var begun = (0...Handshakes.deviceLimit).map { _ in handshakes.begin("a") }
    #expect(begun == Array(repeating: true, count: Handshakes.deviceLimit) + [false])
    begun = [handshakes.begin("b")]
    handshakes.end("a")
    begun.append(handshakes.begin("a"))
    #expect(begun == [true, true])
    #expect(handshakes.count == Handshakes.deviceLimit + 1)
  }

  @Test("all devices together have a limit")
  func all() {
    var handshakes = Handshakes()
    var begun = (0...Handshakes.limit).map { handshakes.begin("\($0)") }
    #expect(begun == Array(repeating: true, count: Handshakes.limit) + [false])
    handshakes.end("0")
    begun = [handshakes.begin("another")]
    #expect(begun == [true])
  }

  @Test("an end without a beginning makes no room")
  func unknown() {
    var handshakes = Handshakes()
    handshakes.end("a")
    #expect(handshakes.count == 0)
    let begun = (0...Handshakes.deviceLimit).map { _ in handshakes.begin("a") }
    #expect(begun == Array(repeating: true, count: Handshakes.deviceLimit) + [false])
  }
}
