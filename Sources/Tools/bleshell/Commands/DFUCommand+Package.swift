import Bluetooth
import NordicDFU

/// Packages for Nordic's Secure DFU.
extension DFUCommand {
  /// Seconds that a boot loader may take to install a SoftDevice, and to start again.
  private static let installation = 60.0

  /// Updates a device with a package.
  /// - Parameters:
  ///   - octets: The file.
  ///   - name: Its name.
  ///   - device: The device; nil for the current one.
  @MainActor func update(
    _ octets: [UInt8], called name: String, _ device: String?, in shell: Shell, _ output: Output
  ) async throws {
    guard !test, !confirm, !reset else {
      throw Failure(
        "a package for Nordic's Secure DFU is started by the boot loader: leave out --test, --confirm and --reset",
        status: 64)
    }
    let package: DFUPackage
    do throws(DFUPackage.Fault) {
      package = try DFUPackage(octets)
    } catch {
      throw Failure("\(Output.clean(name)): \(error)")
    }
    let update = PackageUpdate(package, name: Output.clean(name), output: output)
    try update.announce()
    var place = device
    var hasEntered = false
    var losses = 0
    var deadline = connection.deadline
    while !update.isFinished {
      let before = update.offset
      do {
        try await shell.use(place, within: deadline, over: connection.adapter, onlyConnecting: true) { device in
          switch try await DFUSession.place(device) {
          case .application(let characteristic):
            guard update.bootLoader == nil else {
              throw Failure("\(Output.clean(device.name)) has left its boot loader before the update was done")
            }
            guard !hasEntered else {
              throw Failure("\(Output.clean(device.name)) restarted without starting its boot loader")
            }
            place = try await BootLoaderEntry.enter(device, by: characteristic)
            hasEntered = true
            try update.entered(place ?? "")
          case .bootLoader: try await update.upload(device)
          }
        }
        place = update.bootLoader ?? place
        deadline = update.bootLoader == nil ? connection.deadline : Deadline(limit: Self.installation)
      } catch let error where Keeper.passes(error) && update.bootLoader != nil {
        try Task.checkCancellation()
        guard !update.mayBeFinished || update.offset > before else { throw Self.lost(error) }
        update.linkIsLost()
        place = update.bootLoader
        losses = update.offset > before ? 0 : losses + 1
        guard losses < Self.mostLosses else { throw error }
        output.problem("\(Keeper.message(error)); it is continued after \(update.offset) of \(update.size) octets")
        deadline = connection.deadline
        try await Task.sleep(for: .seconds(1))
      }
    }
    try update.done()
  }

  /// The link was lost during the last check, and the boot loader is away since.
  @MainActor private static func lost(_ error: any Error) -> Failure {
    Failure(
      "\(Keeper.message(error)); the device has all of the firmware, and did not say if it took it: it may run it")
  }
}
