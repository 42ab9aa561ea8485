import ArgumentParser
import Bluetooth
import MCUmgr

/// `bleshell dfu`
struct DFUCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "dfu", abstract: "Updates the firmware of a device, with MCUmgr or Nordic's Secure DFU.",
    usage: "bleshell dfu [<device>] <file> [--test | --confirm] [--reset]",
    discussion: """
      The file is an image for MCUboot, mostly called .signed.bin, or a package for Nordic's Secure DFU, a .zip. An \
      image is uploaded, unless the device has it. With --test the device starts it at the next reset, once; with \
      --confirm from then on. --reset restarts the device and looks which image runs. A package is uploaded to the \
      boot loader, which the application starts, and which checks and starts the firmware. An upload is continued \
      after a lost link. docs/firmware.md has updates step by step.
      """)

  @Argument(help: "The device (default: the current one) and the file.", completion: .file())
  var words: [String] = []
  @Flag(help: "Start the image once, at the next reset; without a confirmation the one after it undoes that.")
  var test = false
  @Flag(help: "Start the image from the next reset on, or confirm it if it runs.") var confirm = false
  @Flag(help: "Restart the device, and wait until it is back.") var reset = false
  @OptionGroup(title: "Reaching the device") var connection: ReconnectionOptions
  @OptionGroup(title: "Common options") var global: GlobalOptions

  /// Seconds that a device may take to exchange its images.
  private static let restart = 90.0
  /// How long it may stay connected after its answer to a reset.
  private static let untilReset = Duration.seconds(10)

  func validate() throws {
    guard !test || !confirm else { throw ValidationError("--test and --confirm: give one of them") }
  }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let (device, rest) = try words(words, "FILE")
    let octets = try await Task.detached { try FileWriting.read(rest[0]) }.value
    let name = rest[0].split(separator: "/").last.map(String.init) ?? rest[0]
    guard !octets.starts(with: Array("PK".utf8)) else {
      return try await update(octets, called: name, device, in: shell, output)
    }
    let image: FirmwareImage
    do throws(FirmwareImage.Fault) {
      image = try FirmwareImage(octets)
    } catch {
      throw Failure("\(rest[0]): \(error)")
    }
    let update = FirmwareUpdate(image, name: name, output: output)
    try update.announce()
    let first = connection.deadline
    try await lasting(update, output) {
      let deadline = update.device == nil ? first : connection.deadline
      let name = device ?? update.device
      try await shell.use(name, within: deadline, over: connection.adapter, onlyConnecting: true) { device in
        try await device.manage { session in
          try await update.upload(session)
          if test || confirm { try await update.choose(test ? .test : .confirm, session) }
          if reset { try await restart(session) }
        }
      }
    }
    guard reset, let device = device ?? update.device else { return }
    try await verify(update, device, in: shell, output)
  }

  /// Runs a function, again after each lost link.
  @MainActor private func lasting(
    _ update: FirmwareUpdate, _ output: Output, _ body: @MainActor () async throws -> Void
  ) async throws {
    var losses = UploadLosses()
    while true {
      do {
        return try await body()
      } catch let error where Keeper.passes(error) && update.device != nil {
        try Task.checkCancellation()
        update.linkIsLost()
        guard losses.add(at: update.offset) else { throw error }
        let size = update.image.octets.count
        output.problem("\(Keeper.message(error)); it is continued after \(update.offset) of \(size) octets")
      }
      try await Task.sleep(for: .seconds(1))
    }
  }

  /// Restarts the device, which may disconnect instead of answering.
  @MainActor private func restart(_ session: ManagementSession) async throws {
    do {
      _ = try await session.call(.reset, repeats: false)
      let end = ContinuousClock.now + Self.untilReset
      while try await session.next(until: end) != nil {}
    } catch let error where Keeper.passes(error) {}
  }

  /// Waits until the device is back, and compares the image that runs.
  @MainActor private func verify(
    _ update: FirmwareUpdate, _ device: String, in shell: Shell, _ output: Output
  ) async throws {
    let deadline = Deadline(limit: Self.restart)
    while true {
      do {
        try await shell.use(device, within: deadline, over: connection.adapter, onlyConnecting: true) { device in
          let isRunning = try await device.manage { try await update.isRunning($0) }
          guard isRunning || !(test || confirm) else {
            throw Failure("\(Output.clean(device.name)) does not run \(update.image.version): it kept its old image")
          }
        }
        return
      } catch let error where Keeper.passes(error) && !deadline.isOver {
        try Task.checkCancellation()
      }
      try await Task.sleep(for: .seconds(1))
    }
  }
}
