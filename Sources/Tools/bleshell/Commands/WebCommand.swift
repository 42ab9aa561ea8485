import ArgumentParser
import BledClient
import BledConnection
import BledWeb
import Bluetooth
import FoundationEssentials
import Glibc

/// `bleshell web`
struct WebCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "web", abstract: "Serves a page for a browser: devices, their values, links, programs, adapters.",
    discussion: """
      The command prints the page's address and serves it until Ctrl-C, on this machine only. The address has a secret that \
      changes with each start: every program that has it acts with your permissions. While no page is open nothing is \
      scanned. Pages read and subscribe; with --allow-writes they also write values. From another machine: ssh -L \
      8080:127.0.0.1:8080 HOST bleshell web --port 8080.
      """)

  @Option(help: "The port on 127.0.0.1 (default: any free one).") var port: UInt16?
  @Option(help: "Listen on 127.0.0.1:8080, [::1]:8080 or unix:PATH, which is for a proxy.") var listen: ListenAddress?
  @Flag(help: "Let pages write values.") var allowWrites = false
  @OptionGroup var sensorKeys: SensorKeyOption
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func validate() throws {
    guard port == nil || listen == nil else { throw ValidationError("--listen has a port: leave out --port") }
    guard listen?.isLocal != false else {
      throw ValidationError("--listen is for this machine: 127.0.0.1, [::1] or unix:PATH; a proxy can serve others")
    }
  }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let keys = try sensorKeys.read()
    // The first connection shows whether there is a daemon, and why not. The server has its own.
    try await BledClient.connect(to: shell.socket, name: "bleshell web").close()
    let words = Words(
      name: { $0.knownName }, contents: { ScanTable.contents($0) }, user: { Self.name(ofUser: $0) },
      names: {
        shell.forgetNames()
        return shell.names()
      },
      rename: { (key, name, format) throws(BluetoothError) in
        do throws(Failure) {
          _ = try NameFiles.set(key, name: name, format: format, in: NameFiles.own)
        } catch {
          throw BledError.invalidParameter.error(error.message)
        }
      })
    let listener = try (listen ?? ListenAddress(loopback: port ?? 0)).opened(by: listen == nil ? "--port" : "--listen")
    let server = WebServer(listener, socket: shell.socket, allowsWrites: allowWrites, keys: keys, words: words) {
      try JSONEncoder().encode(await DoctorCommand.findings(shell))
    }
    if output.json { try output.object(Address(address: server.address)) } else { output.line(server.address) }
    let progress = output.progress("serving the page, Ctrl-C ends it")
    defer { progress.end() }
    await server.run()
  }

  private static func name(ofUser number: Int) -> String? {
    uid_t(exactly: number).flatMap { getpwuid($0) }.map { String(cString: $0.pointee.pw_name) }
  }

  private struct Address: Encodable { let address: String }
}
