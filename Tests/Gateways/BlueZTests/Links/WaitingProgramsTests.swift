import Testing

@testable import BlueZ

/// The calls that wait, by device.
struct WaitingProgramsTests {
  /// Devices are named by programs: nothing is stored of devices without a call.
  @Test func nothingIsKeptOfADeviceWithoutPrograms() {
    var programs = WaitingPrograms()
    let inserted = [":1.1", ":1.2", ":1.1"].map { programs.insert($0, at: "/a") }
    #expect(inserted == [true, true, false])
    programs.remove(":1.1", at: "/a")
    #expect(programs.has("/a") && !programs.has("/a", ":1.1") && programs["/a"] == [":1.2"])
    programs.remove(":1.2", at: "/a")
    programs.remove(":1.3", at: "/b")
    #expect(programs.isEmpty)
  }
}
