import BledClient
import BledRPC
import Bluetooth
import FoundationEssentials
import PhoneServices

/// A connected phone, and the lines about it.
@MainActor final class Phone {
  private let device: Device
  let output: Output
  /// How many lines are still to come; nil: no limit.
  private var left: Int?

  init(device: Device, output: Output, left: Int?) {
    (self.device, self.output, self.left) = (device, output, left)
  }

  /// Whether all lines came.
  var isDone: Bool { left == 0 }

  /// The phone has disconnected while it was followed.
  var lost: Failure { Failure("\(device.name) disconnected", passes: true) }

  /// Prints a line about the phone, unless all came.
  /// - Parameter text: The line for people.
  func line(_ kind: String, _ object: [String: JSONValue], _ text: String) throws {
    guard !isDone else { return }
    left = left.map { $0 - 1 }
    let now = Date()
    guard output.json else { return output.line(output.styled(clockText(now), .dim) + "  " + text) }
    let phone: [String: JSONValue] = [
      "peripheral": .text(device.peripheral.identifier), "device": .text(device.name),
    ]
    try output.object(kind, object.merging(phone) { $1 }, at: now.timeIntervalSince1970)
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
      guard error.domain == .bled, error.code == BledError.unknownAttribute.rawValue else { throw error }
      throw Failure(
        """
        \(device.name) does not serve this here: an iPhone does to a device that it is bonded with, on a link that is \
        encrypted; "bleshell pair" pairs
        """)
    }
  }

  // MARK: Time, and commands

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

  /// Has the player do something.
  func perform(_ command: MediaCommand) async throws {
    let lists = try await subscribe(AMS.service, AMS.remoteCommand)
    // The phone tells at once which commands the player takes now, if there is one.
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
