import BledRPC
import Bluetooth
import MCUmgr

/// The update of one device with an image, over as many links as it takes.
@MainActor final class FirmwareUpdate {
  /// The use of an image that the device has.
  enum Choice { case test, confirm }

  let image: FirmwareImage
  private let name: String
  private let output: Output
  private var machine: UploadMachine
  private var isOnDevice = false
  /// The identifier of the device, once it has answered.
  private(set) var device: String?
  private var report: UploadReport

  /// - Parameter name: The file's name.
  init(_ image: FirmwareImage, name: String, output: Output) {
    (self.image, self.name, self.output) = (image, name, output)
    machine = UploadMachine(image.octets, hash: image.fileHash)
    report = UploadReport(size: image.octets.count, output: output)
  }

  /// The octets that the device has.
  var offset: Int { isOnDevice ? image.octets.count : machine.offset }

  /// The link was lost.
  func linkIsLost() { machine.linkIsLost() }

  /// Prints the image.
  func announce() throws {
    guard output.json else {
      let unsigned = image.isSigned ? "" : ", not signed"
      return output.line("\(name): version \(image.version), hash \(shortHash)\(unsigned)")
    }
    try output.object(
      "image",
      [
        "file": .text(name), "version": .text("\(image.version)"), "hash": .text(Hex.encode(image.hash)),
        "octets": .integer(image.octets.count), "signed": .bool(image.isSigned),
      ] as JSONValue)
  }

  /// Brings the image to the device, unless it has it.
  func upload(_ session: ManagementSession) async throws {
    // After a lost link it may have been reported.
    guard !isOnDevice else { return }
    let isThere = try await isThere(session)
    device = session.device.peripheral.identifier
    if isThere {
      isOnDevice = true
      return try done(session.device)
    }
    let parameters = try await parameters(session)
    let progress = output.progress("Uploading \(name)")
    defer { progress.end() }
    let rate = TransferRate(name, size: UInt64(image.octets.count)) { progress.change($0) }
    try await run(session, parameters) { offset in
      rate.reached(UInt64(offset))
      report.reached(offset)
    }
    progress.end()
    if case .failed(let failure) = machine.state {
      throw Failure("\(Output.clean(session.device.name)): \(failure)")
    }
    guard try await self.isThere(session) else {
      throw Failure(
        "\(Output.clean(session.device.name)) received all octets, but lists no image with the hash \(shortHash): "
          + "\"mcumgr \(Output.clean(session.device.name)) images\" shows its images")
    }
    isOnDevice = true
    try done(session.device)
  }

  /// Sends the parts, and passes on the answers, until there is nothing more to do.
  private func run(
    _ session: ManagementSession, _ parameters: ManagementParameters?, progress: (Int) -> Void
  ) async throws {
    var frames = machine.linkIsUp(packet: session.packet, parameters: parameters, now: session.now)
    while true {
      for frame in frames { try await session.send(frame) }
      if !frames.isEmpty { machine.sent(now: session.now) }
      guard let deadline = machine.deadline else { return }
      if let frame = try await session.next(until: .now + session.now.duration(to: deadline)) {
        frames = machine.received(frame, now: session.now)
        progress(machine.offset)
      } else {
        frames = machine.timePassed(now: session.now)
      }
    }
  }

  /// Has the image started at the next reset.
  func choose(_ choice: Choice, _ session: ManagementSession) async throws {
    let active = try await states(session).first { $0.isActive && $0.hash == image.hash }
    if choice == .confirm || active == nil {
      _ = try await session.call(.setImageState(hash: image.hash, confirm: choice == .confirm))
    }
    guard !output.json else {
      return try output.object(
        "chosen", ["confirmed": .bool(choice == .confirm), "active": .bool(active != nil)] as JSONValue)
    }
    switch (choice, active != nil) {
    case (.confirm, true): output.line("\(image.version) runs, and is confirmed")
    case (.test, true): output.line("\(image.version) runs already")
    case (.confirm, false): output.line("\(image.version) runs from the next reset on")
    case (.test, false): output.line("\(image.version) is tested at the next reset")
    }
  }

  /// Prints the image that the device runs.
  /// - Returns: Whether it is this one.
  /// - Throws: `Failure`, which passes, for a device that has not restarted yet.
  func isRunning(_ session: ManagementSession) async throws -> Bool {
    let states = try await states(session)
    guard !states.contains(where: { $0.hash == image.hash && $0.isPending }) else {
      let name = Output.clean(session.device.name)
      throw Failure("\(name) has not taken \(image.version) yet, which waits for a reset", passes: true)
    }
    let active = states.first { $0.isActive }
    let isRunning = active?.hash == image.hash
    guard !output.json else {
      try output.object(
        "running",
        [
          "version": active.map { .text($0.version) } ?? .null,
          "hash": active?.hash.map { .text(Hex.encode($0)) } ?? .null, "confirmed": .bool(active?.isConfirmed ?? false),
          "expected": .bool(isRunning),
        ] as JSONValue)
      return isRunning
    }
    let version = active.map { Output.clean($0.version) } ?? "no image that it lists"
    let next = isRunning && active?.isConfirmed == false ? ", until its next reset: \"dfu … --confirm\" keeps it" : ""
    output.line("\(Output.clean(session.device.name)) runs \(version)\(next)")
    return isRunning
  }

  // MARK: - Details

  private var shortHash: String { Hex.encode(Array(image.hash.prefix(4))) + Output.ellipsis }

  private func states(_ session: ManagementSession) async throws -> [ImageState] {
    try ImageState.list(try await session.call(.imageState))
  }

  private func isThere(_ session: ManagementSession) async throws -> Bool {
    try await states(session).contains { $0.hash == image.hash }
  }

  /// The buffers of the device, which not every device reports.
  private func parameters(_ session: ManagementSession) async throws -> ManagementParameters? {
    do {
      return ManagementParameters(try await session.call(.parameters))
    } catch is ManagementError {
      return nil
    } catch let error as Failure where error.passes {
      // Some devices ignore a request that they do not know.
      return nil
    }
  }

  /// Prints that the device has the image.
  private func done(_ device: Device) throws {
    guard !report.hasBegun, !output.json else { return try report.done() }
    output.line("\(Output.clean(device.name)) has this image already")
  }
}
