import ArgumentParser
import BledClient
import BledRPC
import Glibc

/// `bleshell pairing answer`
struct PairingAnswerCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "answer", abstract: "Answers for the devices that pair with this machine, until Ctrl-C.",
    discussion: """
      On a terminal it asks what must be known: whether to pair, whether two numbers are equal, or the passkey that the \
      device shows; and shows the passkey that is to be typed at the device. Without a terminal --yes or --passkey says \
      what to answer.
      """)

  @Flag(help: "Answer every question with yes, also whether numbers are equal.") var yes = false
  @Option(help: "The passkey that devices show, six digits.") var passkey: String?
  @Option(help: "Stop after this many seconds.") var time: Double?
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func validate() throws {
    try checkTime(time)
    try checkPasskey(passkey)
  }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    guard let agent = PairingPerson(output: output, answersYes: yes, passkey: passkey).agent else {
      throw Failure("questions cannot be answered without a terminal: give --yes or --passkey")
    }
    let client = try await shell.connection()
    let observations = [
      client.observe(PairingShowPasskey.self, value: { Self.show($0, output) }, end: { _ in }),
      client.observe(PairingKeysLost.self, value: { Self.show($0, output) }, end: { _ in }),
    ]
    defer { observations.forEach { $0.cancel() } }
    try await client.answerPairings(with: agent)
    if !output.json { output.problem("devices may pair; Ctrl-C ends it") }
    do {
      let pairings = client.notifications(PairingEnded.self)
      _ = try await withDeadline(time ?? 0) { @MainActor in
        for try await ended in pairings { Self.show(ended, output) }
        try Task.checkCancellation()
      }
    } catch is CancellationError where time == nil {
      // Ctrl-C is the regular end.
    }
    _ = try? await Task { try await client.stopAnsweringPairings() }.value
  }

  private static func show(_ shown: PairingShowPasskey.Params, _ output: Output) {
    if output.json {
      try? output.object(shown)
    } else if shown.entered == 0 {
      output.line("type this passkey at \(shown.device.quotedName): \(shown.passkey)")
    }
  }

  static func show(_ ended: PairingEnded.Params, _ output: Output) {
    guard !output.json else { return (try? output.object(ended)) ?? () }
    let outcome = ended.reason.map { "did not pair: \($0.message)" } ?? "has paired"
    output.line("\(ended.device.shownName) \(Output.clean(outcome))")
  }

  private static func show(_ lost: PairingKeysLost.Params, _ output: Output) {
    guard !output.json else { return (try? output.object(lost)) ?? () }
    let side = lost.side == "device" ? "has lost the keys of this machine" : "has keys that this machine has lost"
    output.line("\(lost.device.shownName) \(side): \(lost.remedy)")
  }
}

/// `bleshell pairing import`
struct PairingImportCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Imports bluetoothd's pairings on this machine.",
    discussion: """
      It reads bluetoothd's state directory, which takes root, and changes nothing there. Each adapter keeps its own \
      devices. Where bled has paired with a device as well, the keys of bluetoothd replace its own.
      """)

  @Option(help: "bluetoothd's state directory.") var from = "/var/lib/bluetooth"
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let found: BlueZBonds
    do { found = try BlueZBonds(path: from) } catch {
      let reason = access(from, R_OK | X_OK) == 0 ? "" : " (\(String(cString: strerror(errno))))"
      throw Failure("\(from) cannot be read\(reason): run this as root on the machine whose bluetoothd has paired")
    }
    let client = try await shell.connection()
    try Self.check(client.daemonUser)
    var problems = found.problems
    for bond in found.bonds {
      do { _ = try await client.call(PairingImport.self, bond) } catch {
        // An invalid one is no reason to leave out the others; without permission none would be accepted.
        guard error.domain == .bled, error.code == BledError.invalidParameter.rawValue else { throw error }
        problems.append((bond.address, error.message))
        continue
      }
      if output.json {
        try output.object(["address": .text(bond.address), "adapterAddress": .text(bond.adapterAddress)] as JSONValue)
      } else {
        output.line("took over \(bond.address) of \(bond.adapterAddress)")
      }
    }
    for (device, reason) in problems { output.problem("not taken over: \(Output.clean(device)): \(reason)") }
    if found.bonds.isEmpty, !output.json { output.line("nothing to take over in \(from)") }
  }

  /// The keys are sent only to a daemon of root, of this user, or of the user bled, regardless of the socket's name.
  private static func check(_ user: UInt32?) throws {
    guard let user else { throw Failure("the keys stay here: the kernel does not tell the user of this daemon") }
    guard user != 0, user != geteuid(), user != getpwnam("bled")?.pointee.pw_uid else { return }
    let name = userName(user) ?? "\(user)"
    throw Failure(
      "the keys stay here: this daemon is one of user \(name), not of root, of bled or yours; name another --socket")
  }
}
