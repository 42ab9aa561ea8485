import ArgumentParser
import BledClient
import BledRPC
import Bluetooth

/// `bleshell serve`
struct ServeCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Publishes and advertises the services of a file, and prints requests of devices.",
    usage:
      "bleshell serve <file> [--device <device>] [--name <name>] [--adapter <adapter>] [--visits <visits>] [--time <time>]",
    discussion: """
      The file has services (--example prints one), or is a scenario with devices, such as "bleshell clone" writes, of \
      which one is served. Without --time and --visits it runs until Ctrl-C.
      """)

  @Argument(
    help: "A JSON file with services or a scenario; comments and trailing commas are allowed; - is standard input.",
    completion: .file())
  var file: String?
  @Flag(help: "Print an example of such a file, and exit.") var example = false
  @Option(help: "Of a scenario: this device (default: the only one).") var device: String?
  @Option(help: "The name to advertise, instead of the file's.") var name: String?
  @Option(help: "The adapter to advertise on (default: the first).", completion: ShellCompletion.adapters)
  var adapter: String?
  @Option(help: "Stop after this many seconds; with --visits it is a failure if fewer visits came.") var time: Double?
  @Option(help: "Stop after this many devices have subscribed and unsubscribed again.") var visits: Int?
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func validate() throws {
    guard example != (file != nil) else { throw ValidationError("give a file, or --example to see one") }
    try checkTime(time)
    guard visits ?? 1 > 0 else { throw ValidationError("--visits must be greater than 0") }
  }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    guard let path = file else { return output.text(ServiceFile.example) }
    let file = try ServiceFile(path: path, device: device)
    let client = try await shell.connection()
    try await shell.requireAdapter()
    let host = ServedServices(client: client, file.behaviour, output: output)
    let events = client.serverEvents()
    let losses = client.observe(ServerWritesLost.self) { loss in
      output.problem(
        "\(loss.central): packets dropped because a buffer was full: \(loss.packets); "
          + "writes without response may be missing")
    } end: { _ in
    }
    defer { losses.cancel() }
    do {
      try await serve(host, events, file, output)
    } catch is CancellationError where time == nil && visits == nil {
      // Ctrl-C is the regular end.
    } catch {
      await host.unpublish()
      throw error
    }
    await host.unpublish()
  }

  private func serve(
    _ host: ServedServices, _ events: AsyncThrowingStream<ServerEvent, any Error>, _ file: ServiceFile,
    _ output: Output
  ) async throws {
    try await host.publish(file.services)
    let primary = file.services.filter { $0.primary != false }.map(\.uuid)
    var parameters = file.advertise ?? AdvertisingStart.Params(services: primary)
    parameters.name = name ?? parameters.name
    parameters.adapter = adapter ?? parameters.adapter
    let advertisement = try await host.advertise(parameters)
    try announce(advertisement, name: parameters.name, output)
    let wanted = visits
    let done: Void? = try await withDeadline(time ?? 0) { try await host.serve(events, visits: wanted) }
    if done == nil, visits != nil { throw Failure("fewer visits came within the time") }
  }
}
