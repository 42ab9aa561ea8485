import ArgumentParser
import BledRPC
import Glibc

/// `bleshell whoami`
struct WhoAmICommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "whoami", abstract: "Shows your user and the permissions that bled gives you.",
    discussion: """
      The owner of the machine grants permissions to users and groups in "policy" of bled's configuration \
      (docs/configuration.md).
      """)

  @OptionGroup(title: "Common options") var global: GlobalOptions

  private struct Description: Encodable {
    let user: Int
    let name: String?
    let permissions: [String]
    let lacking: [String]
  }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let session = try await shell.connection().session
    let (granted, lacking) = (
      Permission.allCases.filter(session.isPermitted), Permission.allCases.filter { !session.isPermitted($0) }
    )
    let user = geteuid()
    let name = userName(user)
    if output.json {
      return try output.object(
        Description(
          user: Int(user), name: name, permissions: granted.map(\.rawValue), lacking: lacking.map(\.rawValue)))
    }
    output.line("user \(name.map { "\($0) (\(user))" } ?? "\(user)")")
    output.line("permissions: \(Self.words(granted))")
    guard !lacking.isEmpty else { return }
    output.line("not permitted: \(Self.words(lacking)); \"policy\" in bled's configuration grants them")
  }

  private static func words(_ permissions: [Permission]) -> String {
    permissions.isEmpty ? "none" : permissions.map(\.rawValue).joined(separator: ", ")
  }
}
