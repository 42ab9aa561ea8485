import Bluetooth

/// Follows the notifications of a phone, and asks for the contents of each, and once for the name of each application.
///
/// | State   | Input                         | Effect                                                           |
/// |---------|-------------------------------|------------------------------------------------------------------|
/// | idle    | a notification is new         | `write` → asking                                                 |
/// | asking  | a notification is new         | the notification waits                                           |
/// | asking  | an answer to another question | none: it was too late                                            |
/// | asking  | its answer is whole, and the name of the application is known | `notification`; the next `write` → asking, or → idle |
/// | asking  | its answer is whole, and the name is not known | `write` → naming                                |
/// | asking  | invalid at first              | the same `write`: another program may have asked the phone, too  |
/// | asking  | refused, invalid again, or too late | `failed`; the next `write` → asking, or → idle             |
/// | naming  | the name                      | `notification`; the next `write` → asking, or → idle             |
/// | naming  | refused, invalid, or too late | the same without a name, which is not asked for again            |
/// | any     | a notification has gone       | `removed`; a waiting one is not asked for, an answer is dropped  |
///
/// The phone answers one request after the other, so one is asked for at a time.
public struct NotificationReader: Sendable {
  /// An order or a piece of news.
  public enum Action: Hashable, Sendable {
    /// Write this to the Control Point, with a response.
    case write([UInt8])
    /// A notification with its parts, and the name of its application, if the phone has told it.
    case notification(NotificationEvent, [NotificationAttribute: String], app: String?)
    /// A notification has gone.
    case removed(UInt32)
    /// The contents of a notification could not be had; the text says why.
    case failed(NotificationEvent, String)
  }

  /// How many notifications wait at most; further ones replace the oldest, which `failed` tells.
  public static let maximumWaiting = 64
  /// How many names of applications are kept.
  public static let maximumNames = 256
  /// How long an answer may take.
  public static let timeout = Duration.seconds(10)

  private struct Question {
    let event: NotificationEvent
    var answer: Answer
    let deadline: Instant
    /// Whether it was asked for the second time.
    var isRepeated = false
    /// Whether the first octets of its answer came.
    var hasBegun = false
    /// The notification has gone since: the end of the answer is awaited, as the parts of answers do not say which they
    /// belong to.
    var isGone = false

    /// The first octets of its answer: the command, and the notification or application.
    var head: [UInt8] {
      switch answer {
      case .contents: [0] + event.identifier.littleEndianOctets
      case .name(let assembly, _): assembly.head
      }
    }

    /// Whether these octets may be the first ones of its answer.
    func begins(_ data: [UInt8]) -> Bool {
      !data.isEmpty && zip(data, head).allSatisfy { $0 == $1 }
    }
  }

  private enum Answer {
    case contents(AttributeAssembly)
    /// The name of the application, and the parts that came before.
    case name(AppNameAssembly, of: [NotificationAttribute: String])
  }

  private let parts: [NotificationCommand.Part]
  private var waiting: [NotificationEvent] = []
  private var question: Question?
  /// The names of applications by the octets of their identifiers; nil for one that the phone did not tell.
  private var names: [[UInt8]: String?] = [:]

  /// When `tick` has something to do.
  public var deadline: Instant? { question?.deadline }

  /// Begins without notifications.
  /// - Parameter parts: The parts to ask for.
  public init(parts: [NotificationCommand.Part] = Self.usualParts) { self.parts = parts }

  /// All parts that people read.
  public static let usualParts: [NotificationCommand.Part] = [
    .init(.appIdentifier), .init(.title, length: 128), .init(.subtitle, length: 128), .init(.message, length: 1024),
    .init(.date), .init(.positiveActionLabel), .init(.negativeActionLabel),
  ]

  /// Notification Source has notified.
  public mutating func received(_ event: NotificationEvent, at now: Instant) -> [Action] {
    waiting.removeAll { $0.identifier == event.identifier }
    guard event.change != .removed else {
      if question?.event.identifier == event.identifier { question?.isGone = true }
      return [.removed(event.identifier)]
    }
    waiting.append(event)
    var actions: [Action] = []
    if waiting.count > Self.maximumWaiting {
      actions.append(.failed(waiting.removeFirst(), "too many notifications at once"))
    }
    return actions + (question == nil ? next(at: now) : [])
  }

  /// Data Source has notified. Answers that nothing asked for are ignored.
  public mutating func received(data: [UInt8], at now: Instant) -> [Action] {
    guard var asked = question, asked.hasBegun || asked.begins(data) else { return [] }
    asked.hasBegun = true
    switch asked.answer {
    case .contents(var assembly):
      // The octets before were an answer to another program, which asked for other parts of the same notification.
      if data.starts(with: asked.head) { assembly = self.assembly(of: asked.event) }
      switch assembly.received(data) {
      case .incomplete: asked.answer = .contents(assembly)
      case .complete(let parts): return complete(asked, parts, at: now)
      case .invalid(let reason): return invalid(asked, reason, at: now)
      }
    case .name(var assembly, let parts):
      switch assembly.received(data) {
      case .incomplete: asked.answer = .name(assembly, of: parts)
      case .complete(let name): return named(asked, parts, name, at: now)
      case .invalid: return named(asked, parts, nil, at: now)
      }
    }
    question = asked
    return []
  }

  /// An answer does not fit; it may be the one to another program.
  private mutating func invalid(_ asked: Question, _ reason: String, at now: Instant) -> [Action] {
    guard asked.isRepeated || asked.isGone else { return ask(asked.event, isRepeated: true, at: now) }
    return end(asked, .failed(asked.event, reason), at: now)
  }

  /// The contents are whole.
  private mutating func complete(
    _ asked: Question, _ parts: [NotificationAttribute: String], at now: Instant
  ) -> [Action] {
    let app = parts[.appIdentifier] ?? ""
    if asked.isGone || app.isEmpty { return end(asked, .notification(asked.event, parts, app: nil), at: now) }
    if let known = names[Array(app.utf8)] { return end(asked, .notification(asked.event, parts, app: known), at: now) }
    question = Question(
      event: asked.event, answer: .name(AppNameAssembly(app), of: parts), deadline: now.advanced(by: Self.timeout))
    return [.write(NotificationCommand.getAppName(app).octets)]
  }

  /// The name of the application is known, or cannot be had.
  private mutating func named(
    _ asked: Question, _ parts: [NotificationAttribute: String], _ name: String?, at now: Instant
  ) -> [Action] {
    if names.count >= Self.maximumNames { names = [:] }
    let name = name.flatMap { $0.isEmpty ? nil : $0 }
    names[Array((parts[.appIdentifier] ?? "").utf8)] = .some(name)
    return end(asked, .notification(asked.event, parts, app: name), at: now)
  }

  /// The phone has refused the last write.
  public mutating func refused(_ reason: String, at now: Instant) -> [Action] {
    guard let asked = question else { return [] }
    switch asked.answer {
    case .contents: return end(asked, .failed(asked.event, reason), at: now)
    case .name(_, let parts): return named(asked, parts, nil, at: now)
    }
  }

  /// Time has passed.
  public mutating func tick(at now: Instant) -> [Action] {
    guard let question, question.deadline <= now else { return [] }
    return refused("the phone did not answer within \(Self.timeout)", at: now)
  }

  private mutating func end(_ asked: Question, _ action: Action, at now: Instant) -> [Action] {
    question = nil
    return (asked.isGone ? [] : [action]) + next(at: now)
  }

  private mutating func next(at now: Instant) -> [Action] {
    guard !waiting.isEmpty else { return [] }
    return ask(waiting.removeFirst(), isRepeated: false, at: now)
  }

  private mutating func ask(_ event: NotificationEvent, isRepeated: Bool, at now: Instant) -> [Action] {
    question = Question(
      event: event, answer: .contents(assembly(of: event)), deadline: now.advanced(by: Self.timeout),
      isRepeated: isRepeated)
    return [.write(NotificationCommand.getAttributes(notification: event.identifier, parts).octets)]
  }

  private func assembly(of event: NotificationEvent) -> AttributeAssembly {
    AttributeAssembly(notification: event.identifier, parts: parts)
  }
}
