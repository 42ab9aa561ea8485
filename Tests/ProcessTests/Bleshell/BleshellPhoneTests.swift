import BledRPC
import FoundationEssentials
import PhoneServices
import Testing

/// `bleshell phone` on the link that a scripted iPhone has opened.
@Suite(.serialized) struct BleshellPhoneTests {
  private func objects(_ process: ChildProcess) throws -> [[String: JSONValue]] {
    let status = try process.exitStatus()
    #expect(status == 0, "\(process.errors)")
    return try BleshellRun(status: status, output: process.output, errors: process.errors).objects()
  }

  @Test("the time of the phone")
  func time() throws {
    let phone = try ScriptedPhone()
    let text = try phone.start("time")
    #expect(try text.exitStatus() == 0 && text.output == "2026-11-25T14:08:06\n", "\(text.errors)")
    let object = try #require(try objects(try phone.start("time", "--json")).first)
    #expect(object["kind"] == "time" && object["local"] == "2026-11-25T14:08:06" && object["dayOfWeek"] == 3)
  }

  @Test("notifications that come, change and go, with their contents")
  func notifications() throws {
    let phone = try ScriptedPhone()
    let process = try phone.start("notifications", "--count", "3", "--json")
    try phone.awaitSubscription(to: ANCS.dataSource)
    try phone.awaitSubscription(to: ANCS.notificationSource)
    // Added, with a positive action; of the category social.
    try phone.notify(ANCS.notificationSource, [0, 0x08, 4, 1, 7, 0, 0, 0])
    let question = try phone.written(to: ANCS.controlPoint)
    #expect(question.starts(with: [0, 7, 0, 0, 0]))
    let parts: [(UInt8, String)] = [
      (0, "com.apple.MobileSMS"), (1, "Anna"), (2, ""), (3, "Dinner?\u{1B}[2J"), (5, "20261125T140806"), (6, "Reply"),
      (7, ""),
    ]
    var answer: [UInt8] = [0, 7, 0, 0, 0]
    for (number, text) in parts { answer += [number, UInt8(text.utf8.count), 0] + Array(text.utf8) }
    try phone.notify(ANCS.dataSource, Array(answer.prefix(20)))
    try phone.notify(ANCS.dataSource, Array(answer.dropFirst(20)))
    try phone.notify(ANCS.notificationSource, [1, 0x01, 4, 1, 7, 0, 0, 0])
    _ = try phone.written(to: ANCS.controlPoint)
    try phone.notify(ANCS.dataSource, answer)
    try phone.notify(ANCS.notificationSource, [2, 0, 4, 0, 7, 0, 0, 0])
    let found = try objects(process)
    #expect(found.map { $0["kind"] } == ["notification", "notification", "notificationRemoved"])
    #expect(found.map { $0["notification"] } == [7, 7, 7])
    let first = try #require(found.first)
    #expect(first["change"] == "added" && first["category"] == "social" && first["app"] == "com.apple.MobileSMS")
    #expect(first["title"] == "Anna" && first["message"] == "Dinner?\u{1B}[2J" && first["subtitle"] == nil)
    #expect(first["positiveAction"] == "Reply" && first["silent"] == false && first["sent"] == "20261125T140806")
    #expect(found[1]["change"] == "modified" && found[1]["silent"] == true)

    // For people: no control characters reach the terminal.
    let text = try phone.start("notifications", "--count", "1")
    try phone.awaitSubscription(to: ANCS.notificationSource)
    try phone.notify(ANCS.notificationSource, [0, 0, 4, 1, 7, 0, 0, 0])
    _ = try phone.written(to: ANCS.controlPoint)
    try phone.notify(ANCS.dataSource, answer)
    #expect(try text.exitStatus() == 0, "\(text.errors)")
    #expect(text.output.contains("added  com.apple.MobileSMS  Anna: Dinner?\u{FFFD}[2J"), "\(text.output)")
  }

  @Test("the state of the player, and commands that it takes")
  func media() throws {
    let phone = try ScriptedPhone()
    let process = try phone.start("media", "--count", "3", "--json")
    try phone.awaitSubscription(to: AMS.entityUpdate)
    for entity in 0..<3 as Range<UInt8> {
      #expect(try phone.written(to: AMS.entityUpdate).first == entity)
    }
    try phone.notify(AMS.entityUpdate, [0, 1, 0] + Array("1,1.0,62.5".utf8))
    try eventually("the first line is there") { !process.output.isEmpty || process.hasEnded }
    // A title that was cut is read as a whole.
    try phone.notify(AMS.entityUpdate, [2, 2, 1] + Array("Sinner".utf8))
    #expect(try phone.written(to: AMS.entityAttribute) == [2, 2])
    try phone.answerRead(of: AMS.entityAttribute, Array("Sinnerman".utf8))
    try eventually("the second line is there") { process.output.contains("Sinnerman") || process.hasEnded }
    // Meanwhile the player has no title any more.
    try phone.notify(AMS.entityUpdate, [2, 2, 1] + Array("Feel".utf8))
    try phone.refuseWrite(to: AMS.entityAttribute, 0xA2)
    let states = try objects(process)
    #expect(states.map { $0["kind"] } == ["media", "media", "media"])
    #expect(states.map { $0["state"] } == ["playing", "playing", "playing"])
    #expect(states.first?["elapsed"] == .number(62.5))
    #expect(states.map { $0["title"] } == [nil, "Sinnerman", "Feel"])

    let next = try phone.start("next")
    try phone.awaitSubscription(to: AMS.remoteCommand)
    try phone.notify(AMS.remoteCommand, [0, 3])
    #expect(try phone.written(to: AMS.remoteCommand) == [3])
    #expect(try next.exitStatus() == 0, "\(next.errors)")
    let like = try phone.start("like")
    try phone.awaitSubscription(to: AMS.remoteCommand)
    try phone.notify(AMS.remoteCommand, [0, 3])
    #expect(try like.exitStatus() == 1)
    #expect(like.errors.contains("does not take like now, but next, play"), "\(like.errors)")
  }

  @Test("what is no phone, and no subject, is refused")
  func refused() throws {
    let daemon = try DaemonProcess()
    #expect(try daemon.bleshell("phone", "Battery", "weather").status == 64)
    let battery = try daemon.bleshell("phone", "Battery", "time")
    #expect(battery.status == 1 && battery.errors.contains("does not serve this here"), "\(battery.errors)")
  }
}
