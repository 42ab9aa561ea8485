import BledClient
import BledRPC
import Bluetooth
import PhoneServices

/// A connected phone, and the lines about it.
@MainActor final class Phone {
  private let device: Device
  private let lines: PhoneLines
  /// Called when the phone is followed.
  private let begins: () -> Void

  init(device: Device, _ lines: PhoneLines, begins: @escaping () -> Void = {}) {
    (self.device, self.lines, self.begins) = (device, lines, begins)
  }

  var output: Output { lines.output }

  /// True after all lines.
  var isDone: Bool { lines.isDone }

  /// The subscriptions are active.
  func isFollowed() { begins() }

  /// The phone has disconnected while it was followed.
  var lost: Failure { Failure("\(device.name) disconnected", passes: true) }

  /// Prints a line about the phone, unless there were enough.
  /// - Parameter text: The line for people.
  func line(_ kind: String, _ object: [String: JSONValue], _ text: String) throws {
    try lines.add(kind, object, text, about: device)
  }

  // MARK: Attributes

  /// - Throws: `Failure` if the phone does not serve it, or not without a bond.
  func read(_ service: BluetoothUUID, _ characteristic: BluetoothUUID) async throws -> [UInt8] {
    try await explained { () async throws(BluetoothError) in
      try await self.device.peripheral.read(.characteristic(characteristic, of: service))
    }
  }

  /// Writes with a response; otherwise as `read`.
  func write(_ value: [UInt8], to service: BluetoothUUID, _ characteristic: BluetoothUUID) async throws {
    try await explained { () async throws(BluetoothError) in
      try await self.device.peripheral.write(value, to: .characteristic(characteristic, of: service))
    }
  }

  /// The values of a characteristic; otherwise as `read`.
  func subscribe(
    _ service: BluetoothUUID, _ characteristic: BluetoothUUID
  ) async throws -> AsyncThrowingStream<[UInt8], any Error> {
    try await explained { () async throws(BluetoothError) in
      try await self.device.peripheral.subscribe(.characteristic(characteristic, of: service))
    }
  }

  private func explained<Value>(
    _ body: () async throws(BluetoothError) -> Value
  ) async throws -> Value {
    do throws(BluetoothError) {
      return try await body()
    } catch {
      throw explained(error)
    }
  }

  /// An error of the phone, in words for people. The phone may publish and remove its services at any time.
  func explained(_ error: any Error) -> any Error {
    guard let bled = error as? BluetoothError, bled.domain == .bled else { return error }
    switch bled.code {
    case BledError.unknownAttribute.rawValue:
      return Failure(
        """
        \(device.name) does not serve this here: an iPhone does to a device that it is bonded with, on a link that is \
        encrypted; "bleshell pair" pairs
        """, passes: true)
    case BledError.unknownHandle.rawValue: return Failure("the services of \(device.name) changed", passes: true)
    default: return error
    }
  }

  // MARK: Time, actions and commands

  /// Prints the phone's time.
  func printTime() async throws {
    let value = try await read(CurrentTime.service, CurrentTime.characteristic)
    guard let time = CurrentTime(value) else {
      throw Failure("\(device.name) has no time: \(value.isEmpty ? "(empty)" : Hex.encode(value))")
    }
    guard output.json else { return output.line(time.text) }
    var object: [String: JSONValue] = ["local": .text(time.text)]
    object["dayOfWeek"] = time.dayOfWeek.map { .integer($0) }
    try line("time", object, time.text)
  }

  /// Performs an action of a notification.
  func perform(_ action: NotificationAction) async throws {
    let answers = try await subscribe(ANCS.service, ANCS.dataSource)
    let label = try await label(of: action, answers)
    let command = NotificationCommand.perform(notification: action.notification, isPositive: action.isPositive)
    do {
      try await write(command.octets, to: ANCS.service, ANCS.controlPoint)
    } catch let error as BluetoothError {
      guard let reason = NotificationCommand.refusal(error) else { throw error }
      throw Failure("the phone refused \"\(Output.clean(label))\" of notification \(action.notification): \(reason)")
    }
    let object: [String: JSONValue] = [
      "notification": .integer(Int(action.notification)), "action": .text(action.name), "label": .text(label),
    ]
    try line("notificationAction", object, "\(action.name)  \(action.notification)  \(Output.clean(label))")
  }

  /// The phone's word for an action.
  /// - Throws: `Failure` if the notification was removed, or has no such action.
  private func label(
    of action: NotificationAction, _ answers: AsyncThrowingStream<[UInt8], any Error>
  ) async throws -> String {
    var reader = NotificationReader(parts: [.init(.positiveActionLabel), .init(.negativeActionLabel)])
    let event = NotificationEvent(
      change: .added, flags: [], category: .init(rawValue: 0), count: 1, identifier: action.notification)
    for case .write(let octets) in reader.received(event, at: .zero) { try await ask(octets, about: action) }
    let found = try await withDeadline(10) { @MainActor in
      for try await answer in answers {
        for step in reader.received(data: answer, at: .zero) {
          switch step {
          case .write(let octets): try await self.ask(octets, about: action)
          case .notification(_, let labels, _): return labels
          case .failed(_, let reason): throw Failure("notification \(action.notification): \(reason)")
          case .removed: break
          }
        }
      }
      throw self.lost
    }
    guard let found else { throw Failure("the phone did not tell the actions of notification \(action.notification)") }
    let words = [true: found[.positiveActionLabel] ?? "", false: found[.negativeActionLabel] ?? ""]
    if let word = words[action.isPositive], !word.isEmpty { return word }
    let other = words[!action.isPositive] ?? ""
    throw Failure(
      "notification \(action.notification) has no \(action.name) action"
        + (other.isEmpty ? "" : ", but the \(action.opposite) \"\(Output.clean(other))\""))
  }

  private func ask(_ octets: [UInt8], about action: NotificationAction) async throws {
    do {
      try await write(octets, to: ANCS.service, ANCS.controlPoint)
    } catch let error as BluetoothError {
      guard let reason = NotificationCommand.refusal(error) else { throw error }
      throw Failure("notification \(action.notification): \(reason)")
    }
  }

  /// Makes the player execute a command.
  func perform(_ command: MediaCommand) async throws {
    let lists = try await subscribe(AMS.service, AMS.remoteCommand)
    // The phone reports at once the commands that the player now accepts, if there is one.
    let taken = try await withDeadline(2) {
      for try await list in lists { return MediaCommand.list(list) }
      return []
    }
    if let taken, !taken.contains(command) {
      let others = taken.map { "\($0)" }.sorted().joined(separator: ", ")
      throw Failure("the player does not take \(command) now\(others.isEmpty ? "" : ", but \(others)")")
    }
    do {
      try await write(command.octets, to: AMS.service, AMS.remoteCommand)
    } catch let error as BluetoothError {
      guard error.domain == .att, let reason = UInt8(exactly: error.code).flatMap(AMS.refusal) else { throw error }
      throw Failure("the phone refused \(command): \(reason)")
    }
  }
}
