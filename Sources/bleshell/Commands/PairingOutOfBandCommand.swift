import ArgumentParser
import BledClient
import BledRPC
import Bluetooth

/// `bleshell pairing oob`
struct PairingOutOfBandCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "oob", abstract: "Makes data with which a device pairs without a question, until Ctrl-C.",
    discussion: """
      Give them to the device by another way than the air: a QR code, NFC, a cable. Whoever has them may pair while this \
      command runs. What another device gave goes to "bleshell pair --oob".
      """)

  @Option(help: "The adapter (default: the first).", completion: ShellCompletion.adapters) var adapter: String?
  @Option(help: "Stop after this many seconds.") var time: Double?
  @OptionGroup var global: GlobalOptions

  func validate() throws { try checkTime(time) }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let client = try await shell.connection()
    let ended = client.notifications(PairingEnded.self)
    let data = try await client.call(PairingReadOutOfBand.self, .init(adapter: adapter))
    if output.json {
      try output.object(data)
    } else {
      output.line("address       \(data.address) \(data.addressType)")
      output.line("confirmation  \(Hex.encode(data.confirmation.octets))")
      output.line("random        \(Hex.encode(data.random.octets))")
      output.problem("devices with these data may pair; Ctrl-C ends it")
    }
    do {
      _ = try await withDeadline(time ?? 0) { @MainActor in
        for try await pairing in ended { PairingAnswerCommand.show(pairing, output) }
        try Task.checkCancellation()
      }
    } catch is CancellationError where time == nil {
      // Ctrl-C is the regular end.
    }
  }
}

extension PairCommand {
  /// Hands over a device's data: two values of 32 hex digits with a colon between.
  static func give(_ text: String, of address: String, _ type: Word<DeviceAddress.Kind>, to client: BledClient)
    async throws
  {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Hex.decode(String($0)) }
    guard parts.count == 2, let confirmation = parts[0], let random = parts[1], confirmation.count == 16,
      random.count == 16
    else { throw Failure("--oob takes CONFIRMATION:RANDOM, two values of 32 hex digits") }
    guard let kind = type.known else { throw Failure("the device has an address of a type that is not known here") }
    _ = try await client.call(
      PairingSetOutOfBand.self,
      .init(
        address: address, addressType: kind, confirmation: HexBytes(confirmation), random: HexBytes(random)))
  }
}
