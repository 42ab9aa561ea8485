import ArgumentParser
import BledClient
import BledRPC
import FoundationEssentials

extension ScanCommand {
  /// The default time without a packet after which a device is away, in seconds.
  private static let usualTime = 10.0

  func validatePresence() throws {
    guard presence else { return }
    guard !addresses.isEmpty else { throw ValidationError("--presence: name the devices with --address") }
    for (name, isGiven) in [("--duplicates", duplicates), ("--anonymous", anonymous), ("--csv", csv)] where isGiven {
      throw ValidationError("--presence and \(name): give one of them")
    }
    guard sensorKeys.keys == nil else { throw ValidationError("--presence and --keys: give one of them") }
  }

  /// Shows the presence of the named devices, a line for each change and a table at the end.
  func runPresence(in shell: Shell, _ output: Output) async throws {
    let client = try await shell.connection()
    var wanted = try await parameters(live: false, shell.names())
    (wanted.presence, wanted.lost, wanted.decode) = (true, lost ?? Self.usualTime, nil)
    // Scan requests would be of use for filters on data alone.
    wanted.active = passive || filters.isUnused && services.isEmpty ? nil : true
    let changes = try await client.presence(wanted)
    let table = PresenceHolder(PresenceTable(addresses: addresses))
    do {
      _ = try await withDeadline(time ?? 0) { @MainActor in
        for try await change in changes {
          let event = table.table.change(change, output)
          guard output.json else {
            output.line(event.line)
            continue
          }
          switch change {
          case .found(let found): try output.object("found", found, at: found.time)
          case .lost(let lost):
            let object = ScanTable.Lost(lost, address: event.address, name: event.name)
            try output.object("lost", object, at: Date().timeIntervalSince1970)
          }
        }
        try Task.checkCancellation()
        throw BledError.daemonUnreachable.error("the connection to bled was closed")
      }
    } catch is CancellationError {
      // Ctrl-C is a regular end.
    }
    let end = await table.table
    if !output.json { end.table.lines(output).forEach(output.line) }
    if expect, end.isEmpty { throw Failure(output.json ? "no device was there" : "") }
  }
}

/// The table, which outlasts the reading of changes.
@MainActor private final class PresenceHolder {
  var table: PresenceTable

  nonisolated init(_ table: PresenceTable) { self.table = table }
}
