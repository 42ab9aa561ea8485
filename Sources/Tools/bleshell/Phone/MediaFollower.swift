import BledClient
import BledRPC
import Bluetooth
import PhoneServices

/// Follows the player of a phone, and prints its state whenever it has changed.
@MainActor final class MediaFollower {
  /// The time for which values are collected into one line: the phone sends each by itself.
  private static let pause = Duration.milliseconds(200)

  private let phone: Phone
  private var state = MediaState()
  /// Ends with the first error, or after all lines.
  private let (ends, end) = AsyncThrowingStream.makeStream(of: Void.self)
  private var printing: Task<Void, Never>?

  init(_ phone: Phone) { self.phone = phone }

  /// Follows until all lines are printed, the phone disconnects, or the task is cancelled.
  /// - Parameter deadline: For the subscriptions.
  func run(_ deadline: Deadline) async throws {
    let progress = phone.output.progress("Waiting for the player")
    let values = try await deadline.bound { @MainActor in
      let values = try await self.phone.subscribe(AMS.service, AMS.entityUpdate)
      for value in MediaAttribute.subscriptions { try await self.phone.write(value, to: AMS.service, AMS.entityUpdate) }
      return values
    }
    phone.isFollowed()
    let following = Task { @MainActor [weak self] in
      do {
        for try await value in values {
          progress.end()
          try await self?.receive(value)
        }
        if let self, !Task.isCancelled { end.finish(throwing: phone.lost) }
      } catch {
        guard let self else { return }
        end.finish(throwing: phone.explained(error))
      }
    }
    defer {
      progress.end()
      following.cancel()
      printing?.cancel()
    }
    for try await _ in ends {}
  }

  private func receive(_ value: [UInt8]) async throws {
    guard var update = MediaUpdate(value) else { return }
    if update.isTruncated, let whole = try await whole(of: update.attribute) { update.value = whole }
    guard state.update(update), printing == nil else { return }
    printing = Task { @MainActor [weak self] in
      guard (try? await Task.sleep(for: Self.pause)) != nil else { return }
      self?.printState()
    }
  }

  /// The whole of a truncated value; nil if the player no longer has one, which an update reports.
  private func whole(of attribute: MediaAttribute) async throws -> String? {
    do {
      try await phone.write(attribute.octets, to: AMS.service, AMS.entityAttribute)
      let whole = try await phone.read(AMS.service, AMS.entityAttribute)
      return String(decoding: whole.prefix(MediaUpdate.maximumLength), as: UTF8.self)
    } catch let error as BluetoothError where error.domain == .att && [0xA0, 0xA2].contains(error.code) {
      return nil
    }
  }

  private func printState() {
    printing = nil
    do {
      try phone.line("media", state.object, state.text(phone.output))
      if phone.isDone { end.finish() }
    } catch {
      end.finish(throwing: error)
    }
  }
}

extension MediaState {
  /// The state for other programs.
  fileprivate var object: [String: JSONValue] {
    var object: [String: JSONValue] = [:]
    object["state"] = playback.map { .text("\($0)") }
    let numbers = [("rate", rate), ("elapsed", elapsed), ("duration", duration), ("volume", volume)]
    for (name, number) in numbers { object[name] = number.map { .number($0) } }
    let texts: [(String, MediaAttribute)] = [
      ("player", .playerName), ("artist", .artist), ("album", .album), ("title", .title),
    ]
    for (name, attribute) in texts {
      if let value = values[attribute], !value.isEmpty { object[name] = .text(value) }
    }
    let counts: [(String, MediaAttribute)] = [("queueIndex", .queueIndex), ("queueCount", .queueCount)]
    for (name, attribute) in counts { object[name] = values[attribute].flatMap { Int($0) }.map { .integer($0) } }
    let modes: [(String, MediaAttribute, [String])] = [
      ("shuffle", .shuffleMode, ["off", "one", "all"]), ("repeat", .repeatMode, ["off", "one", "all"]),
    ]
    for (name, attribute, words) in modes {
      let number = values[attribute].flatMap { Int($0) }
      object[name] = number.flatMap { words.indices.contains($0) ? .text(words[$0]) : nil }
    }
    return object
  }

  /// "playing  Nina Simone - Sinnerman  1:02 of 10:20  volume 50 %  (Music)"
  fileprivate func text(_ output: Output) -> String {
    let track = [values[.artist], values[.title]].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: " - ")
    let times: [Double?] = [elapsed, duration]
    let places = times.compactMap(\.self).map(Self.clock).joined(separator: " of ")
    let percent = volume.map { Int(($0 * 100).rounded()) }
    let player = values[.playerName] ?? ""
    let parts: [String] = [
      playback.map { "\($0)" } ?? "no player", output.styled(Output.clean(track), .bold), places,
      percent.map { "volume \($0) %" } ?? "", player.isEmpty ? "" : "(\(Output.clean(player)))",
    ]
    return parts.filter { !$0.isEmpty }.joined(separator: "  ")
  }

  /// "1:02"; a number from outside may be any.
  private static func clock(_ seconds: Double) -> String {
    let whole = Int(min(max(seconds, 0), 359_999))
    return "\(whole / 60):\(whole % 60 < 10 ? "0" : "")\(whole % 60)"
  }
}
