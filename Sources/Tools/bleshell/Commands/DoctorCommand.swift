import ArgumentParser
import BledClient
import BledRPC
import BuildIdentity
import Diagnosis

/// `bleshell doctor`
struct DoctorCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Looks for problems of Bluetooth on this machine, and names the remedies.",
    discussion: """
      It looks at the kernel and its known bugs, controllers, rfkill, the kernel's messages, other programs that use \
      adapters, the units, the socket, the group, the running daemon with its adapters, and the stored state. It works \
      without the daemon and without Bluetooth, and changes and starts nothing. As root it sees more. The exit status is \
      1 if there is a problem.
      """)

  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let findings = await Self.findings(shell)
    if output.json {
      for finding in findings { try output.object(finding) }
    } else {
      DoctorTable(findings).lines(output).forEach(output.line)
    }
    if findings.contains(where: { $0.verdict == .problem }) { throw Failure("") }
  }

  /// The findings of all checks.
  @MainActor static func findings(_ shell: Shell) async -> [Finding] {
    let machine = Machine.current(socket: shell.socket)
    var findings = machine.findings
    if machine.daemonRuns, machine.maySpeak {
      let (daemon, isWithoutKernel) = await daemonFindings(shell)
      // Faults of the kernel's Bluetooth are no problem of a daemon that does not use it.
      findings = (isWithoutKernel ? findings.map(\.asNote) : findings) + daemon
    }
    return findings + [Finding(.daemon, .note, "This is bleshell \(Build.text).")]
  }

  /// The daemon's findings, and true if it has adapters, none of them over the kernel's Bluetooth.
  @MainActor private static func daemonFindings(_ shell: Shell) async -> ([Finding], isWithoutKernel: Bool) {
    do {
      let client = try await BledClient.connect(to: shell.socket, name: "bleshell doctor")
      defer { client.close() }
      let adapters = try await client.call(AdapterList.self, Empty(), timeout: .seconds(5)).adapters
      let isWithoutKernel = !adapters.isEmpty && adapters.allSatisfy { $0.kind.known != .kernel }
      let session = [version(client.session)] + permissions(of: client.session)
      return (session + adapters.flatMap { [finding($0)] + quirks(of: $0) }, isWithoutKernel)
    } catch {
      let remedy = "Look at its log: `journalctl -u bled`, or where it was started."
      return ([Finding(.daemon, .problem, "The daemon does not answer: \(error)", remedy: remedy)], false)
    }
  }

  /// The daemon's build: the note and its remedy if bleshell is of another release, or of another commit.
  static func version(_ session: SessionOpen.Result, commit own: String? = Build.commit) -> Finding {
    let build = session.daemon + (session.commit.map { " (commit \($0))" } ?? "")
    let isSameRelease =
      session.daemon.hasSuffix(" \(Release.version)") || session.daemon.hasSuffix("/\(Release.version)")
    guard isSameRelease, own == nil || session.commit == nil || own == session.commit else {
      let origin = own.map { "\(Release.version) (commit \($0))" } ?? Release.version
      return Finding(
        .daemon, .note, "\(build) answers; this bleshell is \(origin).",
        remedy: "After an update restart the daemon: sudo systemctl try-restart bled")
    }
    return Finding(.daemon, .ok, "\(build) answers")
  }

  /// The permissions that the group bluetooth has by default: programs need them, not administrators.
  private static let ordinary: [Permission] = [.scan, .connect, .serve, .advertise, .pair]

  /// A user with access to the socket can lack some permissions, or all.
  static func permissions(of session: SessionOpen.Result) -> [Finding] {
    let granted = Permission.allCases.filter(session.isPermitted)
    guard granted.count < Permission.allCases.count else { return [] }
    let lacking = ordinary.filter { !session.isPermitted($0) }
    let words = granted.map(\.rawValue).joined(separator: ", ")
    guard !lacking.isEmpty else { return [Finding(.daemon, .ok, "permits you \(words)")] }
    guard granted.isEmpty else {
      return [
        Finding(
          .daemon, .note,
          "The daemon permits you \(words), not \(lacking.map(\.rawValue).joined(separator: ", ")).",
          remedy: "\"policy\" in its configuration grants permissions to users and groups (docs/configuration.md).")
      ]
    }
    return [
      Finding(
        .daemon, .problem, "The daemon permits you nothing.",
        remedy: "\"policy\" in its configuration grants permissions to users and groups (docs/configuration.md); by "
          + "default the members of the group bluetooth have them: sudo usermod -aG bluetooth $USER, then log in again."
      )
    ]
  }

  /// The faults of an adapter's controller.
  static func quirks(of adapter: AdapterDescription) -> [Finding] {
    (adapter.quirks ?? []).map { Finding(.daemon, .note, "\(adapter.adapter): \($0.text)") }
  }

  static func finding(_ adapter: AdapterDescription) -> Finding {
    let name = adapter.adapter
    if let problem = adapter.problem {
      let isNamed = problem.message.hasPrefix("\(name) ")
      return Finding(
        .daemon, .problem, isNamed ? problem.message : "\(name): \(problem.message)", remedy: problem.remedy)
    }
    switch adapter.state.known {
    case .on:
      var message = "\(name) is on, with \(adapter.links) \(adapter.links == 1 ? "link" : "links")"
      if let turns = adapter.takingTurns { message += "; takes turns: \(turns.map(\.text).joined(separator: ", "))" }
      if let waiting = adapter.heldBack {
        message += "; waits for its links: \(waiting.map(\.text).joined(separator: ", "))"
      }
      return Finding(.daemon, .ok, message)
    case .off: return Finding(.daemon, .note, "\(name) is off", remedy: "bleshell power on --adapter \(name)")
    case .absent:
      return Finding(
        .daemon, .problem, "There is no adapter \(name).",
        remedy: "\(adapter.remedy), or name another in the configuration (docs/configuration.md)")
    default: return Finding(.daemon, .note, "\(name) is \(adapter.state)")
    }
  }
}

extension Finding {
  /// This finding as a note, if it is about hardware.
  fileprivate var asNote: Finding {
    let isAboutHardware = [.kernel, .adapter, .rfkill, .owner].contains(check)
    return isAboutHardware && verdict == .problem ? Finding(check, .note, message, remedy: remedy) : self
  }
}
