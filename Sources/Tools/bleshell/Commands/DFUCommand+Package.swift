import Bluetooth
import NordicDFU

/// Packages for Nordic's Secure DFU.
extension DFUCommand {
  /// Seconds that a boot loader may take to install a SoftDevice, and to start again.
  private static let installation = 60.0

  /// The limit for the wait for the boot loader between two images, in seconds; 0: none.
  /// - Parameter limit: The one of the command; nil without one.
  static func limit(ofInstallation limit: Double?) -> Double {
    limit.map { $0 == 0 ? 0 : max($0, installation) } ?? installation
  }

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
    var losses = UploadLosses()
    var loss: (any Error)?
    var deadline = connection.deadline
    while !update.isFinished {
      do {
        try await shell.use(place, within: deadline, over: connection.adapter, onlyConnecting: true) { [loss] device in
          switch try await DFUSession.place(device) {
          case .application(let characteristic):
            if let loss, update.mayBeFinished { throw Self.lost(loss) }
            guard update.bootLoader == nil else {
              throw Failure("\(Output.clean(device.name)) has left its boot loader before the update was done")
            }
            guard !hasEntered else {
              throw Failure("\(Output.clean(device.name)) restarted without starting its boot loader")
            }
            let entry = try await BootLoaderEntry.enter(device, by: characteristic)
            guard entry.isAnswered || losses.add(at: 0) else {
              throw Failure("\(Output.clean(device.name)) disconnects when its boot loader is requested")
            }
            (place, hasEntered) = (entry.place, entry.isAnswered)
            try update.entered(entry.place)
          case .bootLoader: try await update.upload(device)
          }
        }
        place = update.bootLoader ?? place
        let limit = update.bootLoader == nil ? connection.limit : Self.limit(ofInstallation: connection.limit)
        deadline = Deadline(limit: limit)
      } catch let error where Keeper.passes(error) && update.bootLoader != nil {
        try Task.checkCancellation()
        guard !update.mayBeFinished else { throw Self.lost(error) }
        loss = error
        update.linkIsLost()
        place = update.bootLoader
        guard losses.add(at: update.offset) else { throw error }
        output.problem("\(Keeper.message(error)); it is continued after \(update.offset) of \(update.size) octets")
        deadline = connection.deadline
        try await Task.sleep(for: .seconds(1))
      }
    }
    try update.done()
  }

  /// The link was lost during the last check, and the boot loader is away since, or the application runs.
  @MainActor private static func lost(_ error: any Error) -> Failure {
    Failure(
      "\(Keeper.message(error)); the device has all of the firmware, and did not say if it took it: it may run it")
  }
}
