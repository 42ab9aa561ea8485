import BledClient
import FoundationEssentials
import Synchronization
import ValueFormats

/// The state that all pages share, and the events that each receives of it (Server-Sent Events). The daemon's
/// notifications change it on the queue of the connection; a page fetches the changes.
final class Feed: Sendable {
  /// The state that one page knows.
  struct Place {
    fileprivate var air: UInt64 = 0
    fileprivate var values: UInt64 = 0
    fileprivate var status: UInt64 = 0
  }

  private struct State {
    var air: AirTable
    var values = ValueLog()
    /// The latest status as JSON, and its version.
    var status: (version: UInt64, json: Data) = (0, Data())
  }

  private let state: Mutex<State>

  init(words: @escaping @Sendable (ScanReport.Params) -> [String]) {
    state = Mutex(State(air: AirTable(words: words)))
  }

  /// The place of a new page. It receives the values that are kept: it may be one that was loaded again, or was hidden.
  var start: Place { state.withLock { Place(values: $0.values.forgotten) } }

  /// - Parameter message: a `ScanReport`; it is read whole only if more than its strength and time are new.
  func received(_ message: RPCMessage) {
    guard let outline = message.concerned(ScanReport.Outline.self),
      !state.withLock({ $0.air.receivedAgain(outline) }), let report = try? message.params(ScanReport.Params.self)
    else { return }
    state.withLock { $0.air.received(report) }
  }

  func lost(_ device: String) { state.withLock { $0.air.lost(device) } }

  func clear() { state.withLock { $0.air.clear() } }

  /// The names that the user gives.
  func setNames(_ names: NameList) { state.withLock { $0.air.setNames(names) } }

  /// Removes the sensors that were silent for too long.
  /// - Parameter now: seconds since the epoch.
  func expire(at now: Double) { state.withLock { $0.air.expire(at: now) } }

  func value(_ entry: ValueLog.Entry) { state.withLock { $0.values.append(entry) } }

  /// Replaces the status, if it differs.
  func setStatus(_ json: Data) {
    state.withLock { state in
      if state.status.json != json { state.status = (state.status.version + 1, json) }
    }
  }

  /// A discovered device.
  func device(_ identifier: String) -> AirTable.Device? { state.withLock { $0.air.devices[identifier] } }

  /// The events that are new to a page.
  /// - Parameters:
  ///   - place: the state that the page knows; the new state afterwards.
  ///   - withAir: true to include devices, which pages receive once a second.
  ///   - now: seconds since the epoch.
  /// - Returns: octets of an event stream; empty if nothing is new. Devices are at most 2,000, values 1,024.
  func events(after place: inout Place, withAir: Bool, now: Double) -> [UInt8] {
    let (known, state) = (place, self.state.withLock { $0 })
    var events: [UInt8] = []
    if state.status.version != known.status { Self.add("status", state.status.json, to: &events) }
    place.status = state.status.version
    let (entries, lost) = state.values.entries(after: known.values)
    if !entries.isEmpty || lost > 0 { Self.add("values", Self.values(entries, lost), to: &events) }
    place.values = state.values.count
    guard withAir else { return events }
    if state.air.version != known.air {
      Self.add("air", Self.air(state.air, since: known.air, now), to: &events)
    }
    place.air = state.air.version
    return events
  }

  private static func add(_ name: String, _ json: some Collection<UInt8>, to events: inout [UInt8]) {
    events += "event: \(name)\ndata: ".utf8
    events += json
    events += "\n\n".utf8
  }

  private static func values(_ entries: ArraySlice<ValueLog.Entry>, _ lost: UInt64) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.name("lost")
      writer.value(lost)
      writer.name("values")
      writer.array { writer in
        for entry in entries {
          writer.separate()
          // No value of these types cannot be written.
          do { try writer.encode(entry) } catch { writer.null() }
        }
      }
    }
    return writer.codes
  }

  private static func air(_ air: AirTable, since version: UInt64, _ now: Double) -> [UInt8] {
    let changes = air.changes(since: version)
    var writer = JSONWriter()
    writer.object { writer in
      writer.name("now")
      writer.value(milliseconds: now)
      writer.name("whole")
      writer.value(changes.isWhole)
      writer.name("unlisted")
      writer.value(air.unlisted)
      writer.name("devices")
      writer.array { writer in
        for device in changes.devices {
          writer.separate()
          writer.value(device, air.names, inFull: changes.isWhole || device.described > version)
        }
      }
      writer.name("gone")
      writer.array { writer in
        for device in changes.gone {
          writer.separate()
          writer.value(device)
        }
      }
    }
    return writer.codes
  }
}
