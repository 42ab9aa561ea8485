import ArgumentParser
import BledClient
import BledRPC
import Bluetooth

/// `bleshell pair`
struct PairCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "pair", abstract: "Pairs with a device, or encrypts the connection with the keys of a bond.",
    usage: "bleshell pair [<device>] [--level <level>] [--yes] [--passkey <passkey>] [--oob <data>]",
    discussion: """
      On a terminal it asks what must be known: whether two numbers are equal, or the passkey that the device shows. \
      Without a terminal it pairs without a check (Just Works), unless --yes or --passkey says what to answer.
      """)

  @Argument(help: "The device (default: the current one).", completion: ShellCompletion.devices)
  var device: [String] = []
  @Option(help: "The protection to reach (default: encrypted).") var level: SecurityLevel?
  @Flag(help: "Answer every question with yes, also whether numbers are equal.") var yes = false
  @Option(help: "The passkey that the device shows, six digits.") var passkey: String?
  @Option(
    help: """
      The data of the device by another way than the air, 32 hex digits each: CONFIRMATION:RANDOM, the KEY of legacy \
      pairing, or CONFIRMATION:RANDOM:KEY.
      """)
  var oob: String?
  @OptionGroup(title: "Reaching the device") var connection: ConnectionOptions
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func validate() throws { try checkPasskey(passkey) }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let client = try await shell.connection()
    let person = PairingPerson(output: output, answersYes: yes, passkey: passkey)
    let observation = client.observe(
      PairingShowPasskey.self,
      value: { if $0.entered == 0 { person.show("type this passkey at the device: \($0.passkey)") } }, end: { _ in })
    defer { observation.cancel() }
    if let agent = person.agent { try await client.answerPairings(with: agent) }
    do {
      try await shell.use(words(device).device, within: connection.deadline, over: connection.adapter) { device in
        let progress = output.progress("Pairing with \(device.name)")
        defer { progress.end() }
        person.awaits(progress)
        if let oob {
          let link = device.peripheral.link
          try await Self.give(oob, of: link.address, link.addressType, to: client)
        }
        let former = try? await client.call(PairingList.self, Empty()).bonds.first {
          $0.peripheral == device.peripheral.identifier
        }
        let reached: PeripheralPair.Result
        do throws(BluetoothError) {
          reached = try await device.peripheral.pair(level: level)
        } catch {
          throw Self.explained(error, asks: person.agent != nil, level)
        }
        progress.end()
        guard !output.json else { return try output.object(reached) }
        // With sufficient keys no question is asked, and no passkey is compared.
        let hadKeys = former?.level == reached.level && former?.keySize == reached.keySize
        let kept =
          hadKeys
          ? "had paired before, so encrypted the connection to"
          : reached.bonded ? "paired with" : "encrypted the connection to"
        output.line("\(kept) \(Output.clean(device.name)): \(reached.level), key of \(reached.keySize) octets")
      }
    } catch {
      if person.agent != nil { try? await client.stopAnsweringPairings() }
      throw error
    }
    if person.agent != nil { try await client.stopAnsweringPairings() }
  }
}

extension PairCommand {
  /// The error of a pairing, with the remedy where no question could be answered.
  /// - Parameter asks: True if there are answers to questions of the device.
  fileprivate static func explained(
    _ error: BluetoothError, asks: Bool, _ level: SecurityLevel?
  ) -> BluetoothError {
    guard error.domain == .gap, error.code == GAPError.pairingFailed.rawValue, let level, level != .encrypted, !asks
    else { return error }
    let remedy =
      "; without a terminal bleshell pairs without a check (Just Works): add --yes or --passkey to answer its questions"
    return BluetoothError(
      domain: error.domain, code: error.code, name: error.name, message: error.message + remedy)
  }
}

/// `bleshell pairing`
struct PairingCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pairing", abstract: "Shows and forgets paired devices, and lets devices pair.",
    subcommands: [
      PairingListCommand.self, PairingForgetCommand.self, PairingOpenCommand.self, PairingAnswerCommand.self,
      PairingImportCommand.self, PairingOutOfBandCommand.self,
    ],
    defaultSubcommand: PairingListCommand.self)
}

/// `bleshell pairing list`
struct PairingListCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists the devices that this machine has paired with.")

  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let bonds = try await shell.connection().call(PairingList.self, Empty()).bonds
    if output.json {
      for bond in bonds { try output.object(bond) }
      return
    }
    var table = Table(
      .init(heading: "NAME"), .init(heading: "ADDRESS"), .init(heading: "LEVEL"), .init(heading: "KEY", right: true),
      .init(heading: "ADAPTER"))
    for bond in bonds {
      table.rows.append([
        .init(text: bond.name ?? "-", style: .bold), .init(text: "\(bond.address) \(bond.addressType)"),
        .init(text: bond.level.text), .init(text: "\(bond.keySize)"), .init(text: bond.adapterAddress, style: .dim),
      ])
    }
    guard !bonds.isEmpty else { return output.line("this machine has paired with no device") }
    table.lines(output).forEach(output.line)
  }
}

/// Checks the option `--passkey`.
func checkPasskey(_ passkey: String?) throws {
  guard let passkey else { return }
  let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
  guard passkey.utf8.count == 6, passkey.utf8.allSatisfy(digits.contains) else {
    throw ValidationError("--passkey must be six digits, such as 000042")
  }
}

/// `bleshell pairing forget`
struct PairingForgetCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget", abstract: "Removes the keys shared with a device, and ends its connection.",
    discussion: "The device keeps its own keys: forget this machine there, too, before it pairs again.")

  @Argument(help: "A name, an address or an identifier.", completion: ShellCompletion.devices)
  var device: String
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let client = try await shell.connection()
    let bonds = try await client.call(PairingList.self, Empty()).bonds
    let wanted = device.lowercased()
    let found = bonds.filter {
      $0.address.lowercased() == wanted || $0.name?.lowercased() == wanted || $0.peripheral?.lowercased() == wanted
    }
    guard let bond = found.first else {
      throw Failure("this machine has not paired with \(device): see \"bleshell pairing list\"")
    }
    guard found.allSatisfy({ $0.address == bond.address }) else {
      throw Failure("\(found.count) paired devices are called \(device): give an address")
    }
    _ = try await client.call(PairingForget.self, .init(address: bond.address))
    if output.json { try output.object(bond) } else { output.line("forgot the keys of \(bond.name ?? bond.address)") }
  }
}

/// `bleshell pairing open`
struct PairingOpenCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "open", abstract: "Lets devices that connect pair for a while, without a check (Just Works).")

  @Argument(help: "For how many seconds, at most 3600; 0 ends it.") var seconds: Double
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    _ = try await shell.connection().call(PairingOpen.self, .init(seconds: seconds))
    if output.json { return try output.object(["seconds": .number(seconds)] as JSONValue) }
    output.line(seconds > 0 ? "devices may pair for \(seconds) s" : "devices may no longer pair")
  }
}
