import BledRPC
import Bluetooth
import NordicDFU

/// The update of one device with the images of a package, over as many links as it takes.
@MainActor final class PackageUpdate {
  /// The time that a boot loader may take to disconnect behind the last object.
  private static let untilRestart = Duration.seconds(10)

  private let package: DFUPackage
  private let name: String
  private let output: Output
  /// The number of the image.
  private var index = 0
  private var machine: TransferMachine
  private var report: UploadReport
  /// The identifier of the boot loader, once it was connected.
  private(set) var bootLoader: String?

  /// - Parameter name: The file's name.
  init(_ package: DFUPackage, name: String, output: Output) {
    (self.package, self.name, self.output) = (package, name, output)
    machine = TransferMachine(package.images[0])
    report = UploadReport(size: package.images[0].firmware.count, output: output)
  }

  /// True if the device has all images.
  var isFinished: Bool { index == package.images.count }
  /// Octets of all images that the device has.
  var offset: Int { package.images[..<index].reduce(0) { $0 + $1.firmware.count } + (isFinished ? 0 : machine.offset) }
  /// Octets of all images.
  var size: Int { package.images.reduce(0) { $0 + $1.firmware.count } }
  /// True if the link was lost while the boot loader checked the last image.
  var mayBeFinished: Bool { !isFinished && machine.mayBeFinished && index == package.images.count - 1 }

  /// The link was lost.
  func linkIsLost() { machine.linkIsLost() }

  /// Prints the images.
  func announce() throws {
    for image in package.images { try announce(image) }
  }

  private func announce(_ image: DFUPackage.Image) throws {
    let contents = image.contents
    guard output.json else {
      let kind = contents.map { "\($0.kind)" } ?? Output.clean(image.name)
      let version = contents?.firmwareVersion.map { " version \($0)" } ?? ""
      let hardware = contents?.hardwareVersion.map { " for hardware \($0)" } ?? ""
      let unsigned = contents?.isSigned == false ? ", not signed" : ""
      return output.line(
        "\(name): \(kind)\(version)\(hardware), \(octetText(UInt64(image.firmware.count)))\(unsigned)")
    }
    try output.object(
      "image",
      [
        "file": .text(name), "image": .text(image.name), "octets": .integer(image.firmware.count),
        "version": contents?.firmwareVersion.map { .integer(Int($0)) } ?? .null,
        "hardware": contents?.hardwareVersion.map { .integer(Int($0)) } ?? .null,
        "signed": contents.map { .bool($0.isSigned) } ?? .null,
      ] as JSONValue)
  }

  /// Reports that the boot loader was started.
  func entered(_ place: String) throws {
    guard !output.json else { return try output.object("bootLoader", ["device": .text(place)] as JSONValue) }
    output.line("the boot loader is started: \(place)")
  }

  /// Brings the image to the boot loader, which restarts then.
  func upload(_ device: Device) async throws {
    bootLoader = device.peripheral.identifier
    let session = try await DFUSession(device, on: DFUService.controlPoint)
    defer { session.close() }
    let image = package.images[index]
    let progress = output.progress("Uploading \(name)")
    defer { progress.end() }
    let rate = TransferRate(name, size: UInt64(image.firmware.count)) { progress.change($0) }
    try await run(session) { offset in
      rate.reached(UInt64(offset))
      report.reached(offset)
    }
    progress.end()
    if case .failed(let failure) = machine.state {
      let reason = "\(Output.clean(device.name)): \(failure)"
      // The device may have it from an earlier run.
      guard failure == .packetRefused(.version), index + 1 < package.images.count else { throw Failure(reason) }
      output.problem("\(reason); the update continues with the \(package.images[index + 1].name)")
      return turnToNext()
    }
    try report.done()
    turnToNext()
    // The image was taken, even if the boot loader stays.
    do {
      try await session.untilDisconnected(within: Self.untilRestart)
    } catch let error where Keeper.passes(error) {}
  }

  private func turnToNext() {
    index += 1
    guard !isFinished else { return }
    machine = TransferMachine(package.images[index])
    report = UploadReport(size: package.images[index].firmware.count, output: output)
  }

  /// Executes the actions of the machine, and passes on the answers, until there is nothing more to do.
  private func run(_ session: DFUSession, progress: (Int) -> Void) async throws {
    var actions = machine.linkIsUp(packet: session.packet, now: session.now)
    while true {
      for action in actions {
        switch action {
        case .request(let request): try await session.request(request.encoded)
        case .packet(let octets): try await session.packet(octets)
        }
      }
      if !actions.isEmpty { machine.sent(now: session.now) }
      guard let deadline = machine.deadline else { return }
      if let answer = try await session.next(until: .now + session.now.duration(to: deadline)) {
        actions = machine.received(answer, now: session.now)
        if machine.knowsOffset { progress(machine.offset) }
      } else {
        actions = machine.timePassed(now: session.now)
      }
    }
  }

  /// Prints that the update is done.
  func done() throws {
    guard !output.json else { return try output.object("finished", ["octets": .integer(size)] as JSONValue) }
    output.line("the device restarts with it")
  }
}
