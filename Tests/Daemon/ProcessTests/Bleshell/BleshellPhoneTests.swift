import BledRPC
import FoundationEssentials
import Glibc
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
    #expect(try phone.written(to: ANCS.controlPoint) == [1] + Self.messages + [0, 0])
    let name = [1] + Self.messages + [0, 0, 8, 0] + Array("Messages".utf8)
    try phone.notify(ANCS.dataSource, Array(name.prefix(20)))
    try phone.notify(ANCS.dataSource, Array(name.dropFirst(20)))
    try phone.notify(ANCS.notificationSource, [1, 0x01, 4, 1, 7, 0, 0, 0])
    _ = try phone.written(to: ANCS.controlPoint)
    try phone.notify(ANCS.dataSource, answer)
    try phone.notify(ANCS.notificationSource, [2, 0, 4, 0, 7, 0, 0, 0])
    let found = try objects(process)
    #expect(found.map { $0["kind"] } == ["notification", "notification", "notificationRemoved"])
    #expect(found.map { $0["notification"] } == [7, 7, 7])
    let first = try #require(found.first)
    #expect(first["change"] == "added" && first["category"] == "social" && first["app"] == "com.apple.MobileSMS")
    #expect(found.prefix(2).map { $0["appName"] } == ["Messages", "Messages"])
    #expect(first["title"] == "Anna" && first["message"] == "Dinner?\u{1B}[2J" && first["subtitle"] == nil)
    #expect(first["positiveAction"] == "Reply" && first["silent"] == false && first["sent"] == "20261125T140806")
    #expect(found[1]["change"] == "modified" && found[1]["silent"] == true)

    // For people: no control characters reach the terminal.
    let text = try phone.start("notifications", "--count", "1")
    try phone.awaitSubscription(to: ANCS.notificationSource)
    try phone.notify(ANCS.notificationSource, [0, 0, 4, 1, 7, 0, 0, 0])
    _ = try phone.written(to: ANCS.controlPoint)
    try phone.notify(ANCS.dataSource, answer)
    _ = try phone.written(to: ANCS.controlPoint)
    try phone.notify(ANCS.dataSource, [1] + Self.messages + [0, 0, 2, 0, 0x1B, 0x41])
    #expect(try text.exitStatus() == 0, "\(text.errors)")
    let line = "added  \u{FFFD}A  Anna: Dinner?\u{FFFD}[2J  (7: positive \"Reply\")"
    #expect(text.output.contains(line), "\(text.output)")
  }

  private static let messages = Array("com.apple.MobileSMS".utf8)

  /// The labels of the actions of notification 7.
  private func labels(_ positive: String, _ negative: String) -> [UInt8] {
    [(6, positive), (7, negative)].reduce(into: [0, 7, 0, 0, 0]) { octets, label in
      octets += [label.0, UInt8(label.1.utf8.count), 0] + Array(label.1.utf8)
    }
  }

  @Test("actions of notifications, with the phone's words for them")
  func actions() throws {
    let phone = try ScriptedPhone()
    let reply = try phone.start("positive", "7", "--json")
    #expect(try phone.written(to: ANCS.controlPoint) == [0, 7, 0, 0, 0, 6, 7])
    // An answer to another question arrives before.
    try phone.notify(ANCS.dataSource, [0, 8, 0, 0, 0, 6, 0, 0, 7, 0, 0])
    // The phone's answer to another program, which has asked about the same notification.
    try phone.notify(ANCS.dataSource, [0, 7, 0, 0, 0, 0, 1, 0, 0x61])
    #expect(try phone.written(to: ANCS.controlPoint) == [0, 7, 0, 0, 0, 6, 7])
    try phone.notify(ANCS.dataSource, labels("Reply", "Clear"))
    #expect(try phone.written(to: ANCS.controlPoint) == [2, 7, 0, 0, 0, 0])
    let object = try #require(try objects(reply).first)
    #expect(object["kind"] == "notificationAction" && object["notification"] == 7)
    #expect(object["action"] == "positive" && object["label"] == "Reply")

    let clear = try phone.start("negative", "7")
    _ = try phone.written(to: ANCS.controlPoint)
    try phone.notify(ANCS.dataSource, labels("", "Clear"))
    #expect(try phone.written(to: ANCS.controlPoint) == [2, 7, 0, 0, 0, 1])
    #expect(try clear.exitStatus() == 0, "\(clear.errors)")
    #expect(clear.output.contains("negative  7  Clear"), "\(clear.output)")
  }

  @Test("actions that a notification does not have, or the phone refuses")
  func refusedActions() throws {
    let phone = try ScriptedPhone()
    let absent = try phone.start("positive", "7")
    _ = try phone.written(to: ANCS.controlPoint)
    try phone.notify(ANCS.dataSource, labels("", "Clear"))
    #expect(try absent.exitStatus() == 1)
    #expect(absent.errors.contains("has no positive action, but the negative \"Clear\""), "\(absent.errors)")

    let gone = try phone.start("negative", "7")
    try phone.refuseWrite(to: ANCS.controlPoint, 0xA2)
    #expect(try gone.exitStatus() == 1)
    #expect(gone.errors.contains("notification 7: the phone does not have it any more"), "\(gone.errors)")

    let malformed = try phone.start("negative", "7")
    for _ in 0..<2 {
      _ = try phone.written(to: ANCS.controlPoint)
      try phone.notify(ANCS.dataSource, [0, 7, 0, 0, 0, 9])
    }
    #expect(try malformed.exitStatus() == 1)
    #expect(malformed.errors.contains("notification 7: attribute 9, which was not asked for"), "\(malformed.errors)")

    let failed = try phone.start("negative", "7")
    _ = try phone.written(to: ANCS.controlPoint)
    try phone.notify(ANCS.dataSource, labels("", "Clear"))
    try phone.refuseWrite(to: ANCS.controlPoint, 0xA3)
    #expect(try failed.exitStatus() == 1)
    #expect(failed.errors.contains("refused \"Clear\" of notification 7: the action failed"), "\(failed.errors)")
  }

  @Test("with --keep the phone is waited for, and followed again when it has been away")
  func keep() throws {
    let phone = try ScriptedPhone()
    try phone.disconnect()
    let process = try phone.start("notifications", "--keep", "--count", "2", "--json")
    try eventually("it waits") { process.errors.contains("waiting for") || process.hasEnded }
    for (link, number) in [7, 8].enumerated() as EnumeratedSequence<[UInt8]> {
      try phone.connect()
      // The phone may know the subscriptions of the former link still.
      try eventually("it follows the phone") {
        process.errors.split(separator: "\n").count { $0.contains("connected to") } == link + 1 || process.hasEnded
      }
      try #require(!process.hasEnded, "\(process.errors)")
      try phone.notify(ANCS.notificationSource, [0, 0, 4, 1, number, 0, 0, 0])
      _ = try phone.written(to: ANCS.controlPoint)
      try phone.notify(ANCS.dataSource, empty(number))
      try eventually("the notification is there") {
        process.output.contains("\"notification\":\(number)") || process.hasEnded
      }
      if number == 7 { try phone.disconnect() }
    }
    let found = try objects(process)
    #expect(found.map { $0["notification"] } == [7, 8])
    #expect(process.errors.contains("; trying again"), "\(process.errors)")
  }

  /// The answer about a notification without contents.
  private func empty(_ number: UInt8) -> [UInt8] {
    ([0, 1, 2, 3, 5, 6, 7] as [UInt8]).reduce(into: [0, number, 0, 0, 0]) { $0 += [$1, 0, 0] }
  }

  @Test("with --keep a service that the phone removes and publishes again is followed again")
  func servicesChange() throws {
    let phone = try ScriptedPhone()
    let process = try phone.start("notifications", "--keep", "--count", "2", "--json")
    for number in [7, 8] as [UInt8] {
      try phone.awaitSubscription(to: ANCS.dataSource)
      try phone.awaitSubscription(to: ANCS.notificationSource)
      try phone.notify(ANCS.notificationSource, [0, 0, 4, 1, number, 0, 0, 0])
      _ = try phone.written(to: ANCS.controlPoint)
      try phone.notify(ANCS.dataSource, empty(number))
      guard number == 7 else { break }
      try eventually("the notification is there") { process.output.contains("\"notification\":7") || process.hasEnded }
      try phone.remove(ANCS.service)
      try eventually("the change is told") { process.errors.contains("; trying again") || process.hasEnded }
      try #require(!process.hasEnded, "\(process.errors)")
      try phone.publishNotifications()
    }
    #expect(try objects(process).map { $0["notification"] } == [7, 8])
  }

  @Test("Ctrl-C is the regular end of --keep, also before the phone has come")
  func interruptedWait() throws {
    let phone = try ScriptedPhone()
    try phone.disconnect()
    let process = try phone.start("notifications", "--keep")
    try eventually("it waits") { process.errors.contains("waiting for") || process.hasEnded }
    process.send(signal: SIGINT)
    #expect(try process.exitStatus() == 0, "\(process.errors)")
    #expect(!process.errors.contains("no connection"), "\(process.errors)")
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
    // Meanwhile the player no longer has a title.
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
    let wrong = [
      ["Battery", "weather"], ["Battery", "positive"], ["Battery", "positive", "x"], ["Battery", "time", "--keep"],
      ["notifications", "--keep"],
    ]
    for words in wrong { #expect(try daemon.start(["phone"] + words).exitStatus() == 64, "\(words)") }
    let battery = try daemon.bleshell("phone", "Battery", "time")
    #expect(battery.status == 1 && battery.errors.contains("does not serve this here"), "\(battery.errors)")
  }
}
