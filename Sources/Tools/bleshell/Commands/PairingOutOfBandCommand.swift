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
  @OptionGroup(title: "Common options") var global: GlobalOptions

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
      if let key = data.temporaryKey { output.line("key           \(Hex.encode(key.octets))") }
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
  /// Hands over a device's data, values of 32 hex digits with colons between: the confirmation value and the random
  /// one, a temporary key, or all three.
  static func give(_ text: String, of address: String, _ type: Word<DeviceAddress.Kind>, to client: BledClient)
    async throws
  {
    let texts = text.split(separator: ":", omittingEmptySubsequences: false)
    let values = texts.compactMap { Hex.decode(String($0)) }.filter { $0.count == 16 }.map(HexBytes.init)
    guard values.count == texts.count, (1...3).contains(values.count) else {
      throw Failure("--oob takes CONFIRMATION:RANDOM, KEY or CONFIRMATION:RANDOM:KEY, values of 32 hex digits")
    }
    guard let kind = type.known else { throw Failure("the device has an address of a type that is not known here") }
    _ = try await client.call(
      PairingSetOutOfBand.self,
      .init(
        address: address, addressType: kind, confirmation: values.count > 1 ? values[0] : nil,
        random: values.count > 1 ? values[1] : nil, temporaryKey: values.count == 2 ? nil : values.last))
  }
}
