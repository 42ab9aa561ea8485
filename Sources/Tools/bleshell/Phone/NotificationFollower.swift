import BledClient
import BledRPC
import Bluetooth
import PhoneServices

/// Follows the notifications of a phone, and prints a line for each added, changed or removed one.
@MainActor final class NotificationFollower {
  private let phone: Phone
  private var reader = NotificationReader()
  private let beginning = ContinuousClock.now
  /// Ends with the first error, or after all lines.
  private let (ends, end) = AsyncThrowingStream.makeStream(of: Void.self)
  private var tasks: [Task<Void, Never>] = []
  private var timer: Task<Void, Never>?

  init(_ phone: Phone) { self.phone = phone }

  /// Follows until all lines are printed, the phone disconnects, or the task is cancelled.
  /// - Parameter deadline: For the subscriptions.
  func run(_ deadline: Deadline) async throws {
    defer {
      timer?.cancel()
      for task in tasks { task.cancel() }
    }
    let progress = phone.output.progress("Waiting for notifications")
    defer { progress.end() }
    // The answers first: the phone reports its present notifications at once.
    let answers = try await deadline.bound { @MainActor in
      try await self.phone.subscribe(ANCS.service, ANCS.dataSource)
    }
    let events = try await deadline.bound { @MainActor in
      try await self.phone.subscribe(ANCS.service, ANCS.notificationSource)
    }
    phone.isFollowed()
    follow(answers) { $0.reader.received(data: $1, at: $0.now) }
    follow(events) { follower, value in
      progress.end()
      return NotificationEvent(value).map { follower.reader.received($0, at: follower.now) } ?? []
    }
    for try await _ in ends {}
  }

  private var now: Instant { Instant.zero.advanced(by: beginning.duration(to: .now)) }

  private func follow(
    _ values: AsyncThrowingStream<[UInt8], any Error>,
    _ handle: @escaping @MainActor (NotificationFollower, [UInt8]) -> [NotificationReader.Action]
  ) {
    tasks.append(
      Task { @MainActor [weak self] in
        do {
          for try await value in values {
            guard let self else { return }
            perform(handle(self, value))
          }
          guard let self, !Task.isCancelled else { return }
          end.finish(throwing: phone.lost)
        } catch {
          guard let self else { return }
          end.finish(throwing: phone.explained(error))
        }
      })
  }

  private func perform(_ actions: [NotificationReader.Action]) {
    do {
      for action in actions { try perform(action) }
    } catch {
      end.finish(throwing: error)
    }
    if phone.isDone { end.finish() }
    watchDeadline()
  }

  private func perform(_ action: NotificationReader.Action) throws {
    switch action {
    case .write(let octets):
      Task { @MainActor [weak self] in await self?.ask(octets) }
    case .notification(let event, let parts, let app):
      try phone.line("notification", event.object(parts, app), event.text(parts, app, phone.output))
    case .removed(let number):
      try phone.line("notificationRemoved", ["notification": .integer(Int(number))], "removed  \(number)")
    case .failed(let event, let reason):
      phone.output.problem("the contents of notification \(event.identifier) are missing: \(reason)")
    }
  }

  private func ask(_ octets: [UInt8]) async {
    do {
      try await phone.write(octets, to: ANCS.service, ANCS.controlPoint)
    } catch let error as BluetoothError where error.domain == .att {
      perform(reader.refused(NotificationCommand.refusal(error) ?? error.message, at: now))
    } catch {
      end.finish(throwing: error)
    }
  }

  private func watchDeadline() {
    timer?.cancel()
    timer = reader.deadline.map { deadline in
      let wait = max(.zero, now.duration(to: deadline))
      return Task { @MainActor [weak self] in
        guard (try? await Task.sleep(for: wait)) != nil, let self else { return }
        perform(reader.tick(at: now))
      }
    }
  }
}

extension NotificationEvent {
  /// The notification for other programs.
  fileprivate func object(_ parts: [NotificationAttribute: String], _ app: String?) -> [String: JSONValue] {
    var object: [String: JSONValue] = [
      "notification": .integer(Int(identifier)), "change": .text("\(change)"), "category": .text(category.name),
      "categoryCount": .integer(Int(count)), "silent": .bool(flags.contains(.silent)),
      "important": .bool(flags.contains(.important)), "preExisting": .bool(flags.contains(.preExisting)),
    ]
    object["appName"] = app.map { .text($0) }
    let names: [(NotificationAttribute, String)] = [
      (.appIdentifier, "app"), (.title, "title"), (.subtitle, "subtitle"), (.message, "message"), (.date, "sent"),
      (.positiveActionLabel, "positiveAction"), (.negativeActionLabel, "negativeAction"),
    ]
    for (attribute, name) in names {
      if let value = parts[attribute], !value.isEmpty { object[name] = .text(value) }
    }
    return object
  }

  /// "added  Messages  Anna: Dinner at eight?  (7: positive "Reply", negative "Clear")"
  fileprivate func text(_ parts: [NotificationAttribute: String], _ app: String?, _ output: Output) -> String {
    let title = [parts[.title], parts[.subtitle]].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: ", ")
    let contents = [title, parts[.message] ?? ""].filter { !$0.isEmpty }.joined(separator: ": ")
    let sender = Output.clean(app ?? parts[.appIdentifier] ?? category.name)
    let text = "\(change)  \(output.styled(sender, .name))  \(output.styled(Output.clean(contents), .bold))"
    let labels = [("positive", parts[.positiveActionLabel]), ("negative", parts[.negativeActionLabel])]
    let actions = labels.compactMap { name, label in
      label.flatMap { $0.isEmpty ? nil : "\(name) \"\(Output.clean($0))\"" }
    }
    guard !actions.isEmpty else { return text }
    return text + "  " + output.styled("(\(identifier): \(actions.joined(separator: ", ")))", .dim)
  }
}
