import Bluetooth

/// Follows a phone's notifications, and requests the contents of each, and once the name of each application.
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
/// The phone answers requests in sequence, so there is one request at a time.
public struct NotificationReader: Sendable {
  /// An order or a piece of news.
  public enum Action: Hashable, Sendable {
    /// Write this to the Control Point, with a response.
    case write([UInt8])
    /// A notification with its parts, and its application's name, if the phone has sent it.
    case notification(NotificationEvent, [NotificationAttribute: String], app: String?)
    /// A notification was removed.
    case removed(UInt32)
    /// A notification's contents could not be obtained; the text has the reason.
    case failed(NotificationEvent, String)
  }

  /// Maximum waiting notifications; further ones replace the oldest, as reported by `failed`.
  public static let maximumWaiting = 64
  /// Maximum kept application names.
  public static let maximumNames = 256
  /// Maximum time for an answer.
  public static let timeout = Duration.seconds(10)

  private struct Question {
    let event: NotificationEvent
    var answer: Answer
    let deadline: Instant
    /// True if it was requested for the second time.
    var isRepeated = false
    /// True if its answer's first octets were received.
    var hasBegun = false
    /// The notification was removed since: the answer's end is awaited, as answers' parts do not identify their
    /// requests.
    var isGone = false

    /// Its answer's first octets: the command, and the notification or application.
    var head: [UInt8] {
      switch answer {
      case .contents: [0] + event.identifier.littleEndianOctets
      case .name(let assembly, _): assembly.head
      }
    }

    /// True if these octets may begin its answer.
    func begins(_ data: [UInt8]) -> Bool {
      !data.isEmpty && zip(data, head).allSatisfy { $0 == $1 }
    }
  }

  private enum Answer {
    case contents(AttributeAssembly)
    /// The application's name, and the earlier parts.
    case name(AppNameAssembly, of: [NotificationAttribute: String])
  }

  private let parts: [NotificationCommand.Part]
  private var waiting: [NotificationEvent] = []
  private var question: Question?
  /// The names of applications by their identifiers' octets; nil for one not sent by the phone.
  private var names: [[UInt8]: String?] = [:]

  /// When `tick` has something to do.
  public var deadline: Instant? { question?.deadline }

  /// Begins without notifications.
  /// - Parameter parts: The parts to ask for.
  public init(parts: [NotificationCommand.Part] = Self.usualParts) { self.parts = parts }

  /// All parts meant for people.
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

  /// A Data Source notification was received. Answers without a request are ignored.
  public mutating func received(data: [UInt8], at now: Instant) -> [Action] {
    guard var asked = question, asked.hasBegun || asked.begins(data) else { return [] }
    asked.hasBegun = true
    switch asked.answer {
    case .contents(var assembly):
      // The octets before answered another program, which requested other parts of the same notification.
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

  /// The application's name is known, or cannot be obtained.
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
