import Bluetooth
import PhoneServices
import Testing

@Suite struct NotificationTests {
  private let event = NotificationEvent(
    change: .added, flags: [.important, .positiveAction], category: NotificationCategory(rawValue: 4), count: 2,
    identifier: 0x0403_0201)
  private let parts: [NotificationCommand.Part] = [.init(.appIdentifier), .init(.title, length: 16)]

  /// An answer of the Data Source.
  private func answer(
    _ identifier: UInt32 = 0x0403_0201, _ values: [(UInt8, String)] = [(0, "com.a"), (1, "Hi")]
  ) -> [UInt8] {
    let head: [UInt8] = [0] + (0..<4).map { UInt8(truncatingIfNeeded: identifier >> (8 * $0)) }
    return values.reduce(into: head) { octets, value in
      octets += [value.0, UInt8(value.1.utf8.count), 0] + Array(value.1.utf8)
    }
  }

  /// The answer with the name of an application.
  private func naming(_ identifier: String = "com.a", _ name: String = "App") -> [UInt8] {
    [1] + Array(identifier.utf8) + [0, 0, UInt8(name.utf8.count), 0] + Array(name.utf8)
  }

  private func ask(_ identifier: UInt32) -> [UInt8] {
    NotificationCommand.getAttributes(notification: identifier, parts).octets
  }

  private var askName: [UInt8] { NotificationCommand.getAppName("com.a").octets }

  private func after(_ seconds: Double) -> Instant { Instant.zero.advanced(by: .seconds(seconds)) }

  @Test func eventsAreReadAndWritten() {
    let octets: [UInt8] = [0, 0x0A, 4, 2, 1, 2, 3, 4]
    #expect(NotificationEvent(octets) == event)
    #expect(event.octets == octets)
    #expect(NotificationEvent(octets + [9]) == event)
    #expect(event.category.name == "social")
    for count in 0..<8 { #expect(NotificationEvent(Array(octets.prefix(count))) == nil) }
    #expect(NotificationEvent([3] + octets.dropFirst()) == nil)
    #expect(NotificationEvent([2, 0, 200, 0, 0, 0, 0, 0])?.category.name == "200")
  }

  @Test func commandsAreWritten() {
    #expect(
      NotificationCommand.getAttributes(notification: 7, parts).octets == [0, 7, 0, 0, 0, 0, 1, 16, 0])
    #expect(NotificationCommand.getAppName("a.b").octets == [1, 0x61, 0x2E, 0x62, 0, 0])
    #expect(NotificationCommand.getAppName("a\0b").octets == [1, 0x61, 0, 0])
    #expect(NotificationCommand.perform(notification: 7, isPositive: true).octets == [2, 7, 0, 0, 0, 0])
    #expect(NotificationCommand.perform(notification: 7, isPositive: false).octets == [2, 7, 0, 0, 0, 1])
    #expect(NotificationCommand.refusal(0xA2) != nil && NotificationCommand.refusal(0x0E) == nil)
  }

  @Test func answersComeInAnyPieces() {
    let whole = answer()
    let expected = AttributeAssembly.Progress.complete([.appIdentifier: "com.a", .title: "Hi"])
    for length in 1...whole.count {
      var assembly = AttributeAssembly(notification: 0x0403_0201, parts: parts)
      for start in stride(from: 0, to: whole.count, by: length) {
        let end = min(start + length, whole.count)
        let progress = assembly.received(Array(whole[start..<end]))
        #expect(progress == (end == whole.count ? expected : .incomplete))
      }
    }
  }

  @Test func answersThatDoNotFitAreInvalid() {
    let wrong: [[UInt8]] = [
      [1] + answer().dropFirst(), answer(5), answer(0x0403_0201, [(3, "x")]),
      answer(0x0403_0201, [(0, "a"), (0, "b")]), answer(0x0403_0201, [(1, "12345678901234567")]), answer() + [0],
      Array(repeating: 0, count: 100_000),
    ]
    for octets in wrong {
      var assembly = AttributeAssembly(notification: 0x0403_0201, parts: parts)
      guard case .invalid = assembly.received(octets) else { Issue.record("\(octets.prefix(30))"); continue }
      guard case .invalid = assembly.received(answer()) else { Issue.record("it goes on"); continue }
    }
    // An answer without an end uses no more room than requested.
    var endless = AttributeAssembly(notification: 0x0403_0201, parts: parts)
    var progress = AttributeAssembly.Progress.incomplete
    var pieces = 0
    progress = endless.received(answer(0x0403_0201, []) + [0, 0, 2])
    while progress == .incomplete, pieces < 1000 {
      progress = endless.received([UInt8](repeating: 0x61, count: 20))
      pieces += 1
    }
    #expect(progress != .incomplete && pieces < 30)
  }

  @Test func textThatIsNotUTF8IsReplaced() {
    var assembly = AttributeAssembly(notification: 1, parts: [.init(.title, length: 8)])
    #expect(assembly.received([0, 1, 0, 0, 0, 1, 2, 0, 0xFF, 0x41]) == .complete([.title: "\u{FFFD}A"]))
  }

  @Test func oneNotificationIsAskedForAtATime() {
    var reader = NotificationReader(parts: parts)
    let first = NotificationCommand.getAttributes(notification: event.identifier, parts).octets
    #expect(reader.received(event, at: after(0)) == [.write(first)])
    var other = event
    other.identifier = 9
    #expect(reader.received(other, at: after(1)) == [])
    #expect(reader.deadline == after(10))
    #expect(reader.received(data: answer(), at: after(2)) == [.write(askName)])
    #expect(
      reader.received(data: naming(), at: after(2)) == [
        .notification(event, [.appIdentifier: "com.a", .title: "Hi"], app: "App"),
        .write(NotificationCommand.getAttributes(notification: 9, parts).octets),
      ])
    #expect(reader.refused("gone", at: after(3)) == [.failed(other, "gone")])
    #expect(reader.deadline == nil)
    #expect(reader.received(data: answer(9), at: after(4)) == [])
  }

  @Test func whatHasGoneIsNotAskedFor() {
    var reader = NotificationReader(parts: parts)
    _ = reader.received(event, at: after(0))
    var other = event
    (other.identifier, other.change) = (9, .added)
    _ = reader.received(other, at: after(0))
    var gone = event
    gone.change = .removed
    #expect(reader.received(gone, at: after(1)) == [.removed(event.identifier)])
    // Its answer ends before the next question begins.
    #expect(
      reader.received(data: answer(), at: after(2)) == [
        .write(NotificationCommand.getAttributes(notification: 9, parts).octets)
      ])
    gone.identifier = 9
    #expect(reader.received(gone, at: after(3)) == [.removed(9)])
    #expect(reader.refused("gone", at: after(3)) == [])
    #expect(reader.deadline == nil)
  }

  @Test func aPhoneThatDoesNotAnswerIsNotWaitedFor() {
    var reader = NotificationReader(parts: parts)
    _ = reader.received(event, at: after(0))
    #expect(reader.tick(at: after(9)) == [])
    let actions = reader.tick(at: after(10))
    #expect(actions.count == 1)
    if case .failed(event, _) = actions.first {} else { Issue.record("\(actions)") }
    #expect(reader.deadline == nil)
  }

  @Test func anAnswerThatComesTooLateIsIgnored() {
    var reader = NotificationReader(parts: parts)
    var other = event
    other.identifier = 9
    _ = reader.received(event, at: after(0))
    _ = reader.received(other, at: after(0))
    let late = answer()
    #expect(reader.tick(at: after(10)).last == .write(NotificationCommand.getAttributes(notification: 9, parts).octets))
    #expect(reader.received(data: Array(late.prefix(10)), at: after(11)) == [])
    #expect(reader.received(data: Array(late.dropFirst(10)), at: after(11)) == [])
    #expect(reader.received(data: [], at: after(11)) == [])
    // The answer may arrive in pieces of any length.
    let pieces = answer(9).map { [$0] }
    for piece in pieces.dropLast() { #expect(reader.received(data: piece, at: after(12)) == []) }
    #expect(reader.received(data: pieces.last ?? [], at: after(12)) == [.write(askName)])
    #expect(reader.received(data: answer(9), at: after(12)) == [])
    for piece in naming().dropLast() { #expect(reader.received(data: [piece], at: after(12)) == []) }
    #expect(
      reader.received(data: naming().suffix(1), at: after(12))
        == [.notification(other, [.appIdentifier: "com.a", .title: "Hi"], app: "App")])
    // Other octets behind the first ones are a fault of this answer.
    _ = reader.received(other, at: after(20))
    #expect(reader.received(data: [0], at: after(21)) == [])
    #expect(reader.received(data: late, at: after(21)) == [.write(ask(9))])
  }

  /// Another program queries the same phone; its answers reach both.
  @Test func anAnswerToAnotherProgramIsNoFailure() {
    let expected: [NotificationReader.Action] = [.notification(event, [.title: "Hi"], app: nil)]
    let parts: [NotificationCommand.Part] = [.init(.title, length: 16)]
    let question = NotificationCommand.getAttributes(notification: event.identifier, parts).octets
    var reader = NotificationReader(parts: parts)
    _ = reader.received(event, at: after(0))
    // Its answer has parts that were not requested, and arrives in pieces.
    #expect(reader.received(data: answer(), at: after(1)) == [.write(question)])
    #expect(reader.deadline == after(11))
    #expect(reader.received(data: [2, 0, 0], at: after(1)) == [])
    #expect(reader.received(data: answer(event.identifier, [(1, "Hi")]), at: after(1)) == expected)
    // The second one is the last.
    _ = reader.received(event, at: after(2))
    _ = reader.received(data: answer(), at: after(2))
    guard case .failed? = reader.received(data: answer(), at: after(2)).first else { Issue.record("no end"); return }
    #expect(reader.deadline == nil)
    // Nothing that was removed is requested again.
    _ = reader.received(event, at: after(3))
    var gone = event
    gone.change = .removed
    _ = reader.received(gone, at: after(3))
    #expect(reader.received(data: answer(), at: after(3)) == [] && reader.deadline == nil)
  }

  @Test func anAnswerBeginsAgainWithItsFirstOctets() {
    var reader = NotificationReader(parts: parts)
    _ = reader.received(event, at: after(0))
    // The answer to another program has some of the parts only; the one to this program follows in pieces.
    #expect(reader.received(data: answer(event.identifier, [(1, "")]), at: after(1)) == [])
    #expect(reader.received(data: Array(answer().prefix(9)), at: after(1)) == [])
    #expect(reader.received(data: Array(answer().dropFirst(9)), at: after(1)) == [.write(askName)])
  }

  @Test func theNameOfAnApplicationIsAskedForOnce() {
    var reader = NotificationReader(parts: parts)
    let expected = [NotificationAttribute.appIdentifier: "com.a", .title: "Hi"]
    _ = reader.received(event, at: after(0))
    _ = reader.received(data: answer(), at: after(0))
    _ = reader.received(data: naming(), at: after(0))
    _ = reader.received(event, at: after(1))
    #expect(reader.received(data: answer(), at: after(1)) == [.notification(event, expected, app: "App")])
    // A value that the phone does not send is not requested again, either.
    let ends: [(inout NotificationReader) -> [NotificationReader.Action]] = [
      { $0.refused("gone", at: after(2)) }, { $0.tick(at: after(20)) },
      { $0.received(data: naming("com.a", ""), at: after(2)) },
      { $0.received(data: [1] + Array("com.a".utf8) + [0, 1], at: after(2)) },
    ]
    for end in ends {
      var reader = NotificationReader(parts: parts)
      _ = reader.received(event, at: after(0))
      #expect(reader.received(data: answer(), at: after(1)) == [.write(askName)])
      let actions = end(&reader)
      #expect(actions == [.notification(event, expected, app: nil)])
      _ = reader.received(event, at: after(30))
      #expect(reader.received(data: answer(), at: after(30)) == [.notification(event, expected, app: nil)])
      #expect(reader.deadline == nil)
    }
    // A notification that is removed during the request for the name is not reported.
    reader = NotificationReader(parts: parts)
    _ = reader.received(event, at: after(0))
    _ = reader.received(data: answer(), at: after(0))
    var gone = event
    gone.change = .removed
    #expect(reader.received(gone, at: after(1)) == [.removed(event.identifier)])
    #expect(reader.received(data: naming(), at: after(1)) == [])
    #expect(reader.deadline == nil)
  }

  @Test func namesOfApplicationsComeInAnyPieces() {
    let whole = naming("com.example", "Größe")
    for length in 1...whole.count {
      var assembly = AppNameAssembly("com.example")
      for start in stride(from: 0, to: whole.count, by: length) {
        let end = min(start + length, whole.count)
        let progress = assembly.received(Array(whole[start..<end]))
        #expect(progress == (end == whole.count ? .complete("Größe") : .incomplete))
      }
    }
    let name: [UInt8] = [1] + Array("com.a".utf8)
    let wrong: [[UInt8]] = [
      answer(), naming("com.b"), naming() + [0], name + [0, 1], name + [0, 0, 1, 1], Array(repeating: 1, count: 1000),
    ]
    for octets in wrong {
      var assembly = AppNameAssembly("com.a")
      guard case .invalid = assembly.received(octets) else { Issue.record("\(octets.prefix(20))"); continue }
      guard case .invalid = assembly.received(naming()) else { Issue.record("it goes on"); continue }
    }
  }

  @Test func aFloodIsBounded() {
    var reader = NotificationReader(parts: parts)
    var failures = 0
    for number in 0..<1000 {
      var flood = event
      flood.identifier = UInt32(number)
      for case .failed in reader.received(flood, at: after(0)) { failures += 1 }
    }
    #expect(failures == 1000 - 1 - NotificationReader.maximumWaiting)
  }
}
