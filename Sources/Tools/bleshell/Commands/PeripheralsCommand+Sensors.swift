import BledClient
import BledRPC
import FoundationEssentials

/// `bleshell devices --sensors`
extension PeripheralsCommand {
  private static let listening = 10.0

  @MainActor func listSensors(in shell: Shell, _ output: Output) async throws {
    try await shell.requireAdapter()
    let names = shell.names()
    let reports = try await shell.connection().scan(.init(duplicates: true, decode: true, keys: sensorKeys.read()))
    let progress = output.progress("listening to sensors")
    defer { progress.end() }
    let table = SensorTable()
    do {
      _ = try await withDeadline(time ?? Self.listening) { @MainActor in
        for try await report in reports { table.add(report.named(names)) }
        try Task.checkCancellation()
        throw BledError.daemonUnreachable.error("the connection to bled was closed")
      }
    } catch is CancellationError {
      // Ctrl-C is a regular end: the sensors heard are shown.
    }
    progress.end()
    guard output.isTerminal, !output.json else {
      for (object, time) in table.objects { try output.object("sensor", object, at: time) }
      return
    }
    table.table(at: Date().timeIntervalSince1970).lines(output).forEach(output.line)
    if table.isEmpty { output.problem("no sensor was heard") }
  }
}
